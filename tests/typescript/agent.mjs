// A coding agent's client in another implementation of the protocol: it calls what standard input
// names, in order, and prints what each call gave, one JSON object a line.
//
//   node agent.mjs stdio COMMAND ARGUMENT…
//   node agent.mjs http URL TOKEN
//
// A line of input is {"tool", "arguments"}. "$name.field" in an argument stands for what the call
// that was saved as "name" gave: {"tool", "arguments", "as": name}.
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [kind, ...rest] = process.argv.slice(2);
const transport =
  kind === "stdio"
    ? new StdioClientTransport({
        command: rest[0],
        args: rest.slice(1),
        env: process.env,
        stderr: "ignore",
      })
    : new StreamableHTTPClientTransport(new URL(rest[0]), {
        requestInit: { headers: { Authorization: `Bearer ${rest[1]}` } },
      });

const client = new Client(
  { name: "typescript-agent", version: "1.0" },
  { capabilities: { roots: {} } },
);
client.setRequestHandler(ListRootsRequestSchema, () => ({
  roots: process.env.AGENT_ROOT ? [{ uri: process.env.AGENT_ROOT }] : [],
}));
await client.connect(transport);

const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const saved = {};
const filled = (value) => {
  const [, name, field] = /^\$(\w+)\.(\w+)$/.exec(value) ?? [];
  return name ? saved[name][field] : value;
};

say({
  tools: (await client.listTools()).tools.map((each) => each.name),
  prompts: (await client.listPrompts()).prompts.map((each) => each.name),
  templates: (await client.listResourceTemplates()).resourceTemplates.map((each) => each.uriTemplate),
  server: client.getServerVersion(),
});
for await (const line of createInterface({ input: process.stdin })) {
  const { tool, arguments: given, as } = JSON.parse(line);
  const values = Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, filled(value)]),
  );
  // The client holds what is answered against the schema that the tool declares.
  const result = await client.callTool({ name: tool, arguments: values });
  if (as) saved[as] = result.structuredContent;
  say({ tool, refused: result.isError ?? false, data: result.structuredContent ?? result.content });
}
await client.close();
