import { McpClient } from '@strands-agents/sdk';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

export async function connect({ url }) {
  const client = new McpClient({ transport: new StreamableHTTPClientTransport(new URL(url)) });
  await client.connect();
  const tools = () => client.listTools();
  return {
    list: async () => (await tools()).map((tool) => ({ name: tool.name, ...tool.toolSpec })),
    call: async (name, args) => client.callTool((await tools()).find((tool) => tool.name === name), args),
    close: () => client.disconnect()
  };
}
