// Settings of issuers: the public URL of the gateway, who needs a token, and what a reload changes.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { authorize } from './support/headless_user.mjs';
import { issuerEntry, parametersOf, refusalOf, startProtected, statusOf } from './support/identity.mjs';
import { eventually } from './support/programs.mjs';
import { runningPrograms } from './support/programs_of_suite.mjs';
import { send } from './support/raw.mjs';

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

describe('a gateway that clients know by another URL', () => {
  const PUBLIC = 'https://tools.example.com/gateway';
  let parts;
  runningPrograms(async (programs) => {
    parts = await startProtected(programs, { server: { public_url: PUBLIC, allowed_hosts: ['tools.example.com'] } });
  });

  test('OAU-04 OAU-05 is that resource, and no other', async () => {
    const { provider, gateway } = parts;
    assert.equal(await statusOf(gateway.url, await provider.tokenFor({ resource: `${PUBLIC}/mcp` })), 200);
    assert.equal(await statusOf(gateway.url, await provider.tokenFor({ resource: PUBLIC })), 200);
    assert.equal(await statusOf(gateway.url, await provider.tokenFor({ resource: gateway.url })), 401);
    const { challenge } = await refusalOf(await send(gateway.url, 'tools/list'));
    assert.equal(parametersOf(challenge).resource_metadata, `https://tools.example.com${WELL_KNOWN}/gateway/mcp`);
    const metadata = await (await fetch(parts.at(`${WELL_KNOWN}/gateway/mcp`))).json();
    assert.equal(metadata.resource, `${PUBLIC}/mcp`);
  });
});

describe('a gateway that admits anybody, and then has no issuer', () => {
  let parts;
  runningPrograms(async (programs) => {
    parts = await startProtected(programs, { auth: { anonymous: 'always' } });
  });

  test('OAU-15 anonymous callers are served where the configuration says so; a bad token is refused all the same', async () => {
    assert.equal(await statusOf(parts.gateway.url, undefined), 200);
    assert.equal(await statusOf(parts.gateway.url, 'not-a-token'), 401);
  });

  test('AUT-04 an issuer that a reload takes away is one no more', async () => {
    const { gateway, provider, resource } = parts;
    const token = await provider.tokenFor({ resource });
    assert.equal(await statusOf(gateway.url, token), 200);
    const other = issuerEntry(provider, { audience: ['https://other.example'] });
    gateway.reconfigure({ issuers: [other] });
    await eventually('the reload', async () => (await statusOf(gateway.url, token)) === 401);
    assert.equal(await statusOf(gateway.url, await provider.tokenFor({ resource: 'https://other.example' })), 200);
  });

  test('OAU-15 without issuers nothing is said of them', async () => {
    const { gateway } = parts;
    gateway.reconfigure({ issuers: [], rules: [] });
    const metadata = () => fetch(parts.at(`${WELL_KNOWN}/mcp`));
    await eventually('the reload', async () => (await metadata()).status === 404);
    const response = await send(gateway.url, 'tools/list', {}, { token: 'x' });
    assert.equal(response.status, 401);
    assert.doesNotMatch(response.headers.get('www-authenticate'), /resource_metadata/);
  });
});

describe('an issuer whose audience is named', () => {
  let parts;
  runningPrograms(async (programs) => {
    parts = await startProtected(programs, { issuer: { audience: ['desktop', 'https://api.example.com'] } });
  });

  test('OAU-05 that is what tokens must be for, instead of our URLs', async () => {
    const { gateway, provider, resource } = parts;
    assert.equal(await statusOf(gateway.url, await provider.tokenFor({ resource: 'https://api.example.com' })), 200);
    assert.equal(await statusOf(gateway.url, await provider.tokenFor({ resource: 'https://api.example.com/' })), 401);
    assert.equal(await statusOf(gateway.url, await provider.tokenFor({ resource })), 401);
  });

  // A client may omit the nonce, and then an ID token has little that an access token could not have, too.
  for (const nonce of ['once', undefined]) {
    test(`OAU-01 an ID token of a real sign-in, ${nonce ? 'with' : 'without'} a nonce, is refused, although it is for that very audience`, async () => {
      const { provider, gateway } = parts;
      const { id_token, access_token } = await authorize(provider, { scope: 'openid tools', resource: 'https://api.example.com', nonce });
      assert.equal(JSON.parse(Buffer.from(id_token.split('.')[1], 'base64url')).aud, 'desktop');
      assert.equal(await statusOf(gateway.url, id_token), 401);
      assert.equal(await statusOf(gateway.url, access_token), 200);
    });
  }
});
