// sdk_v2.mjs <mode>: runs a server of the TypeScript SDK v2.
//   stdio, stdio-modern    both eras on standard streams, or only the modern era
//   http, http-json        both eras without sessions; http-json answers modern requests without streams
//   http-modern            only the modern era
//   http-sessions          the modern era, and the legacy era with sessions
import { randomUUID } from 'node:crypto';

import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

import { featuresV2, house } from './features_v2.mjs';
import { listen } from './listen.mjs';

function overHttp(options) {
  const handler = createMcpHandler(featuresV2, options);
  house.announce = handler.notify;
  return toNodeHandler(handler);
}

function withSessions() {
  const modern = overHttp({ legacy: 'reject' });
  const sessions = new Map();
  const open = async () => {
    const transport = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, onsessioninitialized: (id) => sessions.set(id, transport) });
    await featuresV2({ era: 'legacy' }).connect(transport);
    return transport;
  };
  return async (request, response) => {
    const id = request.headers['mcp-session-id'];
    if (sessions.has(id)) return sessions.get(id).handleRequest(request, response);
    if (id) return void response.writeHead(404).end();
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks)) : undefined;
    if (body?.method === 'initialize') return (await open()).handleRequest(request, response, body);
    return modern(request, response, body);
  };
}

const MODES = {
  stdio: () => serveStdio(featuresV2),
  'stdio-modern': () => serveStdio(featuresV2, { legacy: 'reject' }),
  http: () => listen(overHttp({})),
  'http-json': () => listen(overHttp({ responseMode: 'json' })),
  'http-modern': () => listen(overHttp({ legacy: 'reject' })),
  'http-sessions': () => listen(withSessions())
};
MODES[process.argv[2]]();
