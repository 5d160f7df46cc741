// A certified OpenID provider on loopback. A test decides who signs in, what tokens contain and what goes wrong.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';

import * as jose from 'jose';
import Provider from 'oidc-provider';

import { FAULTS } from './identity_faults.mjs';
import { Shelf } from './identity_store.mjs';

const INTROSPECTION = { client_id: 'gateway', client_secret: 'the-secret-of-the-gateway-at-the-provider' };
const REDIRECT = 'http://127.0.0.1:1/callback';
const DAY = 86_400;

/** Makes a private key for each algorithm, as JWKs. */
function makeKeys(algorithms) {
  return Promise.all(
    algorithms.map(async (alg) => {
      const { privateKey } = await jose.generateKeyPair(alg, { extractable: true });
      const jwk = await jose.exportJWK(privateKey);
      return { ...jwk, alg, use: 'sig', kid: `${alg}-${await jose.calculateJwkThumbprint(jwk)}` };
    })
  );
}

/** Returns the public half of a private JWK. */
export function publicHalf({ d, p, q, dp, dq, qi, ...rest }) {
  return rest;
}

function providerConfiguration(settings, keys, store) {
  const { algorithms, scopes, refreshTokens, clients, people } = settings;
  return {
    adapter: (kind) => new Shelf(store, kind),
    jwks: { keys },
    clients: [
      { ...INTROSPECTION, redirect_uris: [], response_types: [], grant_types: [] },
      { client_id: 'desktop', token_endpoint_auth_method: 'none', application_type: 'native', redirect_uris: [REDIRECT], grant_types: ['authorization_code', 'refresh_token'] },
      { client_id: 'job', client_secret: 'the-secret-of-the-job', redirect_uris: [], response_types: [], grant_types: ['client_credentials'] },
      ...clients
    ],
    clientDefaults: { id_token_signed_response_alg: algorithms[0] },
    scopes: ['openid', ...(refreshTokens ? ['offline_access'] : []), ...scopes],
    enabledJWA: { idTokenSigningAlgValues: algorithms },
    cookies: { keys: ['signs the cookies of the provider'] },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub, ...people[sub] }) }),
    extraTokenClaims: (_, token) => ({ ...people[token.accountId], ...token.besides }),
    issueRefreshToken: (_, client) => refreshTokens && client.grantTypeAllowed('refresh_token'),
    expiresWithSession: () => false,
    ...(settings.rotates === undefined ? {} : { rotateRefreshToken: () => settings.rotates }),
    clientBasedCORS: () => true,
    // The provider's default fetch refuses loopback addresses, and there are no others here.
    fetch: (url, { dispatcher, ...options }) => fetch(url, options),
    ttl: {
      AccessToken: () => settings.expiresIn,
      ClientCredentials: () => settings.expiresIn,
      IdToken: () => settings.expiresIn,
      RefreshToken: () => DAY,
      Interaction: () => DAY,
      Session: () => DAY,
      Grant: () => DAY
    },
    features: {
      devInteractions: { enabled: true },
      dPoP: { enabled: true, ...(settings.nonces ? { nonceSecret: randomBytes(32), requireNonce: () => true } : {}) },
      ...(settings.documents ? { clientIdMetadataDocument: { enabled: true, ack: 'draft-02' } } : {}),
      clientCredentials: { enabled: true },
      introspection: { enabled: true, allowedPolicy: () => true },
      revocation: { enabled: true, allowedPolicy: () => true },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: () => resourceServer(settings)
      }
    }
  };
}

function resourceServer({ scopes, format, algorithms, expiresIn }) {
  const jwt = { sign: { alg: algorithms[0] } };
  return { scope: scopes.join(' '), accessTokenFormat: format, accessTokenTTL: expiresIn, ...(format === 'jwt' ? { jwt } : {}) };
}

/**
 * Starts a provider on a free port of 127.0.0.1.
 *
 * - `algorithms`: the provider has a key for each and signs with the first. `scopes`: those that exist. `format`: of
 *   access tokens, `jwt` or `opaque`.
 * - `people`: extra claims by subject, such as `{ ada: { groups: ['ops'] } }`; any subject may sign in. `clients`:
 *   those that do not register themselves.
 * - `nonces`: whether proofs of possession need a nonce of the provider. `documents`: whether the provider accepts
 *   clients that a document at their id describes.
 * - `expiresIn`: seconds. `refreshTokens`: whether clients that can use a refresh token get one. `rotates`: whether
 *   each works once; by default, the provider decides.
 *
 * `settings` of the result has these settings and may be changed at runtime; `fault` is a key of `FAULTS` or undefined.
 */
