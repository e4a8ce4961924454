"""The MCP server: what coding agents call, bound to one workspace when it starts."""
