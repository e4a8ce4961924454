"""The command line `graft`: one module for each family of commands."""
