// The identity provider of the tests does what the other tests assume.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import * as jose from 'jose';

import { makeDpopKey } from './support/dpop.mjs';
import { authorize as signInAt } from './support/headless_user.mjs';
import { startIdentityProvider } from './support/identity_provider.mjs';
import { runningPrograms, stopAfter } from './support/programs_of_suite.mjs';

const RESOURCE = 'http://127.0.0.1:8080/mcp';
const PEOPLE = { ada: { groups: ['ops', 'staff'], realm_access: { roles: ['operator'] } } };

const authorize = (provider, more = {}) => signInAt(provider, { resource: RESOURCE, ...more });

const verify = (provider, token, options = {}) =>
  jose.jwtVerify(token, jose.createRemoteJWKSet(new URL(`${provider.issuer}/jwks`)), { issuer: provider.issuer, audience: RESOURCE, typ: 'at+jwt', ...options });

async function introspect(provider, token) {
  const { client_id, client_secret } = provider.introspection;
  const authorization = `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`;
  const response = await fetch(`${provider.issuer}/token/introspection`, { method: 'POST', headers: { authorization }, body: new URLSearchParams({ token }) });
  assert.equal(response.status, 200);
  return response.json();
}

describe('the identity provider of the tests', () => {
  let provider;
  runningPrograms(async (programs) => {
    provider = await startIdentityProvider({ people: PEOPLE, scopes: ['tools', 'tools:write'], refreshTokens: true });
    programs.push(provider);
  });

  test('publishes the metadata of OpenID and of OAuth, both with its own issuer', async () => {
    for (const path of ['openid-configuration', 'oauth-authorization-server']) {
      const metadata = await (await fetch(`${provider.issuer}/.well-known/${path}`)).json();
      assert.equal(metadata.issuer, provider.issuer, path);
      assert.equal(metadata.jwks_uri, `${provider.issuer}/jwks`);
      assert.ok(metadata.registration_endpoint && metadata.introspection_endpoint && metadata.dpop_signing_alg_values_supported);
    }
  });

  test('signs a headless user in, and gives a token for the resource with the claims of that user', async () => {
    const { access_token, token_type, scope } = await authorize(provider, { scope: 'tools tools:write' });
    assert.equal(token_type, 'Bearer');
    assert.equal(scope, 'tools tools:write');
    const { payload } = await verify(provider, access_token);
    assert.equal(payload.sub, 'ada');
    assert.deepEqual(payload.groups, ['ops', 'staff']);
    assert.deepEqual(payload.realm_access, { roles: ['operator'] });
  });

  test('makes the same tokens without a browser', async () => {
    const signedIn = await verify(provider, (await authorize(provider)).access_token);
    const direct = await verify(provider, await provider.tokenFor({ resource: RESOURCE }));
    assert.deepEqual(Object.keys(direct.payload).sort(), Object.keys(signedIn.payload).sort());
    assert.deepEqual(direct.protectedHeader, signedIn.protectedHeader);
    const signed = await verify(provider, await provider.sign(provider.claims({ resource: RESOURCE })));
    assert.deepEqual(Object.keys(signed.payload).sort(), Object.keys(signedIn.payload).sort());
  });

  test('adds to the claims of a user, or replaces some', async () => {
    const { payload } = await verify(provider, await provider.tokenFor({ resource: RESOURCE, claims: { groups: ['other'], department: 'sec' } }));
    assert.deepEqual(payload.groups, ['other']);
    assert.equal(payload.department, 'sec');
    assert.deepEqual(payload.realm_access, { roles: ['operator'] });
  });

  test('renews a token where a client may', async () => {
    const { refresh_token, access_token } = await authorize(provider);
    const body = new URLSearchParams({ grant_type: 'refresh_token', client_id: 'desktop', refresh_token, resource: RESOURCE });
    const renewed = await (await fetch(`${provider.issuer}/token`, { method: 'POST', body })).json();
    assert.notEqual(renewed.access_token, access_token);
    assert.equal((await verify(provider, renewed.access_token)).payload.sub, 'ada');
  });

  test('registers clients, which may ask for more scopes later', async () => {
    const redirect = 'http://127.0.0.1:2/callback';
    const metadata = { redirect_uris: [redirect], token_endpoint_auth_method: 'none', scope: 'tools' };
    const answer = await fetch(`${provider.issuer}/reg`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(metadata) });
    const { client_id: client } = await answer.json();
    assert.equal((await authorize(provider, { client, redirect, scope: 'tools tools:write' })).scope, 'tools tools:write');
  });

  test('gives a job a token of its own', async () => {
    const body = new URLSearchParams({ grant_type: 'client_credentials', scope: 'tools', resource: RESOURCE });
    const headers = { authorization: `Basic ${btoa('job:the-secret-of-the-job')}` };
    const answer = await (await fetch(`${provider.issuer}/token`, { method: 'POST', headers, body })).json();
    assert.equal((await verify(provider, answer.access_token)).payload.sub, 'job');
  });

  test('binds tokens to a key', async () => {
    const dpop = await makeDpopKey();
    const { access_token, token_type } = await authorize(provider, { dpop });
    assert.equal(token_type, 'DPoP');
    assert.deepEqual((await verify(provider, access_token)).payload.cnf, { jkt: dpop.thumbprint });
    const direct = await verify(provider, await provider.tokenFor({ resource: RESOURCE, dpop }));
    assert.deepEqual(direct.payload.cnf, { jkt: dpop.thumbprint });
  });

  test('goes away and comes back at the same address', async () => {
    const { issuer } = provider;
    await provider.down();
    await assert.rejects(fetch(`${issuer}/jwks`), ({ cause }) => ['ECONNREFUSED', 'UND_ERR_SOCKET'].includes(cause.code));
    await provider.up();
    assert.equal(provider.issuer, issuer);
    assert.equal((await fetch(`${issuer}/jwks`)).status, 200);
  });

  test('rotates its keys', async () => {
    const before = await provider.tokenFor({ resource: RESOURCE });
    await provider.rotate({ keep: true });
    await verify(provider, before);
    await verify(provider, await provider.tokenFor({ resource: RESOURCE }));
    await provider.rotate();
    await assert.rejects(verify(provider, before), jose.errors.JWKSNoMatchingKey);
    const { payload } = await verify(provider, (await authorize(provider)).access_token);
    assert.equal(payload.iss, provider.issuer);
  });

  test('fails as it is told to', async () => {
    const metadata = `${provider.issuer}/.well-known/openid-configuration`;
    provider.fault = 'garbage';
    await assert.rejects((await fetch(metadata)).json(), SyntaxError);
    provider.fault = 'reset';
    await assert.rejects(fetch(metadata), ({ cause }) => ['ECONNRESET', 'UND_ERR_SOCKET'].includes(cause.code));
    provider.fault = 'redirect';
    provider.elsewhere = 'http://127.0.0.1:3';
    assert.equal((await fetch(metadata, { redirect: 'manual' })).headers.get('location'), 'http://127.0.0.1:3/.well-known/openid-configuration');
    provider.fault = 'huge';
    await (await fetch(metadata)).body.cancel();
    assert.ok(provider.sent < 100 * 1024 * 1024);
    provider.fault = undefined;
    assert.equal((await (await fetch(metadata)).json()).issuer, provider.issuer);
  });
});

