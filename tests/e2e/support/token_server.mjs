// An authorization server for what the certified one lacks: token exchange, workload assertions, clients that sign.
import { createServer } from 'node:http';

import * as jose from 'jose';

import { publicHalf } from './identity_provider.mjs';

const GRANT = 'urn:ietf:params:oauth:grant-type:';
const TYPE = 'urn:ietf:params:oauth:token-type:';

export class TokenServer {
  requests = [];

  /** Starts a server. `trusted` are public keys whose assertions it accepts besides its own. */
  static async start({ trusted = [] } = {}) {
    const server = new TokenServer();
    const { privateKey } = await jose.generateKeyPair('ES256', { extractable: true });
    server.keys = [{ ...(await jose.exportJWK(privateKey)), alg: 'ES256', use: 'sig', kid: 'one' }];
    server.trusted = [...server.keys.map(publicHalf), ...trusted];
    server.server = createServer((request, response) => void server.receive(request, response));
    await new Promise((listening) => server.server.listen(0, '127.0.0.1', listening));
    server.issuer = `http://127.0.0.1:${server.server.address().port}`;
    return server;
  }

  async sign(claims, { key = this.keys[0], typ = 'at+jwt' } = {}) {
    const signer = new jose.SignJWT(claims).setProtectedHeader({ alg: key.alg, typ, ...(key.kid ? { kid: key.kid } : {}) });
    return signer.setIssuedAt().setExpirationTime('1h').setJti(crypto.randomUUID()).sign(await jose.importJWK(key, key.alg));
  }

  /** Issues a token of a user for a resource. */
  tokenFor(sub, aud, scope = 'tools') {
    return this.sign({ iss: this.issuer, sub, aud, scope });
  }

  async receive(request, response) {
    const reply = (status, document) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(document));
    if (request.url === '/.well-known/oauth-authorization-server') {
      return reply(200, {
        issuer: this.issuer,
        token_endpoint: `${this.issuer}/token`,
        jwks_uri: `${this.issuer}/jwks`,
        response_types_supported: ['code'],
        token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none']
      });
    }
    if (request.url === '/jwks') return reply(200, { keys: this.keys.map(publicHalf) });
    if (request.url !== '/token') return reply(404, {});
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
    this.requests.push({ ...form, authorization: request.headers.authorization });
    try {
      return reply(200, await this.grant(form));
    } catch (error) {
      return reply(400, { error: 'invalid_grant', error_description: error.message });
    }
  }

  /** Returns the claims of a token that any of the trusted keys has signed. */
  verified(token) {
    return Promise.any(this.trusted.map(async (key) => (await jose.jwtVerify(token, await jose.importJWK(key, key.alg))).payload));
  }

  async grant({ grant_type, subject_token, assertion, client_assertion, client_id, resource, scope }) {
    const bearer = async (sub) => ({ access_token: await this.tokenFor(sub, resource, scope), token_type: 'Bearer', expires_in: 3600 });
    if (grant_type === `${GRANT}token-exchange`) return { ...(await bearer((await this.verified(subject_token)).sub)), issued_token_type: `${TYPE}access_token` };
    if (grant_type === `${GRANT}jwt-bearer`) return bearer((await this.verified(assertion)).sub);
    if (grant_type === 'client_credentials') return bearer(client_assertion ? (await this.verified(client_assertion)).sub : (client_id ?? 'a-client'));
    throw new Error(`no such grant: ${grant_type}`);
  }

  async stop() {
    this.server.closeAllConnections();
    await new Promise((closed) => this.server.close(closed));
  }
}
