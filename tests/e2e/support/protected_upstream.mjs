// An upstream that every user signs in to: an MCP server of either era, made with the official TypeScript SDKs, with
// its own authorization server.
import { createServer } from 'node:http';

import { toNodeHandler } from '@modelcontextprotocol/node';
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import * as jose from 'jose';

import { checkProof } from './dpop.mjs';
import { publicHalf } from './identity_provider.mjs';

const METADATA = '/.well-known/oauth-protected-resource/mcp';
const text = (value) => ({ content: [{ type: 'text', text: value }] });

/** Adds tools, a prompt and a resource, as a server's author would: each user has private notes and a private tool. */
function furnish(server, user, counts) {
  server.registerTool('whoami', { description: 'Says whose notes these are' }, async () => {
    counts.whoami = (counts.whoami ?? 0) + 1;
    return text(`these are the notes of ${user}`);
  });
  server.registerTool(`note_of_${user}`, { description: 'Reads one' }, async () => text(`a note of ${user}`));
  server.registerTool('write', { description: 'Writes one' }, async () => {
    counts.write = (counts.write ?? 0) + 1;
    return text(`written by ${user}`);
  });
  server.registerPrompt('greeting', { description: 'Greets' }, async () => ({ messages: [{ role: 'user', content: { type: 'text', text: `Greet ${user}` } }] }));
  server.registerResource('today', 'note://today', { mimeType: 'text/plain' }, async (uri) => ({ contents: [{ uri: uri.href, text: `today of ${user}` }] }));
}

export class ProtectedUpstream {
  /**
   * `provider` is the authorization server, `era` `legacy` or `modern`, and `writeScope` the scope that the tool
   * `write` needs. With `bound`, the upstream accepts only tokens that are bound to a key, with proofs that have its
   * `nonce`, which a test may change. `proofs` are the accepted proofs, `thumbprints` their keys.
   */
  static async start(provider, { era = 'modern', writeScope, bound = false } = {}) {
    const upstream = new ProtectedUpstream(provider, era, writeScope);
    Object.assign(upstream, { bound, nonce: 'the-first-nonce', proofs: [], thumbprints: new Set(), refusals: 0 });
    upstream.server = createServer((request, response) => {
      // The gateway may be killed in the middle of a request.
      upstream.receive(request, response).catch(() => response.destroy());
    });
    await new Promise((listening) => upstream.server.listen(0, '127.0.0.1', listening));
    upstream.url = `http://127.0.0.1:${upstream.server.address().port}/mcp`;
    return upstream;
  }

  constructor(provider, era, writeScope) {
    Object.assign(this, { provider, era, writeScope, counts: {}, handlers: new Map(), tokens: [], greeted: [], servers: [provider.issuer] });
  }

  challenge(more = '') {
    return `${this.bound ? 'DPoP algs="ES256", ' : 'Bearer '}resource_metadata="${new URL(METADATA, this.url)}"${more}`;
  }

  refuse(response, status, challenge) {
    ++this.refusals;
    if (this.bound) response.setHeader('dpop-nonce', this.nonce);
    response.writeHead(status, { 'www-authenticate': challenge, 'content-type': 'text/plain' }).end('no');
  }

  async receive(request, response) {
    if (request.url === METADATA) {
      const document = { resource: this.url, authorization_servers: this.servers, scopes_supported: ['tools'], ...(this.bound ? { dpop_bound_access_tokens_required: true } : {}) };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
      return;
    }
    const user = await this.userOf(request);
    if (!user) return this.refuse(response, 401, this.challenge());
    if (user.wantsNonce) return this.refuse(response, 401, this.challenge(', error="use_dpop_nonce"'));
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks)) : undefined;
    if (this.writeScope && body?.params?.name === 'write' && !user.scopes.includes(this.writeScope)) {
      return this.refuse(response, 403, this.challenge(`, error="insufficient_scope", scope="${this.writeScope}"`));
    }
    if (body?.method === 'initialize') this.greeted.push(user.name);
    if (this.era === 'modern') return this.modern(user.name)(request, response, body);
    return this.legacy(user.name, request, response, body);
  }

  async userOf({ headers, method }) {
    const [, token] = (this.bound ? /^DPoP (.+)$/ : /^Bearer (.+)$/).exec(headers.authorization ?? '') ?? [];
    if (!token) return undefined;
    this.tokens.push(token);
    if (this.refuseAll || this.refused?.has(token)) return undefined;
    const keys = jose.createLocalJWKSet({ keys: this.provider.keys.map(publicHalf) });
    try {
      const { payload } = await jose.jwtVerify(token, keys, { issuer: this.provider.issuer, audience: this.url });
      const wantsNonce = this.bound && !(await this.prove(headers.dpop, { method, token, thumbprint: payload.cnf?.jkt }));
      return { name: payload.sub, scopes: payload.scope?.split(' ') ?? [], wantsNonce };
    } catch {
      return undefined;
    }
  }

  /** Whether a proof has the current nonce; throws if the proof is invalid or was used before. */
  async prove(proof, { method, token, thumbprint }) {
    const said = await checkProof(proof, { url: this.url, method, token, thumbprint });
    if (said.nonce !== this.nonce) return false;
    if (this.proofs.some(({ jti }) => jti === said.jti)) throw new Error('this proof was used before');
    this.proofs.push(said);
    this.thumbprints.add(thumbprint);
    return true;
  }

  modern(user) {
    if (!this.handlers.has(user)) {
      const handler = createMcpHandler(
        () => {
          const server = new McpServer({ name: 'notes', version: '1.0.0' }, { capabilities: { tools: { listChanged: true } } });
          furnish(server, user, this.counts);
          return server;
        },
        { legacy: 'reject' }
      );
      this.handlers.set(user, toNodeHandler(handler));
    }
    return this.handlers.get(user);
  }

  async legacy(user, request, response, body) {
    const server = new McpServerV1({ name: 'notes', version: '1.0.0' });
    furnish(server, user, this.counts);
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    response.on('close', () => void transport.close().then(() => server.close()));
    await server.connect(transport);
    await transport.handleRequest(request, response, body);
  }

  async stop() {
    this.server.closeAllConnections();
    await new Promise((closed) => this.server.close(closed));
  }
}