describe('each algorithm of an identity provider', () => {
  for (const alg of ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA']) {
    test(`${alg}: tokens and ID tokens verify with its keys`, async (context) => {
      const own = stopAfter(context);
      const provider = own(await startIdentityProvider({ algorithms: [alg] }));
      const { access_token, id_token } = await authorize(provider, { scope: 'openid tools' });
      assert.equal((await verify(provider, access_token)).protectedHeader.alg, alg);
      assert.equal((await verify(provider, id_token, { audience: 'desktop', typ: undefined })).protectedHeader.alg, alg);
    });
  }
});

describe('an identity provider with opaque tokens', () => {
  let provider;
  runningPrograms(async (programs) => {
    provider = await startIdentityProvider({ people: PEOPLE, format: 'opaque' });
    programs.push(provider);
  });

  test('knows no token of another provider', async () => {
    const other = await startIdentityProvider({ format: 'opaque' });
    assert.deepEqual(await introspect(provider, await other.tokenFor({ resource: RESOURCE })), { active: false });
    await other.stop();
  });

  for (const [how, make] of [
    ['after a sign-in', async () => (await authorize(provider)).access_token],
    ['without a browser', () => provider.tokenFor({ resource: RESOURCE })]
  ]) {
    test(`${how}: tells who introspects what a token says, until it is revoked`, async () => {
      const token = await make();
      assert.doesNotMatch(token, /\./);
      const said = await introspect(provider, token);
      assert.equal(said.active, true);
      assert.equal(said.sub, 'ada');
      assert.equal(said.aud, RESOURCE);
      assert.equal(said.scope, 'tools');
      assert.deepEqual(said.groups, ['ops', 'staff']);
      await provider.revoke(token);
      assert.deepEqual(await introspect(provider, token), { active: false });
    });
  }
});
