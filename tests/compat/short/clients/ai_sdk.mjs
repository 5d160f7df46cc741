import { createMCPClient } from '@ai-sdk/mcp';

export async function connect({ url }) {
  const client = await createMCPClient({ transport: { type: 'http', url } });
  return {
    list: async () => (await client.listTools()).tools,
    call: async (name, args) => (await client.tools())[name].execute(args, { messages: [], toolCallId: '1' }),
    close: () => client.close()
  };
}
