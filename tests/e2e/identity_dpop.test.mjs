// Tokens that are bound to a key (RFC 9449): valid with a proof for this request, and never without a proof.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { makeDpopKey, prove } from './support/dpop.mjs';
import { parametersOf, quotes, refusalOf, startProtected } from './support/identity.mjs';
import { runningPrograms } from './support/programs_of_suite.mjs';
import { send } from './support/raw.mjs';

/** Requests the list with any proof and scheme. */
function list(url, token, proof, scheme = 'DPoP') {
  const headers = { authorization: `${scheme} ${token}`, ...(proof ? { dpop: proof } : {}) };
  return send(url, 'tools/list', {}, { headers });
}

async function assertRefused(response, secrets = []) {
  const refusal = await refusalOf(response);
  assert.equal(refusal.status, 401, refusal.body);
  assert.match(refusal.challenge, /^Bearer /);
  assert.ok(parametersOf(refusal.challenge).resource_metadata);
  for (const secret of secrets) assert.ok(!quotes(JSON.stringify(refusal), secret));
  return refusal;
}

describe('a token that is bound to a key', () => {
  let parts;
  let key;
  let token;
  runningPrograms(async (programs) => {
    parts = await startProtected(programs);
    key = await makeDpopKey();
    token = await parts.provider.tokenFor({ resource: parts.resource, dpop: key });
  });
  const proofFor = (more = {}) => prove(key, { url: parts.gateway.url, token, ...more });

  test('OAU-11 is accepted with a proof, each time with another', async () => {
    for (let i = 0; i < 3; ++i) assert.equal((await list(parts.gateway.url, token, await proofFor())).status, 200);
    const query = await proofFor({ url: `${parts.gateway.url}?a=b#c` });
    assert.equal((await list(parts.gateway.url, token, query)).status, 200, 'query and fragment do not count');
  });

  test('OAU-11 proofs may be made with each algorithm that tokens may', async () => {
    for (const alg of ['RS256', 'PS256', 'ES384', 'EdDSA']) {
      const other = await makeDpopKey(alg);
      const bound = await parts.provider.tokenFor({ resource: parts.resource, dpop: other });
      assert.equal((await list(parts.gateway.url, bound, await prove(other, { url: parts.gateway.url, token: bound }))).status, 200, alg);
    }
  });

  test('OAU-11 is refused without a proof, also as a plain bearer token', async () => {
    await assertRefused(await list(parts.gateway.url, token));
    await assertRefused(await list(parts.gateway.url, token, undefined, 'Bearer'));
    const { challenge } = await assertRefused(await list(parts.gateway.url, token, await proofFor(), 'Bearer'));
    assert.match(challenge, /, DPoP .*algs="[^"]*ES256/);
  });

  test('OAU-11 a proof that was used is refused, on any connection', async () => {
    const proof = await proofFor();
    assert.equal((await list(parts.gateway.url, token, proof)).status, 200);
    const again = await Promise.all(Array.from({ length: 8 }, () => list(parts.gateway.url, token, proof)));
    for (const response of again) {
      const { challenge } = await assertRefused(response, [proof]);
      assert.match(challenge, /invalid_dpop_proof/);
    }
  });

  test('OAU-11 of many that come at once with one proof, one is answered', async () => {
    const proof = await proofFor();
    const statuses = await Promise.all(Array.from({ length: 16 }, async () => (await list(parts.gateway.url, token, proof)).status));
    assert.deepEqual(statuses.filter((status) => status === 200), [200]);
  });

  const now = Math.floor(Date.now() / 1000);
  const WRONG = {
    'for another method': () => proofFor({ method: 'GET' }),
    'for another URL': () => proofFor({ url: 'https://other.example/mcp' }),
    'for another path': () => proofFor({ url: `${parts.gateway.url}/sec` }),
    'for another token': () => proofFor({ token: 'another' }),
    'for no token': () => proofFor({ token: undefined }),
    'from long ago': () => proofFor({ claims: { iat: now - 3600 } }),
    'from the future': () => proofFor({ claims: { iat: now + 3600 } }),
    'without an id': () => proofFor({ claims: { jti: undefined } }),
    'without a time': () => proofFor({ claims: { iat: undefined } }),
    'of another type': () => proofFor({ header: { typ: 'JWT' } }),
    'without its key': () => proofFor({ header: { jwk: undefined } }),
    'by another key': async () => prove(await makeDpopKey(), { url: parts.gateway.url, token }),
    'by another key that names ours': async () => prove({ ...(await makeDpopKey()), jwk: key.jwk }, { url: parts.gateway.url, token }),
    'that is no proof': () => 'nothing',
    'that is two': async () => `${await proofFor()}, ${await proofFor()}`
  };
  for (const [what, make] of Object.entries(WRONG)) {
    test(`OAU-11 a proof ${what} is refused`, async () => {
      const proof = await make();
      await assertRefused(await list(parts.gateway.url, token, proof), [proof, token]);
      assert.ok(!quotes(parts.gateway.log(), token), 'OAU-12');
    });
  }

  test('OAU-11 a token that is bound to nothing needs none', async () => {
    const plain = await parts.provider.tokenFor({ resource: parts.resource });
    assert.equal((await list(parts.gateway.url, plain, undefined, 'Bearer')).status, 200);
    assert.equal((await list(parts.gateway.url, plain, undefined, 'bEaReR')).status, 200);
  });
});

describe('an issuer whose tokens must be bound', () => {
  let parts;
  runningPrograms(async (programs) => {
    parts = await startProtected(programs, { issuer: { dpop: 'require' } });
  });

  test('OAU-11 a plain token is refused, a bound one with its proof is not', async () => {
    const { provider, resource, gateway } = parts;
    await assertRefused(await list(gateway.url, await provider.tokenFor({ resource }), undefined, 'Bearer'));
    const key = await makeDpopKey();
    const token = await provider.tokenFor({ resource, dpop: key });
    assert.equal((await list(gateway.url, token, await prove(key, { url: gateway.url, token }))).status, 200);
  });

  test('OAU-04 the metadata say so', async () => {
    const metadata = await (await fetch(parts.at('/.well-known/oauth-protected-resource/mcp'))).json();
    assert.equal(metadata.dpop_bound_access_tokens_required, true);
    assert.ok(metadata.dpop_signing_alg_values_supported.includes('ES256'));
  });
});

describe('an issuer whose proofs are not looked at', () => {
  let parts;
  runningPrograms(async (programs) => {
    parts = await startProtected(programs, { issuer: { dpop: 'off' } });
  });

  test('OAU-11 a bound token without a proof is refused all the same', async () => {
    const { provider, resource, gateway } = parts;
    const token = await provider.tokenFor({ resource, dpop: await makeDpopKey() });
    const { challenge } = await assertRefused(await list(gateway.url, token, undefined, 'Bearer'));
    assert.doesNotMatch(challenge, /(^|, )DPoP /);
  });
});