export async function startIdentityProvider(given = {}) {
  const settings = { algorithms: ['ES256'], scopes: ['tools'], format: 'jwt', people: {}, clients: [], expiresIn: 3600, refreshTokens: false, ...given };
  const provider = new IdentityProvider(settings, await makeKeys(settings.algorithms));
  await provider.listen();
  return provider;
}

export class IdentityProvider {
  constructor(settings, keys) {
    this.settings = settings;
    this.keys = keys;
    this.store = new Map();
    this.requests = [];
    this.fault = undefined;
    this.introspection = INTROSPECTION;
    this.redirectUri = REDIRECT;
    this.port = 0;
  }

  async listen() {
    this.server = createServer((request, response) => this.receive(request, response));
    await new Promise((ready, failed) => this.server.once('error', failed).listen(this.port, '127.0.0.1', ready));
    this.port = this.server.address().port;
    this.issuer = `http://127.0.0.1:${this.port}`;
    if (!this.provider) this.build();
  }

  build() {
    this.provider = new Provider(this.issuer, providerConfiguration(this.settings, this.keys, this.store));
    // The official clients register with the scopes that they know and could not request more later, so this removes
    // that limit.
    this.provider.on('registration_create.success', (_, client) => {
      const { scope, ...metadata } = client.metadata();
      this.provider.Client.adapter.upsert(client.clientId, metadata);
    });
    this.answer = this.provider.callback();
  }

  /** Adds a client at runtime: its redirects may depend on ports that are known only then. */
  async addClient(metadata) {
    await this.provider.Client.adapter.upsert(metadata.client_id, { response_types: ['code'], ...metadata });
  }

  receive(request, response) {
    this.requests.push(`${request.method} ${request.url.split('?')[0]}`);
    const fault = FAULTS[this.fault];
    if (fault && /\.well-known|\/jwks|\/introspection/.test(request.url)) fault(request, response, this);
    else this.answer(request, response);
  }

  /** Returns how many requests a path has had. */
  asked(path) {
    return this.requests.filter((request) => request.endsWith(` ${path}`)).length;
  }

  /** Stops listening, so that connections are refused. `up` listens on the same address again. */
  async down() {
    this.server.closeAllConnections();
    await new Promise((closed) => this.server.close(closed));
  }

  up() {
    return this.listen();
  }

  /** Replaces the provider by an instance with new keys, which with `keep` also publishes the earlier ones. */
  async rotate({ algorithms = this.settings.algorithms, keep = false } = {}) {
    const fresh = await makeKeys(algorithms);
    this.settings.algorithms = algorithms;
    this.keys = keep ? [...fresh, ...this.keys] : fresh;
    this.build();
  }

  async stop() {
    if (this.server.listening) await this.down();
  }

  get key() {
    return this.keys[0];
  }

  /** Signs any claims with the provider's key; `header` and `key` override the defaults. */
  async sign(claims, { header = {}, key = this.key } = {}) {
    const signer = new jose.SignJWT(claims).setProtectedHeader({ alg: key.alg, typ: 'at+jwt', kid: key.kid, ...header });
    return signer.sign(await jose.importJWK(key, key.alg), { crit: Object.fromEntries((header.crit ?? []).map((name) => [name, true])) });
  }

  /** Returns the claims of an access token, for tests that sign one themselves. `expiresIn` is in seconds from now. */
  claims({ subject = 'ada', resource, scopes = ['tools'], expiresIn = 3600, claims = {} }) {
    const now = Math.floor(Date.now() / 1000);
    const own = { iss: this.issuer, sub: subject, aud: resource, iat: now, exp: now + expiresIn, jti: crypto.randomUUID(), client_id: 'desktop', scope: scopes.join(' ') };
    return { ...own, ...this.settings.people[subject], ...claims };
  }

  /** Issues an access token as the provider does, without a browser; `dpop` is a key of `makeDpopKey`. */
  async tokenFor({ subject = 'ada', resource, scopes = ['tools'], claims = {}, expiresIn = this.settings.expiresIn, dpop }) {
    const { AccessToken, Client, ResourceServer } = this.provider;
    const token = new AccessToken({
      accountId: subject,
      client: await Client.find('desktop'),
      scope: scopes.join(' '),
      expiresIn,
      gty: 'authorization_code',
      resourceServer: new ResourceServer(resource, resourceServer(this.settings)),
      ...(dpop ? { jkt: dpop.thumbprint } : {})
    });
    token.besides = claims;
    return token.save();
  }

  /** Revokes an opaque token at the revocation endpoint. */
  async revoke(token) {
    const body = new URLSearchParams({ token, client_id: 'desktop' });
    const response = await fetch(`${this.issuer}/token/revocation`, { method: 'POST', body });
    if (!response.ok) throw new Error(`not revoked: ${await response.text()}`);
  }
}
