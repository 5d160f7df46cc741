// What an operator sees of a gateway: refusals, certificates, the log, outcomes; and the error of scripts/run.sh.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { describe, test } from 'node:test';

import { makeFolder, run } from './support/children.mjs';
import { startFakeUpstream } from './support/fake_upstream.mjs';
import { configuration, startGateway } from './support/gateway.mjs';
import { eventually, program, root } from './support/programs.mjs';
import { stopAfter } from './support/programs_of_suite.mjs';
import { send } from './support/raw.mjs';

/** Returns the value of a metric; undefined if there is none. */
async function metric(gateway, line) {
  const text = await (await fetch(new URL('/metrics', gateway.url))).text();
  const found = text.split('\n').find((one) => one.startsWith(`${line} `));
  return found === undefined ? undefined : Number(found.slice(line.length + 1));
}

describe('refused requests', () => {
  // OPS-10
  test('OPS-10 are counted by reason and logged, within bounds and without secrets', async (context) => {
    const own = stopAfter(context);
    const env = { ADA: 'ada-token', PROTEUS_ADMIN_SECRET: 'right-secret' };
    const gateway = own(await startGateway({
      tokens: [{ name: 'ada', token_env: 'ADA', contexts: ['one'] }],
      contexts: { one: {}, two: {} },
      limits: { requests_per_minute: 1 },
      env
    }));
    const status = async (response) => (await response).status;
    const admin = new URL('/admin', gateway.url);
    for (let i = 0; i < 50; ++i) assert.equal(await status(send(gateway.url, 'tools/list', {}, { token: 'wrong-token' })), 401);
    assert.equal(await status(fetch(admin, { headers: { 'x-admin-secret': 'wrong-secret' } })), 401);
    assert.equal(await status(send(gateway.url, 'tools/list', {}, { headers: { origin: 'https://evil.example' } })), 403);
    const { port } = new URL(gateway.url);
    const host = await new Promise((done, failed) =>
      request({ port, path: '/mcp', method: 'POST', headers: { host: 'evil.example' } }, (answer) => done(answer.resume().statusCode)).on('error', failed).end()
    );
    assert.equal(host, 403);
    assert.equal(await status(send(`${gateway.url}/two`, 'tools/list', {}, { token: env.ADA })), 404);
    assert.equal(await status(send(`${gateway.url}/one`, 'tools/list', {}, { token: env.ADA })), 200);
    assert.equal(await status(send(`${gateway.url}/one`, 'tools/list', {}, { token: env.ADA })), 429);

    const expected = { token: 50, admin_secret: 1, origin: 1, host: 1, context: 1, limit: 1, malformed: 0 };
    for (const [reason, count] of Object.entries(expected)) {
      assert.equal(await metric(gateway, `proteus_refusals_total{reason="${reason}"}`), count, reason);
      assert.equal(new RegExp(`a request was refused reason=${reason} `).test(gateway.log()), count > 0, reason);
    }
    assert.ok(gateway.log().match(/reason=token/g).length <= 11);
    assert.match(gateway.log(), /reason=context why="the principal may not enter it" .*principal=ada/);
    for (const secret of ['wrong-token', 'wrong-secret', ...Object.values(env)]) assert.ok(!gateway.log().includes(secret));
  });
});

/** Makes a self-signed certificate and its key. */
function makeCertificate(folder) {
  mkdirSync(folder);
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
  const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', '/CN=localhost'];
  execFileSync('openssl', [...args, '-keyout', key, '-out', certificate], { stdio: 'ignore' });
  const fingerprint = execFileSync('openssl', ['x509', '-in', certificate, '-noout', '-fingerprint', '-sha256'], { encoding: 'utf8' });
  return { certificate, key, fingerprint: fingerprint.trim().split('=')[1] };
}

/** Returns the fingerprint of the certificate that a new connection gets. */
function served(gateway) {
  return new Promise((done, failed) => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(gateway.url).port), rejectUnauthorized: false }, () => {
      done(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.on('error', failed);
  });
}

