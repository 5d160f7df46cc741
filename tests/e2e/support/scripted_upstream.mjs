// A modern upstream whose tools a test can change. It implements only what a gateway requests.
import { createServer } from 'node:http';

const DISCOVERED = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  ttlMs: 0,
  cacheScope: 'private',
  _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'scripted', version: '1' } }
};

export class ScriptedUpstream {
  /** Starts an upstream with these tools. `tools` may be replaced; `called` has the names of the called tools. */
  static async start(tools) {
    const upstream = new this(tools);
    await new Promise((listening) => upstream.server.listen(0, '127.0.0.1', listening));
    upstream.url = `http://127.0.0.1:${upstream.server.address().port}/mcp`;
    return upstream;
  }

  constructor(tools) {
    this.tools = tools;
    this.called = [];
    this.server = createServer((request, response) => this.receive(request, response));
  }

  async receive(request, response) {
    let body = '';
    for await (const piece of request) body += piece;
    const message = JSON.parse(body || '{}');
    const answer = this.answer(message);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id ?? null, ...answer }));
  }

  answer({ method, params }) {
    switch (method) {
      case 'server/discover':
        return { result: DISCOVERED };
      case 'tools/list':
        return { result: { resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools: this.tools } };
      case 'tools/call':
        this.called.push(params.name);
        return { result: { resultType: 'complete', content: [{ type: 'text', text: `ran ${params.name}` }] } };
      default:
        return { error: { code: -32601, message: `there is no ${method}` } };
    }
  }

  stop() {
    this.server.closeAllConnections();
    return new Promise((closed) => this.server.close(closed));
  }
}
