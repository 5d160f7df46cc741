// Which tokens the gateway accepts, what they permit, and how it refuses the others.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, test } from 'node:test';

import * as jose from 'jose';

import { ADMIN_SECRET, matchClaims, parametersOf, quotes, refusalOf, startProtected, statusOf, toolsOf } from './support/identity.mjs';
import { publicHalf, startIdentityProvider } from './support/identity_provider.mjs';
import { eventually } from './support/programs.mjs';
import { runningPrograms } from './support/programs_of_suite.mjs';
import { send } from './support/raw.mjs';

const ALL = ['delete_report', 'read_report', 'write_report'];
const PAGE = 'https://app.example.com';
const WELL_KNOWN = '/.well-known/oauth-protected-resource';
const base64 = (value) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

describe('a token of an identity provider', () => {
  let parts;
  let stranger;
  runningPrograms(async (programs) => {
    stranger = await startIdentityProvider();
    programs.push(stranger);
    parts = await startProtected(programs, {
      provider: { algorithms: ['ES256', 'RS256'], scopes: ['tools', 'reports:write'], people: { bob: { groups: ['staff'] } } },
      issuer: { scopes: ['tools', 'offline_access'], implies: { everything: ['reports:write'] } },
      rules: [
        { match: { groups: ['staff'] }, tools: ['read_*'] },
        { match: { 'realm_access.roles': ['look*'] }, read_only: true },
        { match: { groups: ['careful'] }, deny: ['delete_*'] },
        { match: { department: ['sec'] }, contexts: ['sec'] },
        { match: { scope: ['tools'] } }
      ],
      contexts: { sec: {} },
      upstream: { tools: [{ match: ['write_*'], scopes: ['tools', 'reports:write'] }] },
      tokens: [{ name: 'ci', token_env: 'CI_TOKEN', tools: ['write_*'] }],
      server: { allowed_origins: [PAGE] },
      env: { CI_TOKEN: 'the-token-of-the-ci' }
    });
  });
  const signed = (claims, how) => parts.provider.sign(parts.provider.claims({ resource: parts.resource, ...claims }), how);
  const ask = (token, path = '/mcp', options = {}) => send(parts.at(path), 'tools/list', {}, { token, ...options });

  test('OAU-01 is accepted from either of its keys, and is as good the second time', async () => {
    const { provider, resource, gateway } = parts;
    const token = await provider.tokenFor({ resource });
    assert.deepEqual(await toolsOf(gateway.url, token), ALL);
    assert.deepEqual(await toolsOf(gateway.url, token), ALL);
    assert.deepEqual(await toolsOf(gateway.url, await signed({}, { key: provider.keys[1] })), ALL);
  });

  test('OAU-01 may say its audience as a list, its times as fractions, and its scopes in scp', async () => {
    const { resource, provider, gateway } = parts;
    const now = Date.now() / 1000;
    const list = await signed({ claims: { aud: ['https://other.example', resource] } });
    const fractions = await signed({ claims: { exp: now + 60.5, nbf: now - 1.5, iat: now - 1.5 } });
    const { scope, ...claims } = provider.claims({ resource });
    for (const token of [list, fractions, await provider.sign({ ...claims, scp: ['tools'] })]) assert.deepEqual(await toolsOf(gateway.url, token), ALL);
  });

  test('OAU-01 need not say in its type that it is an access token: few issuers do', async () => {
    for (const typ of ['JWT', undefined, 'application/at+jwt']) assert.deepEqual(await toolsOf(parts.gateway.url, await signed({}, { header: { typ } })), ALL);
  });

  /** Each function makes a token that must not be accepted. */
  const REFUSED = {
    'OAU-05 for another resource': () => signed({ resource: 'https://other.example/mcp' }),
    'OAU-05 for a path of ours that is no endpoint': () => signed({ resource: parts.at('/other') }),
    'OAU-05 for the endpoint of a context': () => signed({ resource: parts.at('/mcp/sec') }),
    'OAU-05 for the admin API': () => signed({ resource: parts.at('/admin') }),
    'OAU-01 without an audience': () => signed({ claims: { aud: undefined } }),
    'OAU-01 of another issuer, signed by it': () => stranger.tokenFor({ resource: parts.resource }),
    'OAU-01 of another issuer, in the name of ours': () => stranger.sign({ ...stranger.claims({ resource: parts.resource }), iss: parts.provider.issuer }),
    'OAU-01 of another issuer, with the kid of ours': () =>
      stranger.sign({ ...stranger.claims({ resource: parts.resource }), iss: parts.provider.issuer }, { header: { kid: parts.provider.key.kid } }),
    'OAU-01 that carries its own key': async () =>
      stranger.sign({ ...stranger.claims({ resource: parts.resource }), iss: parts.provider.issuer }, { header: { kid: undefined, jwk: publicHalf(stranger.key), jku: `${stranger.issuer}/jwks` } }),
    'OAU-01 that has expired': () => signed({ expiresIn: -1 }),
    'OAU-01 without an end': () => signed({ claims: { exp: undefined } }),
    'OAU-01 that is not yet valid': () => signed({ claims: { nbf: Math.floor(Date.now() / 1000) + 600 } }),
    'OAU-01 without a signature': () => `${base64({ alg: 'none', typ: 'at+jwt' })}.${base64(parts.provider.claims({ resource: parts.resource }))}.`,
    'OAU-01 that says it has none, with one': async () => {
      const [, claims, signature] = (await signed({})).split('.');
      return `${base64({ alg: 'none', typ: 'at+jwt', kid: parts.provider.key.kid })}.${claims}.${signature}`;
    },
    'OAU-01 signed by HMAC with the public key': async () => {
      const [, key] = parts.provider.keys;
      const head = base64({ alg: 'HS256', typ: 'at+jwt', kid: key.kid });
      const text = `${head}.${base64(parts.provider.claims({ resource: parts.resource }))}`;
      const pem = await jose.exportSPKI(await jose.importJWK(publicHalf(key), 'RS256', { extractable: true }));
      return `${text}.${createHmac('sha256', pem).update(text).digest('base64url')}`;
    },
    'OAU-01 whose algorithm is not that of its key': () => signed({}, { header: { kid: parts.provider.keys[1].kid } }),
    'OAU-01 whose payload was changed': async () => {
      const [head, claims, signature] = (await signed({})).split('.');
      const other = { ...JSON.parse(Buffer.from(claims, 'base64url')), sub: 'root' };
      return `${head}.${base64(other)}.${signature}`;
    },
    'OAU-01 with an extension that must be understood': () => signed({}, { header: { crit: ['must-know'], 'must-know': 1 } }),
    'OAU-01 that is an ID token': async () => {
      const { scope, client_id, jti, ...claims } = parts.provider.claims({ resource: parts.resource });
      return parts.provider.sign({ ...claims, nonce: 'n', at_hash: 'x' }, { header: { typ: 'JWT' } });
    },
    'OAU-01 that is no JWT': () => 'no-token-of-anybody',
    'OAU-01 of more than 16 KiB': () => signed({ claims: { groups: Array.from({ length: 1500 }, (_, i) => `group-${i}`) } })
  };
  for (const [what, make] of Object.entries(REFUSED)) {
    test(`${what}: 401, the way to sign in, and nothing of it anywhere`, async () => {
      const { gateway, at, upstream } = parts;
      const tokens = [await make(), await make()];
      const before = upstream.heads.length;
      const [first, second] = [await refusalOf(await ask(tokens[0])), await refusalOf(await ask(tokens[1]))];
      assert.equal(first.status, 401, first.body);
      assert.match(first.challenge, /^Bearer /);
      const parameters = parametersOf(first.challenge);
      assert.equal(parameters.error, 'invalid_token');
      assert.equal(parameters.resource_metadata, at(`${WELL_KNOWN}/mcp`));
      assert.equal(parameters.scope, 'tools');
      // OAU-16: equal refusals have equal bytes. OAU-12: no part of the token is in them.
      assert.deepEqual(second, first);
      for (const token of tokens) assert.ok(!quotes(JSON.stringify(first), token) && !quotes(gateway.log(), token), 'a part of the token');
      assert.equal(upstream.heads.length, before, 'PRX-08');
    });
  }

  test('OAU-15 OAU-04 whoever brings none is told where to get one, on loopback as well', async () => {
    const { status, challenge } = await refusalOf(await ask(undefined));
    assert.equal(status, 401);
    assert.match(challenge, /^Bearer /);
    const parameters = parametersOf(challenge);
    assert.equal(parameters.error, undefined);
    assert.equal(parameters.resource_metadata, parts.at(`${WELL_KNOWN}/mcp`));
    assert.equal(parameters.scope, 'tools');
  });

  test('OAU-04 OAU-08 each endpoint has metadata of its own, which never ask for offline access', async () => {
    for (const [path, resource] of [['', '/'], ['/mcp', '/mcp'], ['/mcp/sec', '/mcp/sec']]) {
      const response = await fetch(parts.at(`${WELL_KNOWN}${path}`));
      assert.equal(response.status, 200, path);
      assert.match(response.headers.get('content-type'), /^application\/json/);
      const metadata = await response.json();
      assert.equal(metadata.resource.replace(/\/$/, ''), parts.at(resource).replace(/\/$/, ''));
      assert.deepEqual(metadata.authorization_servers, [parts.provider.issuer]);
      assert.deepEqual(metadata.scopes_supported, ['tools']);
    }
  });

  test('OAU-15 an unknown context is answered as a known one that is forbidden', async () => {
    const known = await refusalOf(await ask(undefined, '/mcp/sec'));
    const unknown = await refusalOf(await ask(undefined, '/mcp/nil'));
    const renamed = (refusal) => JSON.parse(JSON.stringify(refusal).replaceAll('/mcp/nil', '/mcp/sec'));
    assert.equal(known.status, 401);
    assert.deepEqual(renamed(unknown), known);
    const metadata = async (context) => (await fetch(parts.at(`${WELL_KNOWN}/mcp/${context}`))).text();
    assert.equal((await metadata('nil')).replaceAll('/mcp/nil', '/mcp/sec'), await metadata('sec'));
  });

  test('OAU-05 for the gateway as a whole is good at each endpoint, for one endpoint there alone', async () => {
    const { provider, at } = parts;
    const [whole, plain, sec] = await Promise.all(['/', '/mcp', '/mcp/sec'].map((path) => provider.tokenFor({ resource: at(path).replace(/\/$/, '') })));
    const statuses = async (token) => [await statusOf(at('/mcp'), token), await statusOf(at('/mcp/sec'), token)];
    assert.deepEqual(await statuses(whole), [200, 200]);
    assert.deepEqual(await statuses(plain), [200, 401]);
    assert.deepEqual(await statuses(sec), [401, 200]);
  });

  test('OAU-05 no Host or Forwarded field makes it good for another', async () => {
    const { provider, gateway } = parts;
    const token = await provider.tokenFor({ resource: 'http://localhost.example/mcp' });
    for (const headers of [{ 'x-forwarded-host': 'localhost.example' }, { forwarded: 'host=localhost.example;proto=http' }]) {
      assert.equal(await statusOf(gateway.url, token, { headers }), 401);
    }
  });

  test('OAU-06 OAU-07 the first rule that fits decides what there is', async () => {
    const { provider, resource, gateway, at } = parts;
    const seen = async (who) => toolsOf(gateway.url, await provider.tokenFor({ resource, ...who }));
    assert.deepEqual(await seen({ subject: 'bob' }), ['read_report']);
    assert.deepEqual(await seen({ claims: { realm_access: { roles: ['none', 'looker'] } } }), ['read_report']);
    assert.deepEqual(await seen({ claims: { groups: ['careful'] } }), ['read_report', 'write_report']);
    assert.deepEqual(await seen({ claims: { groups: 'careful' } }), ['read_report', 'write_report']);
    assert.deepEqual(await seen({ subject: 'bob', claims: { groups: ['careful', 'staff'] } }), ['read_report']);
    const sec = await provider.tokenFor({ resource: at('/').slice(0, -1), claims: { department: 'sec' } });
    assert.deepEqual(await toolsOf(at('/mcp/sec'), sec), ALL);
    assert.notEqual(await statusOf(gateway.url, sec), 200);
  });

  test('OAU-07 AUT-02 the list over plain HTTP is cut in the same way', async () => {
    const { provider, at } = parts;
    const names = async (who) => {
      const token = await provider.tokenFor({ resource: at('/').slice(0, -1), ...who });
      const response = await fetch(at('/v1/graphs/sec/mcp/tools'), { headers: { authorization: `Bearer ${token}` } });
      assert.equal(response.status, 200);
      return (await response.json()).tools.map(({ name }) => name).sort();
    };
    assert.deepEqual(await names({}), ALL);
    assert.deepEqual(await names({ subject: 'bob' }), ['read_report']);
    assert.equal((await fetch(at('/v1/graphs/sec/mcp/tools'))).status, 401);
  });

  test('OAU-06 where none fits it is 403, with a reason for the operator alone', async () => {
    const token = await signed({ subject: 'nobody-we-know', scopes: ['other'] });
    const { status, body } = await refusalOf(await ask(token));
    assert.equal(status, 403);
    assert.doesNotMatch(body, /rule|groups|staff|claim/);
    await eventually('a line in the log', () => /\brule\b/.test(parts.gateway.log()));
    assert.ok(!quotes(parts.gateway.log(), token));
  });

  test('OAU-07 AUT-02 what a rule does not allow is what does not exist', async () => {
    const { provider, resource, gateway, upstream } = parts;
    const token = await provider.tokenFor({ resource, subject: 'bob', scopes: ['tools', 'reports:write'] });
    const refusal = async (name) => {
      const response = await send(gateway.url, 'tools/call', { name, arguments: {} }, { token });
      return { status: response.status, text: (await response.text()).replaceAll(name, 'NAME') };
    };
    const before = upstream.called.length;
    const none = await refusal('never_was');
    assert.deepEqual(await refusal('delete_report'), none);
    assert.deepEqual(await refusal('write_report'), none, 'no scope is asked for what does not exist');
    assert.equal(upstream.called.length, before);
  });

  test('OAU-07 AUT-01 a static token has the same keys, and works beside an issuer', async () => {
    assert.deepEqual(await toolsOf(parts.gateway.url, 'the-token-of-the-ci'), ['write_report']);
  });

  test('OAU-08 a call without its scopes is 403 that names them all, and reaches nobody', async () => {
    const { provider, resource, gateway, upstream, at } = parts;
    const call = (token) => send(gateway.url, 'tools/call', { name: 'write_report', arguments: {} }, { token });
    const before = upstream.called.length;
    const refusal = await refusalOf(await call(await provider.tokenFor({ resource })));
    assert.equal(refusal.status, 403);
    assert.match(refusal.challenge, /^Bearer /);
    const { error, scope, resource_metadata } = parametersOf(refusal.challenge);
    assert.equal(error, 'insufficient_scope');
    assert.deepEqual(scope.split(' ').sort(), ['reports:write', 'tools']);
    assert.equal(resource_metadata, at(`${WELL_KNOWN}/mcp`));
    assert.equal(upstream.called.length, before);
    assert.deepEqual(await refusalOf(await call(await provider.tokenFor({ resource }))), refusal);
    assert.equal((await call(await provider.tokenFor({ resource, scopes: ['tools', 'reports:write'] }))).status, 200);
    // A scope that another one implies counts, too.
    assert.equal((await call(await signed({ scopes: ['tools', 'everything'] }))).status, 200);
  });

  test('OAU-12 SEC-01 no upstream ever sees a token of a caller, nor does the log', async () => {
    const { provider, resource, gateway, upstream } = parts;
    const token = await provider.tokenFor({ resource });
    const response = await send(gateway.url, 'tools/call', { name: 'read_report', arguments: {} }, { token });
    assert.equal(response.status, 200);
    await response.text();
    assert.ok(!upstream.heads.some((head) => quotes(head, token) || /^authorization$/im.test(head)));
    assert.ok(!quotes(gateway.log(), token));
  });

  test('SEC-01 is refused as the token of a tool session, which would be sent to a back end', async () => {
    const { provider, resource, at } = parts;
    const token = await provider.tokenFor({ resource });
    const response = await fetch(at('/admin/session/init'), {
      method: 'POST',
      headers: { 'x-admin-secret': ADMIN_SECRET },
      body: JSON.stringify({ session_id: 's', user_token: token, user_id: 'ada' })
    });
    assert.ok(response.status >= 400 && response.status < 500, `${response.status}`);
    assert.ok(!quotes(await response.text(), token));
  });

  test('PRO-20 OAU-16 a page of an allowed origin reads the refusal and the metadata', async () => {
    const refused = await ask(undefined, '/mcp', { headers: { origin: PAGE } });
    assert.equal(refused.status, 401);
    assert.equal(refused.headers.get('access-control-allow-origin'), PAGE);
    const exposed = refused.headers.get('access-control-expose-headers').toLowerCase();
    for (const field of ['www-authenticate', 'mcp-session-id', 'dpop-nonce']) assert.ok(exposed.includes(field), exposed);
    const metadata = await fetch(parts.at(`${WELL_KNOWN}/mcp`), { headers: { origin: PAGE } });
    assert.equal(metadata.status, 200);
    assert.equal(metadata.headers.get('access-control-allow-origin'), PAGE);
    const asked = 'authorization,dpop,mcp-param-region,mcp-protocol-version';
    const preflight = await fetch(parts.at('/mcp'), {
      method: 'OPTIONS',
      headers: { origin: PAGE, 'access-control-request-method': 'POST', 'access-control-request-headers': asked }
    });
    assert.equal(preflight.status, 204);
    for (const field of asked.split(',')) assert.ok(preflight.headers.get('access-control-allow-headers').toLowerCase().includes(field), field);
    const stranger = await fetch(parts.at(`${WELL_KNOWN}/mcp`), { headers: { origin: 'https://evil.example' } });
    assert.equal(stranger.headers.get('access-control-allow-origin'), null);
  });

  test('OAU-06 the admin API says which rule fits a set of claims, and why the others do not', async () => {
    const { gateway, provider } = parts;
    const fits = await matchClaims(gateway, { iss: provider.issuer, sub: 'u1', groups: ['x', 'careful'] });
    assert.equal(fits.rule, 2);
    assert.equal(fits.name, 'u1');
    assert.deepEqual(fits.access.deny, ['delete_*']);
    assert.deepEqual(fits.passed_over.map(({ rule }) => rule), [0, 1]);
    assert.match(fits.passed_over[0].why, /groups/);
    const none = await matchClaims(gateway, { iss: provider.issuer, sub: 'u1' });
    assert.equal(none.rule, null);
    assert.equal(none.passed_over.length, 5);
  });

  test('SES-01 who may not administer learns nothing about rules', async () => {
    const response = await fetch(parts.at('/admin/principals/match'), { method: 'POST', body: '{}' });
    assert.equal(response.status, 401);
  });
});
