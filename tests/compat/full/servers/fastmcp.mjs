// fastmcp.mjs stdio | http | stateless [PORT]: a server made with FastMCP for TypeScript.
import { FastMCP } from 'fastmcp';
import * as z from 'zod';

const [mode, port] = process.argv.slice(2);
const server = new FastMCP({ name: 'fast', version: '1.0.0', instructions: 'Ask for echo.', ping: { enabled: false } });

server.addTool({
  name: 'echo',
  description: 'Says it again',
  parameters: z.object({ message: z.string() }),
  annotations: { readOnlyHint: true },
  execute: async ({ message }) => `Echo: ${message}`
});
server.addTool({
  name: 'count',
  description: 'Counts',
  parameters: z.object({ steps: z.number() }),
  execute: async ({ steps }, { reportProgress }) => {
    for (let progress = 1; progress <= steps; ++progress) await reportProgress({ progress, total: steps });
    return `Counted to ${steps}`;
  }
});
server.addTool({
  name: 'log',
  description: 'Logs',
  execute: async (_, { log }) => {
    log.warn('a worry', { about: 'nothing' });
    return 'logged';
  }
});
server.addPrompt({
  name: 'greeting',
  description: 'Greets',
  arguments: [{ name: 'name', required: true, complete: async (start) => ({ values: ['Ada', 'Alan'].filter((name) => name.startsWith(start)) }) }],
  load: async ({ name }) => `Please greet ${name}`
});
server.addResource({ uri: 'note://today', name: 'today', mimeType: 'text/plain', load: async () => ({ text: 'Buy milk' }) });
server.addResourceTemplate({
  uriTemplate: 'note://of/{day}',
  name: 'any',
  mimeType: 'text/plain',
  arguments: [{ name: 'day', required: true }],
  load: async ({ day }) => ({ text: `For ${day}` })
});

await server.start(
  mode === 'stdio' ? { transportType: 'stdio' } : { transportType: 'httpStream', httpStream: { port: Number(port), host: '127.0.0.1', stateless: mode === 'stateless' } }
);
