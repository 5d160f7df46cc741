import { MCPClient } from 'mcp-use/client';

export async function connect({ url }) {
  const client = new MCPClient({ mcpServers: { s: { url } } });
  const session = await client.createSession('s');
  return {
    list: () => session.listTools(),
    call: (name, args) => session.callTool(name, args),
    close: () => client.closeAllSessions()
  };
}
