import { MultiServerMCPClient } from '@langchain/mcp-adapters';

export async function connect({ url }) {
  const client = new MultiServerMCPClient({ mcpServers: { s: { transport: 'http', url } }, prefixToolNameWithServerName: false, useStandardContentBlocks: true });
  await client.initializeConnections();
  // The adapter reads the list once per connection, so a new connection is needed to read it again.
  const tools = async () => {
    const fresh = new MultiServerMCPClient({ mcpServers: { s: { transport: 'http', url } }, prefixToolNameWithServerName: false });
    try {
      return (await fresh.getTools()).map(({ name, description, schema }) => ({ name, description, schema }));
    } finally {
      await fresh.close();
    }
  };
  const session = await client.getClient('s');
  return {
    list: tools,
    call: async (name, args) => {
      const tool = (await client.getTools()).find((candidate) => candidate.name === name);
      return tool ? tool.invoke(args) : session.callTool({ name, arguments: args });
    },
    close: () => client.close()
  };
}
