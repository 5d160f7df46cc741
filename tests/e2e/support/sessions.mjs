// The back end of tool sessions: a server that the tools post to, and a client of the admin API.
import { createServer, request, Agent } from 'node:http';

import { bodyOf, headersOf } from './raw.mjs';

/** Starts a server that records every POST and echoes it. `check` may return a text, which is recorded as a fault. */
export async function startBackend(check = () => undefined) {
  const asked = [];
  const faults = [];
  const server = createServer((incoming, outgoing) => {
    let body = '';
    incoming.on('data', (data) => (body += data));
    incoming.on('end', () => {
      const one = { path: incoming.url, authorization: incoming.headers.authorization, body: JSON.parse(body) };
      const fault = check(one);
      if (fault) faults.push(fault);
      asked.push(one);
      outgoing.writeHead(200, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify({ path: one.path, ...one.body }));
    });
  });
  // If the server closed a connection just when a call arrives on it, that would be an unrelated fault.
  server.keepAliveTimeout = 600_000;
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address();
  return {
    asked,
    faults,
    url: (path = '/fetch') => `http://127.0.0.1:${port}${path}`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    }
  };
}

export const SECRET = 'the-admin-secret';

/** A pool of keep-alive connections to the gateway at `base`. */
export class Caller {
  constructor(base, connections = 64) {
    this.base = new URL(base);
    this.agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  send(method, path, headers, body) {
    return new Promise((done, failed) => {
      const outgoing = request(
        { host: this.base.hostname, port: this.base.port, agent: this.agent, method, path, headers },
        (incoming) => {
          let text = '';
          incoming.on('data', (data) => (text += data));
          incoming.on('error', failed);
          incoming.on('end', () => {
            const json = text === '' ? undefined : JSON.parse(text);
            done({ status: incoming.statusCode, json });
          });
        }
      );
      outgoing.on('error', failed);
      outgoing.end(body);
    });
  }

  admin(path, body) {
    const headers = { 'x-admin-secret': SECRET };
    if (body === undefined) return this.send('GET', path, headers);
    return this.send('POST', path, headers, JSON.stringify(body));
  }

  /** Sends a modern request. */
  mcp(token, method, params = {}) {
    const headers = { authorization: `Bearer ${token}`, ...headersOf(method, params) };
    return this.send('POST', '/mcp', headers, bodyOf(method, params));
  }

  close() {
    this.agent.destroy();
  }
}

/** Returns a tool definition like that in the documentation. */
export function queryTool(name, url, more = {}) {
  return {
    name,
    title: 'Query Table',
    description: 'Execute a SQL query on the connected datasource',
    url,
    action: 'open_table',
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'SQL query to execute' },
        limit: { type: 'integer', description: 'Max rows to return' },
        schema: { type: 'string', description: 'Target schema name' }
      },
      required: ['query']
    },
    annotations: { readOnlyHint: true, destructiveHint: false },
    ...more
  };
}
