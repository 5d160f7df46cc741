import { MCPClient } from '@mastra/mcp';

export async function connect({ url }) {
  const client = new MCPClient({ servers: { s: { url: new URL(url) } }, timeout: 15_000 });
  const tools = async () => (await client.listToolsets()).s ?? {};
  await tools();
  return {
    list: async () => Object.entries(await tools()).map(([name, { description }]) => ({ name, description })),
    call: async (name, args) => (await tools())[name].execute(args, {}),
    close: () => client.disconnect()
  };
}
