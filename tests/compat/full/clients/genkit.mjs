import { createMcpClient } from '@genkit-ai/mcp';
import { genkit } from 'genkit';

export async function connect({ url }) {
  const ai = genkit({});
  const client = createMcpClient({ name: 's', mcpServer: { url } });
  await client.ready();
  const tools = () => client.getActiveTools(ai);
  return {
    list: async () => (await tools()).map((tool) => ({ name: tool.__action.name.split('/').at(-1), description: tool.__action.description, schema: tool.__action.inputJsonSchema })),
    call: async (name, args) => (await tools()).find((tool) => tool.__action.name.endsWith(`/${name}`))(args),
    close: () => client.disable()
  };
}
