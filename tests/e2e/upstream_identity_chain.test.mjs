// The identity assertion chain: the identity provider exchanges a user's sign-in for an assertion, and the upstream's
// authorization server exchanges the assertion for a token.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import * as jose from 'jose';

import { makeFolder } from './support/children.mjs';
import { startGateway } from './support/gateway.mjs';
import { ADMIN_SECRET } from './support/identity.mjs';
import { publicHalf, startIdentityProvider } from './support/identity_provider.mjs';
import { Person } from './support/person.mjs';
import { runningPrograms } from './support/programs_of_suite.mjs';
import { ProtectedUpstream } from './support/protected_upstream.mjs';
import { send } from './support/raw.mjs';
import { connectionsOf, disconnectAll, linkIn } from './support/sign_in_story.mjs';
import { TokenServer } from './support/token_server.mjs';

const SECRET = 'the-secret-of-the-sign-in-page';
const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const TYPE = 'urn:ietf:params:oauth:token-type:';

/** Adds the exchange of ID tokens, which the certified provider lacks. Returns a list of the exchanges to come. */
function exchangeIdTokens(provider) {
  const exchanges = [];
  const keys = jose.createLocalJWKSet({ keys: provider.keys.map(publicHalf) });
  const exchange = async (ctx) => {
    const { params, client } = ctx.oidc;
    exchanges.push({ ...params, client: client.clientId });
    assert.equal(params.subject_token_type, `${TYPE}id_token`);
    assert.equal(params.requested_token_type, `${TYPE}id-jag`);
    const { payload } = await jose.jwtVerify(params.subject_token, keys, { issuer: provider.issuer, audience: client.clientId });
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: provider.issuer, sub: payload.sub, aud: params.audience, resource: params.resource, client_id: 'proteus-at-notes', scope: params.scope, iat: now, exp: now + 300, jti: crypto.randomUUID() };
    ctx.body = { access_token: await provider.sign(claims, { header: { typ: 'oauth-id-jag+jwt' } }), issued_token_type: `${TYPE}id-jag`, token_type: 'N_A', expires_in: 300 };
  };
  provider.provider.registerGrantType(EXCHANGE, exchange, ['subject_token', 'subject_token_type', 'requested_token_type', 'audience', 'resource', 'scope']);
  return exchanges;
}

describe('an upstream whose server trusts the identity provider of the users', () => {
  const folder = makeFolder();
  let provider;
  let exchanges;
  let server;
  let upstream;
  let gateway;
  let programs;

  async function start() {
    gateway = await startGateway({
      folder,
      upstreams: [{ name: 'notes', url: upstream.url, prefix: 'notes_', fail_fast_on_startup: false, authentication: { type: 'oauth', grant: 'identity_assertion', client_id: 'proteus-at-notes', scopes: ['tools'] } }],
      issuers: [{ issuer: provider.issuer, scopes: ['tools'], sign_in: { client_id: 'proteus', client_secret_env: 'SIGN_IN_SECRET' } }],
      rules: [{ match: {} }],
      env: { SIGN_IN_SECRET: SECRET, PROTEUS_ADMIN_SECRET: ADMIN_SECRET }
    });
    programs.push(gateway);
    const [, redirect] = new RegExp(`${provider.issuer} come back to (\\S+)`).exec(gateway.log());
    await provider.addClient({ client_id: 'proteus', client_secret: SECRET, redirect_uris: [redirect], grant_types: ['authorization_code', EXCHANGE] });
  }

  runningPrograms(async (all) => {
    programs = all;
    provider = await startIdentityProvider();
    exchanges = exchangeIdTokens(provider);
    server = await TokenServer.start({ trusted: provider.keys.map(publicHalf) });
    upstream = await ProtectedUpstream.start(server);
    all.push(provider, server, upstream);
    await start();
  });

  async function whoami(subject) {
    const token = await provider.tokenFor({ subject, resource: gateway.url });
    const response = await send(gateway.url, 'tools/call', { name: 'notes_whoami', arguments: {} }, { token });
    const { result, error } = await response.json();
    return result?.content?.[0]?.text ?? JSON.stringify(error);
  }

  test('UPC-11 is reached by each user after one sign-in at the identity provider', async () => {
    for (const subject of ['ada', 'bo']) {
      const link = linkIn(await whoami(subject));
      assert.ok(link, 'the user is asked to sign in');
      await new Person(subject).connect(link);
      assert.equal(await whoami(subject), `these are the notes of ${subject}`);
      assert.equal(await whoami(subject), `these are the notes of ${subject}`);
    }
    assert.equal(exchanges.length, 2, 'once for each of them');
    assert.ok(exchanges.every(({ audience, resource, client }) => audience === server.issuer && resource === upstream.url && client === 'proteus'));
    assert.equal(server.requests.length, 2);
    for (const { assertion, grant_type, resource } of server.requests) {
      assert.equal(grant_type, 'urn:ietf:params:oauth:grant-type:jwt-bearer');
      assert.equal(resource, upstream.url);
      assert.equal(jose.decodeProtectedHeader(assertion).typ, 'oauth-id-jag+jwt');
      assert.equal(jose.decodeJwt(assertion).aud, server.issuer);
    }
  });

  test('UPC-11 SEC-01 sees neither ID tokens nor assertions, and its server no ID token', async () => {
    const idTokens = exchanges.map(({ subject_token }) => subject_token);
    const assertions = server.requests.map(({ assertion }) => assertion);
    assert.ok(upstream.tokens.length > 0 && upstream.tokens.every((token) => !idTokens.includes(token) && !assertions.includes(token)));
    assert.ok(idTokens.every((token) => !JSON.stringify(server.requests).includes(token)));
  });

  test('UPC-08 UPC-11 a sign-in survives a restart of the gateway, and what followed from it is got anew', async () => {
    await gateway.stop();
    const before = exchanges.length;
    await start();
    assert.equal(await whoami('ada'), 'these are the notes of ada');
    assert.equal(exchanges.length, before + 1);
  });

  test('UPC-14 who disconnects is asked again, and nobody else', async () => {
    const [{ id }] = (await connectionsOf(gateway)).filter(({ principal }) => principal === 'ada');
    assert.ok(id);
    await disconnectAll(gateway, 'ada');
    assert.equal(await whoami('bo'), 'these are the notes of bo');
    const link = linkIn(await whoami('ada'));
    assert.ok(link, 'ada is asked again');
    await new Person('ada').connect(link);
    assert.equal(await whoami('ada'), 'these are the notes of ada');
  });
});