describe('certificates', () => {
  // OPS-13
  test('OPS-13 that are renewed on disk are served from the next handshake on; a pair that does not fit is refused', async (context) => {
    const own = stopAfter(context);
    const folder = makeFolder();
    const [first, second, third] = ['first', 'second', 'third'].map((name) => makeCertificate(join(folder, name)));
    const live = { certificate: join(folder, 'live.pem'), key: join(folder, 'live.key') };
    const put = (from, to) => {
      copyFileSync(from, `${to}.new`);
      renameSync(`${to}.new`, to);
    };
    put(first.certificate, live.certificate);
    put(first.key, live.key);
    const gateway = own(await startGateway({ folder, server: { tls: live } }));
    assert.equal(await served(gateway), first.fingerprint);

    put(second.certificate, live.certificate);
    await eventually('it says that the pair does not fit', () => /the one before stays: key .*mismatch/.test(gateway.log()));
    assert.equal(await served(gateway), first.fingerprint);
    put(second.key, live.key);
    await eventually('it is renewed by itself', async () => (await served(gateway)) === second.fingerprint);
    await eventually('it says so', () => /the certificate on disk is served from now on/.test(gateway.log()));

    writeFileSync(live.certificate, 'nonsense');
    gateway.signal('SIGHUP');
    await eventually('it says that the file is broken', () => /the one before stays: certificate /.test(gateway.log()));
    assert.equal(await served(gateway), second.fingerprint);

    put(third.key, live.key);
    put(third.certificate, live.certificate);
    gateway.signal('SIGHUP');
    await eventually('it is renewed on SIGHUP', async () => (await served(gateway)) === third.fingerprint);
  });

  // OPS-14
  test('OPS-14 `check` and `serve` refuse files that are absent or do not fit, and say where they are named', async () => {
    const folder = makeFolder();
    const [first, second] = ['first', 'second'].map((name) => makeCertificate(join(folder, name)));
    const file = join(folder, 'proteus.toml');
    const outcome = (command, tls) => {
      writeFileSync(file, configuration({ server: { tls } }));
      return run(program('proteus'), [command, '--config', file, ...(command === 'serve' ? ['--data', join(folder, 'data')] : [])]);
    };
    assert.equal((await outcome('check', { certificate: first.certificate, key: first.key })).code, 0);
    for (const command of ['check', 'serve']) {
      const mismatched = await outcome(command, { certificate: first.certificate, key: second.key });
      assert.equal(mismatched.code, 2);
      assert.match(mismatched.stderr, /proteus\.toml:\d+:\d+: server\.tls: key .*mismatch/);
      const absent = await outcome(command, { certificate: 'nowhere.pem', key: first.key });
      assert.equal(absent.code, 2);
      assert.match(absent.stderr, /proteus\.toml:\d+:\d+: server\.tls: certificate .*nowhere\.pem: No such file or directory/);
    }
  });
});

