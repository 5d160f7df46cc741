// A legacy upstream over Streamable HTTP with a counter for each session, and a tool that runs until a test ends it.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

const TOOLS = ['count', 'slow'].map((name) => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object' } }));
export const RESOURCE = 'memo://watched';

export class LegacyUpstream {
  /**
   * Starts the upstream. `sessions` maps ids to sessions, each with `count`, `subscriptions` and `ids`, the ids of its
   * requests. `running` maps the argument `name` of each call of `slow` to its `progress` and `finish`.
   */
  static async start() {
    const upstream = new this();
    await new Promise((listening) => upstream.server.listen(0, '127.0.0.1', listening));
    upstream.url = `http://127.0.0.1:${upstream.server.address().port}/mcp`;
    return upstream;
  }

  constructor() {
    this.sessions = new Map();
    this.running = new Map();
    this.server = createServer((request, response) => this.receive(request, response));
  }

  async receive(request, response) {
    let body = '';
    for await (const piece of request) body += piece;
    const id = request.headers['mcp-session-id'];
    const session = this.sessions.get(id);
    const message = JSON.parse(body || '{}');
    const reply = (status, answer, headers = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(answer && JSON.stringify({ jsonrpc: '2.0', id: message.id ?? null, ...answer }));
    };
    if (message.method === 'initialize') {
      const fresh = randomUUID();
      this.sessions.set(fresh, { count: 0, subscriptions: new Set(), ids: [], stream: undefined, unsent: [] });
      const capabilities = { tools: { listChanged: true }, resources: { subscribe: true } };
      return reply(200, { result: { protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 'counts', version: '1' } } }, { 'mcp-session-id': fresh });
    }
    if (!session) return reply(id ? 404 : 400, { error: { code: -32600, message: id ? 'no such session' : 'initialize first' } });
    if (request.method === 'DELETE') {
      this.sessions.delete(id);
      return reply(200);
    }
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      session.stream = response;
      for (const message of session.unsent.splice(0)) this.tell(session, message);
      return undefined;
    }
    if (message.id === undefined) return reply(202);
    session.ids.push(message.id);
    return this.answer(message, session, response, reply);
  }

  /** Sends a notification on the stream of a session, or on its next stream if none is open. */
  tell(session, message) {
    if (!session.stream || session.stream.destroyed) return session.unsent.push(message);
    return session.stream.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
  }

  /** Notifies all subscribers that the resource has changed. */
  update() {
    for (const session of this.sessions.values()) {
      if (session.subscriptions.has(RESOURCE)) this.tell(session, { method: 'notifications/resources/updated', params: { uri: RESOURCE } });
    }
  }

  answer({ id, method, params }, session, response, reply) {
    const text = (value) => ({ result: { content: [{ type: 'text', text: String(value) }] } });
    switch (method) {
      case 'ping':
        return reply(200, { result: {} });
      case 'tools/list':
        return reply(200, { result: { tools: TOOLS } });
      case 'resources/list':
        return reply(200, { result: { resources: [{ uri: RESOURCE, name: 'watched' }] } });
      case 'resources/subscribe':
        session.subscriptions.add(params.uri);
        return reply(200, { result: {} });
      case 'tools/call': {
        if (params.name === 'count') return reply(200, text(++session.count));
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const send = (message) => response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
        const progress = (value) => send({ method: 'notifications/progress', params: { progressToken: params._meta?.progressToken, progress: value } });
        progress(1);
        this.running.set(params.arguments?.name, {
          progress,
          finish: () => {
            send({ id, ...text('finished') });
            response.end();
          }
        });
        return undefined;
      }
      default:
        return reply(200, { error: { code: -32601, message: `there is no ${method}` } });
    }
  }

  stop() {
    this.server.closeAllConnections();
    return new Promise((closed) => this.server.close(closed));
  }
}
