// OAU-14: tokens that are made and revoked at runtime, over REST and on the command line.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { makeFolder, run } from './support/children.mjs';
import { CLIENTS, Session } from './support/clients.mjs';
import { startFakeUpstream } from './support/fake_upstream.mjs';
import { startGateway } from './support/gateway.mjs';
import { eventually, program } from './support/programs.mjs';
import { stopAfter } from './support/programs_of_suite.mjs';
import { events, send } from './support/raw.mjs';

const SECRET = 'the-admin-secret-of-this-test';
const env = { PROTEUS_ADMIN_SECRET: SECRET };

const overRest = (gateway) => async (method, path, body) => {
  const response = await fetch(new URL(path, gateway.url), { method, headers: { 'x-admin-secret': SECRET }, body: body && JSON.stringify(body) });
  return { status: response.status, json: await response.json() };
};

/** Makes, rotates, revokes and lists tokens with the admin API. */
function rest(gateway) {
  const ask = overRest(gateway);
  const answered = async (status, request) => {
    const { status: got, json } = await request;
    assert.equal(got, status, JSON.stringify(json));
    return json;
  };
  return {
    create: async (name, keys = {}) => (await answered(201, ask('POST', '/admin/tokens', { name, ...keys }))).token,
    rotate: async (name, overlap) => (await answered(200, ask('POST', `/admin/tokens/${name}/rotate`, { overlap }))).token,
    revoke: (name) => answered(200, ask('DELETE', `/admin/tokens/${name}`)),
    list: async () => (await answered(200, ask('GET', '/admin/tokens'))).tokens
  };
}

/** Like `rest`, with the command line. */
function commandLine(gateway) {
  const command = async (...args) => {
    const done = await run(program('proteus'), ['token', ...args, '--server', new URL('/', gateway.url).href, '--config', join(gateway.folder, 'proteus.toml')], { env });
    assert.equal(done.code, 0, done.stderr);
    return done.stdout.trim();
  };
  return {
    create: (name, { expires, read_only, ...lists } = {}) => {
      const options = { upstreams: '--upstream', contexts: '--context', tools: '--tool', deny: '--deny' };
      const listed = Object.entries(lists).flatMap(([key, values]) => values.flatMap((value) => [options[key], value]));
      return command('create', name, ...listed, ...(expires ? ['--expires', expires] : []), ...(read_only ? ['--read-only'] : []));
    },
    rotate: (name, overlap) => command('rotate', name, '--overlap', overlap),
    revoke: (name) => command('revoke', name),
    list: async () => JSON.parse(await command('list', '--json')).tokens
  };
}

/** Starts an upstream whose calls do not end before `stop`. */
async function startHolding() {
  const held = [];
  const upstream = await startFakeUpstream(['hold', 'other'], () => new Promise((done) => held.push(done)));
  return { ...upstream, held, stop: () => (held.forEach((done) => done({ content: [] })), upstream.stop()) };
}

const statusFor = async (gateway, token) => (await send(gateway.url, 'tools/list', {}, { token })).status;

async function listen(gateway, token) {
  const stream = events(await send(gateway.url, 'subscriptions/listen', { notifications: { toolsListChanged: true } }, { token }));
  assert.equal((await stream.next()).value.method, 'notifications/subscriptions/acknowledged');
  return stream;
}

async function messageOf(response) {
  if (!response.headers.get('content-type').startsWith('text/event-stream')) return response.json();
  let last;
  for await (const message of events(response)) last = message;
  return last;
}

