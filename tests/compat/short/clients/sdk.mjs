// The client for all releases of the TypeScript SDK v1; `load` imports a module of one release.
export async function connectSdk(load, { url, command, args }) {
  const { Client } = await load('client/index.js');
  const client = new Client({ name: 'compat', version: '1.0.0' }, { capabilities: {} });
  if (url) {
    const { StreamableHTTPClientTransport } = await load('client/streamableHttp.js');
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  } else {
    const { StdioClientTransport } = await load('client/stdio.js');
    await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore' }));
  }
  return {
    list: async () => (await client.listTools()).tools,
    call: (name, args) => client.callTool({ name, arguments: args }),
    close: () => client.close()
  };
}
