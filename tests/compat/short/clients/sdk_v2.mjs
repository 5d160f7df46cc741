import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

/** Connects with a `mode` of the SDK: 'legacy', 'auto', or a pinned revision. */
export async function connectV2({ url, command, args }, mode) {
  const client = new Client({ name: 'compat', version: '1.0.0' }, { capabilities: {}, versionNegotiation: { mode } });
  await client.connect(url ? new StreamableHTTPClientTransport(new URL(url)) : new StdioClientTransport({ command, args, stderr: 'ignore' }));
  return {
    list: async () => (await client.listTools(undefined, { cacheMode: 'refresh' })).tools,
    call: (name, args) => client.callTool({ name, arguments: args }),
    close: () => client.close()
  };
}
