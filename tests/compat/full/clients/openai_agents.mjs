import { MCPServerStreamableHttp } from '@openai/agents';

export async function connect({ url }) {
  const server = new MCPServerStreamableHttp({ url, name: 'compat', cacheToolsList: false });
  await server.connect();
  return { list: () => server.listTools(), call: (name, args) => server.callTool(name, args), close: () => server.close() };
}
