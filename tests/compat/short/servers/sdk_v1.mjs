// sdk_v1.mjs stdio | http | stateless | json | sse: runs a server of the TypeScript SDK v1 on one of its transports.
// `json` has sessions and answers without streams.
import { randomUUID } from 'node:crypto';

import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

import { featuresV1 } from './features_v1.mjs';
import { listen } from './listen.mjs';

const sessions = new Map();

async function openSession(enableJsonResponse) {
  const transport = new StreamableHTTPServerTransport({
    enableJsonResponse,
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => sessions.set(id, transport),
    onsessionclosed: (id) => sessions.delete(id)
  });
  await featuresV1().connect(transport);
  return transport;
}

const sessionful = (enableJsonResponse) => async (request, response) => {
  const id = request.headers['mcp-session-id'];
  if (id && !sessions.has(id)) return void response.writeHead(404).end();
  const transport = id ? sessions.get(id) : await openSession(enableJsonResponse);
  await transport.handleRequest(request, response);
};

async function stateless(request, response) {
  if (request.method !== 'POST') return void response.writeHead(405).end();
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  const server = featuresV1();
  response.on('close', () => server.close());
  await server.connect(transport);
  await transport.handleRequest(request, response);
}

async function oldSse(request, response) {
  const url = new URL(request.url, 'http://localhost');
  if (request.method === 'POST' && url.pathname === '/messages') {
    const transport = sessions.get(url.searchParams.get('sessionId'));
    return transport ? transport.handlePostMessage(request, response) : void response.writeHead(404).end();
  }
  if (request.method !== 'GET') return void response.writeHead(405).end();
  const transport = new SSEServerTransport('/messages', response);
  sessions.set(transport.sessionId, transport);
  response.on('close', () => sessions.delete(transport.sessionId));
  await featuresV1().connect(transport);
}

const MODES = {
  stdio: () => featuresV1().connect(new StdioServerTransport()),
  http: () => listen(sessionful(false)),
  json: () => listen(sessionful(true)),
  stateless: () => listen(stateless),
  sse: () => listen(oldSse, '/sse')
};
await MODES[process.argv[2]]();
