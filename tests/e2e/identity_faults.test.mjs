// Issuers that rotate keys, vanish, stall and lie: damage is bounded and reported, and spares callers of other issuers.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, test } from 'node:test';

import { issuerEntry, quotes, startProtected, statusOf, toolsOf } from './support/identity.mjs';
import { startIdentityProvider } from './support/identity_provider.mjs';
import { eventually, residentKib, within } from './support/programs.mjs';
import { runningPrograms } from './support/programs_of_suite.mjs';

const LONG = 40_000; // until the gateway has given an issuer up, or asks again
const MOST_TAKEN = 16 * 1024 * 1024; // of 100 MB: what the gateway reads, and what the system buffers
const MOST_GROWTH_KIB = 32 * 1024;

describe('an issuer that changes its keys', () => {
  let parts;
  runningPrograms(async (programs) => {
    parts = await startProtected(programs);
  });
  const make = () => parts.provider.tokenFor({ resource: parts.resource });
  const status = (token) => statusOf(parts.gateway.url, token);

  test('OAU-02 keys are read from its metadata, once for all callers', async () => {
    const { provider } = parts;
    const tokens = await Promise.all(Array.from({ length: 20 }, make));
    assert.deepEqual(new Set(await Promise.all(tokens.map(status))), new Set([200]));
    assert.equal(provider.asked('/jwks'), 1);
  });

  test('OAU-02 OAU-18 a new key is found, while tokens of an old one that is still published go on', async () => {
    const { provider } = parts;
    const before = await make();
    await provider.rotate({ keep: true });
    const after = await make();
    await eventually('the new key', async () => (await status(after)) === 200, LONG);
    assert.equal(await status(before), 200);
  });

  test('OAU-02 OAU-18 a key that is published no more is good for no new token', async () => {
    const { provider, resource } = parts;
    const [old] = provider.keys;
    await provider.rotate();
    const after = await make();
    await eventually('the new key', async () => (await status(after)) === 200, LONG);
    assert.equal(await status(await provider.sign(provider.claims({ resource }), { key: old })), 401);
  });

  test('OAU-02 any number of unknown keys cost the issuer hardly a request', async () => {
    const { provider, resource } = parts;
    const before = provider.asked('/jwks');
    const tokens = await Promise.all(Array.from({ length: 100 }, (_, i) => provider.sign(provider.claims({ resource }), { header: { kid: `unknown-${i}` } })));
    for (const refused of await Promise.all(tokens.map(status))) assert.ok([401, 503].includes(refused), `${refused}`);
    assert.ok(provider.asked('/jwks') - before <= 1, `${provider.asked('/jwks') - before} requests`);
  });

  test('OAU-02 OAU-18 an issuer that is down is no outage for tokens whose keys are known', async () => {
    const { provider } = parts;
    await provider.down();
    try {
      assert.equal(await status(await make()), 200);
    } finally {
      await provider.up();
    }
  });
});

describe('an issuer that is down at the start', () => {
  let parts;
  let late;
  runningPrograms(async (programs) => {
    late = await startIdentityProvider();
    programs.push(late);
    await late.down();
    parts = await startProtected(programs, { issuers: [issuerEntry(late)] });
  });

  test('OAU-18 OAU-02 its callers wait, those of another do not, and it is taken as soon as it answers', async () => {
    const { gateway, provider, resource } = parts;
    const token = await late.tokenFor({ resource });
    assert.equal(await statusOf(gateway.url, await provider.tokenFor({ resource })), 200);
    assert.equal(await statusOf(gateway.url, token), 503);
    await eventually('a line in the log', () => gateway.log().includes(late.issuer));
    await late.up();
    await eventually('the issuer', async () => (await statusOf(gateway.url, token)) === 200, LONG);
  });
});