for (const [how, tokensOf] of Object.entries({ 'over REST': rest, 'by the command line': commandLine })) {
  describe(`tokens ${how}`, () => {
    test('OAU-14 are made, used, rotated with an overlap and revoked while a stream and a call are open', async (context) => {
      const own = stopAfter(context);
      const upstream = own(await startHolding());
      const gateway = own(await startGateway({ upstreams: [{ name: 'up', url: upstream.url }], auth: { anonymous: 'never' }, contexts: { work: {} }, env }));
      const tokens = tokensOf(gateway);
      const first = await tokens.create('ci', { upstreams: ['up'], contexts: ['', 'work'], expires: '30d' });
      assert.match(first, /^proteus_[\w-]{43}$/);
      assert.equal(await statusFor(gateway, first), 200);
      const seenBy = async (token) => (await (await send(gateway.url, 'tools/list', {}, { token })).json()).result.tools.map((tool) => tool.name);
      const elsewhere = await tokens.create('elsewhere', { upstreams: ['none'] });
      assert.deepEqual(await seenBy(elsewhere), []);
      assert.deepEqual(await seenBy(first), ['up_hold', 'up_other']);
      assert.deepEqual(await seenBy(await tokens.create('some', { tools: ['up_*'], deny: ['up_h*'] })), ['up_other']);
      assert.deepEqual(await seenBy(await tokens.create('reader', { read_only: true })), []);
      const [listed] = (await tokens.list()).filter((one) => one.name === 'ci');
      assert.deepEqual(listed.upstreams, ['up']);
      assert.deepEqual(listed.contexts, ['', 'work']);
      assert.ok(Date.parse(listed.expires_at) > Date.now() + 29 * 24 * 3600 * 1000);
      assert.ok(listed.last_used_at);

      const second = await tokens.rotate('ci', '1h');
      assert.notEqual(second, first);
      assert.equal(await statusFor(gateway, first), 200);
      assert.equal(await statusFor(gateway, second), 200);
      const third = await tokens.rotate('ci', '0s');
      assert.equal(await statusFor(gateway, first), 401);
      assert.equal(await statusFor(gateway, second), 401);

      const stream = await listen(gateway, third);
      const call = send(gateway.url, 'tools/call', { name: 'up_hold', arguments: {} }, { token: third });
      const legacy = await Session.open(CLIENTS[0], { url: gateway.url, token: third });
      const legacyCall = legacy.call('up_hold').then(
        () => 'answered',
        (error) => String(error.message ?? error)
      );
      await eventually('both calls have arrived', () => upstream.held.length === 2);
      await tokens.revoke('ci');
      assert.equal(await statusFor(gateway, third), 401);
      assert.equal((await stream.next()).value.method, 'notifications/cancelled');
      assert.ok('result' in (await stream.next()).value);
      assert.equal((await stream.next()).done, true);
      assert.equal((await messageOf(await call)).error.message, 'the token was revoked: the request was cancelled');
      assert.match(await legacyCall, /the token was revoked/);
      await legacy.close().catch(() => {});
      assert.deepEqual((await tokens.list()).map((one) => one.name), ['elsewhere', 'reader', 'some']);
      for (const secret of [first, second, third, elsewhere]) assert.ok(!gateway.log().includes(secret));
    });

    test('OAU-14 are there after kill -9, and revoked ones are not', async (context) => {
      const own = stopAfter(context);
      const upstream = own(await startHolding());
      const folder = makeFolder();
      const start = async () => own(await startGateway({ folder, upstreams: [{ name: 'up', url: upstream.url }], auth: { anonymous: 'never' }, env }));
      let gateway = await start();
      const first = await tokensOf(gateway).create('ci', { upstreams: ['up'] });
      const gone = await tokensOf(gateway).create('gone');
      await tokensOf(gateway).revoke('gone');
      const second = await tokensOf(gateway).rotate('ci', '1h');
      await gateway.kill();
      for (const file of readdirSync(join(folder, 'data'))) {
        const bytes = readFileSync(join(folder, 'data', file), 'latin1');
        for (const secret of [first, second, gone]) assert.ok(!bytes.includes(secret), file);
      }

      gateway = await start();
      assert.equal(await statusFor(gateway, first), 200, 'the overlap goes on');
      assert.equal(await statusFor(gateway, second), 200);
      assert.equal(await statusFor(gateway, gone), 401);
      await tokensOf(gateway).revoke('ci');
      await gateway.kill();

      gateway = await start();
      assert.equal(await statusFor(gateway, second), 401);
      assert.deepEqual(await tokensOf(gateway).list(), []);
    });
  });
}

describe('the command line', () => {
  test('OAU-14 says what is wrong, and ends with a code that tells', async (context) => {
    const own = stopAfter(context);
    const gateway = own(await startGateway({ env }));
    const token = (...args) => run(program('proteus'), ['token', ...args, '--server', new URL('/', gateway.url).href, '--config', join(gateway.folder, 'proteus.toml')], { env });
    const created = await token('create', 'ci');
    assert.match(created.stderr, /not shown again/);
    const again = await token('create', 'ci');
    assert.equal(again.code, 1);
    assert.match(again.stderr, /there is a token ci/);
    assert.equal((await token('create', 'a/b')).code, 2);
    assert.equal((await token('create')).code, 2);
    assert.equal((await token('create', 'x', '--expires', 'soon')).code, 1);
    assert.equal((await token('revoke', 'nobody')).code, 1);
    assert.equal((await token('rotate', 'nobody')).code, 1);
    assert.match((await token('list')).stdout, /^ *NAME .*\n *ci +runtime +active/);
    const json = JSON.parse((await token('rotate', 'ci', '--json')).stdout);
    assert.match(json.token, /^proteus_/);
    assert.ok(json.previous_until);
  });
});

describe('tokens and keys in files', () => {
  // Replaces a file atomically.
  const put = (folder, name, text) => {
    writeFileSync(join(folder, `${name}.new`), text);
    renameSync(join(folder, `${name}.new`), join(folder, name));
  };

  test('OAU-14 are read again when they change, and what is open with the old one ends', async (context) => {
    const own = stopAfter(context);
    const upstream = own(await startHolding());
    const folder = makeFolder();
    put(folder, 'ci.token', 'first-token-of-ci\n');
    put(folder, 'looker.secret', 'first-secret\n');
    const gateway = own(await startGateway({
      folder,
      upstreams: [{ name: 'up', url: upstream.url }],
      auth: { anonymous: 'never' },
      tokens: [{ name: 'ci', token_file: 'ci.token' }],
      admin: { keys: [{ name: 'looker', secret_file: 'looker.secret', role: 'viewer' }] },
      env
    }));
    const admin = (secret, method = 'GET') => fetch(new URL('/admin/tokens', gateway.url), { method, headers: { 'x-admin-secret': secret }, body: method === 'POST' ? '{"name":"x"}' : undefined });
    assert.equal(await statusFor(gateway, 'first-token-of-ci'), 200);
    assert.equal((await admin('first-secret')).status, 200);
    assert.equal((await admin('first-secret', 'POST')).status, 403);
    const stream = await listen(gateway, 'first-token-of-ci');
    put(folder, 'ci.token', 'second-token-of-ci\n');
    await eventually('the new token works', async () => (await statusFor(gateway, 'second-token-of-ci')) === 200);
    assert.equal(await statusFor(gateway, 'first-token-of-ci'), 401);
    assert.equal((await stream.next()).value.method, 'notifications/cancelled');
    put(folder, 'looker.secret', 'second-secret\n');
    await eventually('the new secret works', async () => (await admin('second-secret')).status === 200);
    assert.equal((await admin('first-secret')).status, 401);
  });
});