describe('the log', () => {
  // OPS-12
  test('OPS-12 is JSON line by line, also where a configuration is refused', async (context) => {
    const own = stopAfter(context);
    const upstream = own(await startFakeUpstream(['a']));
    const gateway = own(await startGateway({ upstreams: [{ name: 'up', url: upstream.url }], log: { format: 'json' } }));
    const lines = (log) => log.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line));
    gateway.write(`${configuration({ log: { format: 'json' } })}\nnonsense = 1\n`);
    await eventually('the fault is reported', () => /the old one stays/.test(gateway.log()));
    const fault = lines(gateway.log()).find((line) => line.key?.endsWith('nonsense'));
    assert.equal(fault.level, 'error');
    assert.match(fault.file, /proteus\.toml$/);
    assert.ok(Number(fault.line) > 0);
    gateway.write('this is = no TOML at all =');
    await eventually('that is reported, too', () => gateway.log().match(/the old one stays/g).length > 1);
    lines(gateway.log());

    const file = join(gateway.folder, 'other.toml');
    writeFileSync(file, `[log]\nformat = "json"\n[server]\nlisten = "127.0.0.1:${new URL(gateway.url).port}"\n`);
    const occupied = await run(program('proteus'), ['serve', '--config', file, '--data', join(gateway.folder, 'other')]);
    assert.equal(occupied.code, 1);
    assert.match(lines(occupied.stderr).at(-1).message, /cannot listen/);
    writeFileSync(file, '[log]\nformat = "json"\n[server]\nlisen = ""\n');
    const refused = await run(program('proteus'), ['serve', '--config', file, '--data', join(gateway.folder, 'other')]);
    assert.equal(refused.code, 2);
    assert.equal(lines(refused.stderr)[0].key, 'server.lisen');
  });

  // OPS-15
  test('OPS-15 has a line for an upstream that joins, fails, is back and leaves, and no warning for what is normal', async (context) => {
    const own = stopAfter(context);
    const tools = ['a', 'b'];
    const upstream = own(await startFakeUpstream(tools));
    const { url } = upstream;
    const up = { name: 'up', url, auto_refresh: true, refresh_interval: '200ms', health_interval: '200ms' };
    const gateway = own(await startGateway({ upstreams: [up], log: { format: 'json' } }));
    const said = (pattern) => {
      const all = gateway.log().split('\n').filter((line) => line !== '').map((line) => JSON.parse(line));
      return all.filter((line) => pattern.test(line.message));
    };
    assert.deepEqual(said(/^upstream up joined: 2 tools, 0 prompts, 0 resources$/).map((line) => line.level), ['info']);
    await upstream.stop();
    await eventually('it fails', () => said(/^upstream up (cannot be read|does not answer)/).length > 0);
    own(await startFakeUpstream(tools, undefined, Number(new URL(url).port)));
    await eventually('it is back', () => said(/^upstream up is back/).length > 0);
    assert.equal(said(/^upstream up is back/).length, 1);
    gateway.reconfigure({ upstreams: [] });
    await eventually('it leaves', () => said(/^upstream up left$/).length === 1);
    assert.deepEqual(said(/answer to no request/), []);
  });

  // OPS-11
  test('OPS-11 and the metrics tell a failure of a tool from a result', async (context) => {
    const own = stopAfter(context);
    const upstream = own(await startFakeUpstream(['try'], ({ arguments: { fail } }) => ({ content: [], ...(fail ? { isError: true } : {}) })));
    const gateway = own(await startGateway({ upstreams: [{ name: 'up', url: upstream.url }], log: { level: 'debug' } }));
    const call = async (fail) => (await send(gateway.url, 'tools/call', { name: 'up_try', arguments: { fail } })).json();
    assert.equal((await call(false)).result.isError, undefined);
    assert.equal((await call(true)).result.isError, true);
    for (const outcome of ['ok', 'tool_error']) {
      assert.equal(await metric(gateway, `proteus_requests_total{method="tools/call",era="modern",outcome="${outcome}"}`), 1);
      assert.equal(await metric(gateway, `proteus_upstream_requests_total{upstream="up",outcome="${outcome}"}`), 1);
      await eventually(`the log has ${outcome}`, () => new RegExp(`answered .*method=tools/call .*outcome=${outcome} `).test(gateway.log()));
    }
  });
});

describe('scripts/run.sh', () => {
  test('says what is wrong where its port is taken, and starts nothing', async (context) => {
    const taken = createServer();
    await new Promise((ready) => taken.listen(0, '127.0.0.1', ready));
    context.after(() => new Promise((closed) => taken.close(closed)));
    const folder = makeFolder();
    const port = String(taken.address().port);
    const { code, stderr } = await run(join(root, 'scripts/run.sh'), [], { env: { PORT: port, PROTEUS_DATA: join(folder, 'data') } });
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`^error: port ${port} is in use`));
  });
});
