// Upstream tokens that need no sign-in: exchanged tokens of callers, workload tokens, and tokens of clients.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import * as jose from 'jose';

import { makeFolder } from './support/children.mjs';
import { startGateway } from './support/gateway.mjs';
import { ADMIN_SECRET } from './support/identity.mjs';
import { publicHalf } from './support/identity_provider.mjs';
import { runningPrograms } from './support/programs_of_suite.mjs';
import { ProtectedUpstream } from './support/protected_upstream.mjs';
import { send } from './support/raw.mjs';
import { TokenServer } from './support/token_server.mjs';

const CALLER = 'the-token-of-a-caller';
const SECRET = 'the-secret-of-the-client';

/** Makes a key pair for a client or a workload: `key` is the JWK, and `file` has the private half. */
async function makeKey(folder, name) {
  const { privateKey } = await jose.generateKeyPair('ES256', { extractable: true });
  const key = { ...(await jose.exportJWK(privateKey)), alg: 'ES256' };
  const file = join(folder, name);
  writeFileSync(file, await jose.exportPKCS8(privateKey), { mode: 0o600 });
  return { key, file };
}

async function startWith(programs, authentication, { server, ...settings } = {}) {
  const upstream = await ProtectedUpstream.start(server);
  programs.push(upstream);
  const gateway = await startGateway({
    upstreams: [{ name: 'notes', url: upstream.url, authentication: { type: 'oauth', issuer: server.issuer, client_id: 'proteus', ...authentication } }],
    tokens: [{ name: 'caller', token_env: 'CALLER_TOKEN' }],
    auth: { anonymous: 'never' },
    ...settings,
    env: { CALLER_TOKEN: CALLER, CLIENT_SECRET: SECRET, PROTEUS_ADMIN_SECRET: ADMIN_SECRET }
  });
  programs.push(gateway);
  return { upstream, gateway, server };
}

async function whoami({ gateway }, token = CALLER) {
  const response = await send(gateway.url, 'tools/call', { name: 'notes_whoami', arguments: {} }, { token });
  const { result, error } = await response.json();
  return result?.content[0].text ?? error.message;
}

describe('the token of a caller', () => {
  let parts;
  runningPrograms(async (programs) => {
    const server = await TokenServer.start();
    programs.push(server);
    parts = await startWith(programs, { grant: 'token_exchange', client_secret_env: 'CLIENT_SECRET' }, { server, issuers: [{ issuer: server.issuer }], rules: [{ match: {} }] });
  });

  test('UPC-11 SEC-01 is exchanged at its issuer, once, and never sent to the upstream', async () => {
    const { gateway, server, upstream } = parts;
    const [ada, bo] = [await server.tokenFor('ada', gateway.url), await server.tokenFor('bo', gateway.url)];
    assert.equal(await whoami(parts, ada), 'these are the notes of ada');
    assert.equal(await whoami(parts, bo), 'these are the notes of bo');
    assert.equal(await whoami(parts, ada), 'these are the notes of ada');
    assert.deepEqual(server.requests.map(({ subject_token }) => subject_token), [ada, bo]);
    assert.ok(server.requests.every(({ resource }) => resource === upstream.url));
    assert.ok(!upstream.tokens.includes(ada) && !upstream.tokens.includes(bo));
  });

  test('UPC-15 nobody is served in the session of another where the upstream goes back to sessions', async () => {
    const { gateway, server, upstream } = parts;
    const [ada, bo] = [await server.tokenFor('ada', gateway.url), await server.tokenFor('bo', gateway.url)];
    for (const era of ['modern', 'legacy', 'modern']) {
      upstream.era = era;
      assert.equal(await whoami(parts, ada), 'these are the notes of ada', era);
      assert.equal(await whoami(parts, bo), 'these are the notes of bo', era);
    }
    assert.deepEqual([...new Set(upstream.greeted)], ['ada', 'bo']);
  });

  test('UPC-11 SEC-01 of another kind is not exchanged', async () => {
    const before = parts.server.requests.length;
    assert.match(await whoami(parts), /not of the issuer/);
    assert.equal(parts.server.requests.length, before);
  });
});

describe('a gateway with an account of its own', () => {
  const folder = makeFolder();
  let server;
  let client;
  let programs;
  runningPrograms(async (all) => {
    programs = all;
    client = await makeKey(folder, 'client.pem');
    server = await TokenServer.start({ trusted: [publicHalf(client.key)] });
    all.push(server);
  });

  test('UPC-11 has a secret', async () => {
    const parts = await startWith(programs, { grant: 'client_credentials', client_secret_env: 'CLIENT_SECRET' }, { server });
    assert.match(await whoami(parts), /these are the notes of/);
    const { authorization } = server.requests.at(-1);
    assert.equal(authorization, `Basic ${Buffer.from(`proteus:${SECRET}`).toString('base64')}`);
  });

  test('UPC-11 signs an assertion', async () => {
    const parts = await startWith(programs, { grant: 'client_credentials', client_key_file: client.file }, { server });
    assert.equal(await whoami(parts), 'these are the notes of proteus');
  });

  test('UPC-11 signs for itself as the one it speaks for', async () => {
    const parts = await startWith(programs, { grant: 'jwt_bearer', client_key_file: client.file }, { server });
    assert.equal(await whoami(parts), 'these are the notes of proteus');
  });

  test('UPC-11 is a workload whose platform vouches for it by a file', async () => {
    const file = join(folder, 'workload');
    writeFileSync(file, await server.sign({ iss: 'https://platform.example', sub: 'a-workload', aud: server.issuer }, { key: client.key, typ: 'JWT' }), { mode: 0o600 });
    const parts = await startWith(programs, { grant: 'jwt_bearer', client_key_file: file }, { server });
    assert.equal(await whoami(parts), 'these are the notes of a-workload');
  });
});