describe('issuers that answer badly', () => {
  const KINDS = ['reset', 'silent', 'stuck', 'huge', 'garbage', 'error', 'redirect', 'otherIssuer'];
  const bad = {};
  const led = []; // requests to the target of a redirect
  let parts;
  runningPrograms(async (programs) => {
    const elsewhere = createServer((request, response) => {
      led.push(request.url);
      response.end('{}');
    });
    await new Promise((ready) => elsewhere.listen(0, '127.0.0.1', ready));
    programs.push({ stop: () => new Promise((closed) => elsewhere.close(closed)) });
    for (const kind of KINDS) {
      bad[kind] = await startIdentityProvider();
      bad[kind].fault = kind;
      bad[kind].elsewhere = `http://127.0.0.1:${elsewhere.address().port}`;
      programs.push(bad[kind]);
    }
    parts = await startProtected(programs, { issuers: KINDS.map((kind) => issuerEntry(bad[kind])) });
  });

  test('OAU-18 all at once: callers of a good one are answered meanwhile, those of the others refused in time', async () => {
    const { gateway, provider, resource } = parts;
    // Only a few, each new while others wait: thousands would rightly take memory.
    const good = await Promise.all(Array.from({ length: 20 }, () => provider.tokenFor({ resource })));
    assert.equal(await statusOf(gateway.url, good[0]), 200);
    const before = residentKib(gateway.pid);
    const tokens = await Promise.all(KINDS.map((kind) => bad[kind].tokenFor({ resource })));
    let pending = tokens.length;
    const refusals = tokens.map((token) => within(LONG, 'a refusal', statusOf(gateway.url, token)).finally(() => --pending));
    for (let i = 0; i < good.length || pending > 0; ++i) assert.equal(await statusOf(gateway.url, good[i % good.length]), 200);
    for (const [i, status] of (await Promise.all(refusals)).entries()) {
      assert.ok([401, 503].includes(status), `${KINDS[i]}: ${status}`);
      assert.ok(!quotes(gateway.log(), tokens[i]), KINDS[i]);
    }
    // Sanitizers keep freed memory; sanitized builds are tested with this variable.
    const grown = residentKib(gateway.pid) - before;
    if (process.env.PROTEUS_WORKER_STALL === undefined) assert.ok(grown < MOST_GROWTH_KIB, `${grown} KiB more`);
  });

  test('OAU-18 a document of 100 MB is not read to its end', () => {
    assert.ok(bad.huge.sent < MOST_TAKEN, `${bad.huge.sent} bytes`);
  });

  test('OAU-18 a redirect is not followed', () => {
    assert.ok(bad.redirect.requests.length > 0);
    assert.deepEqual(led, []);
  });

  for (const kind of KINDS) {
    test(`OAU-18 ${kind}: the log names the issuer`, () => eventually('a line in the log', () => parts.gateway.log().includes(bad[kind].issuer)));
  }

  test('OAU-18 OAU-02 each is taken as soon as it answers as it should', async () => {
    const { gateway, resource } = parts;
    await Promise.all(
      KINDS.map(async (kind) => {
        bad[kind].fault = undefined;
        const token = await bad[kind].tokenFor({ resource });
        await eventually(kind, async () => (await statusOf(gateway.url, token)) === 200, LONG);
      })
    );
  });
});

describe('an issuer with opaque tokens', () => {
  let parts;
  let other;
  runningPrograms(async (programs) => {
    other = await startIdentityProvider({ format: 'opaque' });
    programs.push(other);
    parts = await startProtected(programs, { provider: { format: 'opaque', people: { bob: { groups: ['staff'] } } }, rules: [{ match: { groups: ['staff'] }, tools: ['read_*'] }, { match: {} }] });
  });
  const make = (more = {}) => parts.provider.tokenFor({ resource: parts.resource, ...more });
  const status = (token) => statusOf(parts.gateway.url, token);
  const introspections = () => parts.provider.asked('/token/introspection');

  test('OAU-03 is asked about one once, however often it comes and on however many connections', async () => {
    const token = await make();
    const before = introspections();
    const first = await Promise.all(Array.from({ length: 16 }, () => status(token)));
    assert.deepEqual(new Set(first), new Set([200]));
    for (let i = 0; i < 10; ++i) assert.equal(await status(token), 200);
    assert.equal(introspections() - before, 1);
  });

  test('OAU-03 OAU-06 what it says is what rules are about', async () => {
    assert.deepEqual(await toolsOf(parts.gateway.url, await make({ subject: 'bob' })), ['read_report']);
  });

  test('OAU-03 an answer is good no longer than the token', async () => {
    const token = await make({ expiresIn: 2 });
    assert.equal(await status(token), 200);
    await eventually('its end', async () => (await status(token)) === 401);
  });

  test('OAU-03 one that is revoked before it is seen is refused, and remembered as such for a while', async () => {
    const token = await make();
    await parts.provider.revoke(token);
    const before = introspections();
    assert.equal(await status(token), 401);
    assert.equal(await status(token), 401);
    assert.equal(introspections() - before, 1);
    assert.ok(!parts.gateway.log().includes(token), 'OAU-12');
  });

  test('OAU-05 OAU-03 one for another resource, or of another issuer, is refused', async () => {
    assert.equal(await status(await make({ resource: 'https://other.example/mcp' })), 401);
    assert.equal(await status(await other.tokenFor({ resource: parts.resource })), 401);
  });

  for (const fault of ['garbage', 'huge', 'reset', 'error', 'silent']) {
    test(`OAU-03 OAU-18 ${fault}: nothing is decided by it, and the token is good afterwards`, async () => {
      const token = await make();
      const known = await make();
      assert.equal(await status(known), 200);
      parts.provider.fault = fault;
      try {
        const refused = status(token);
        assert.equal(await status(known), 200, 'what is known goes on');
        assert.equal(await within(LONG, 'a refusal', refused), 503);
      } finally {
        parts.provider.fault = undefined;
      }
      await eventually('the issuer', async () => (await status(token)) === 200, LONG);
    });
  }
});
