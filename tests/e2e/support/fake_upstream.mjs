// A minimal modern upstream whose results a test decides.
import { createServer } from 'node:http';

import { close, listen } from './loopback.mjs';

const DISCOVERED = {
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  ttlMs: 0,
  cacheScope: 'public',
  _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'fake', version: '1' } }
};

/**
 * Starts an upstream with these tools. `call` returns the result of a call, or a promise of it. The result has `url`,
 * `calls` with the parameters of the calls so far, and `stop()`. Without `port`, the upstream listens on any free port.
 */
export async function startFakeUpstream(tools, call = () => ({ content: [] }), port = 0) {
  const calls = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const message = JSON.parse(body);
    const answer = async () => {
      if (message.method === 'server/discover') return DISCOVERED;
      if (message.method === 'tools/call') {
        calls.push(message.params);
        return call(message.params);
      }
      return { ttlMs: 0, cacheScope: 'public', tools: tools.map((name) => ({ name, inputSchema: { type: 'object' } })) };
    };
    const result = { resultType: 'complete', ...(await answer()) };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
  });
  const host = await listen(server, { port });
  return { url: `http://${host}/mcp`, calls, stop: () => close(server) };
}
