// Runs examples/cluster as a reader would, and ends it with Ctrl-C.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

import { hasNginx } from './support/balancer.mjs';
import { makeFolder, spawnChild } from './support/children.mjs';
import { CLIENTS, Session } from './support/clients.mjs';
import { freePort } from './support/loopback.mjs';
import { hasPostgres } from './support/postgres.mjs';
import { eventually, program, root, within } from './support/programs.mjs';
import { hasRedis } from './support/redis.mjs';

const missing = !(hasPostgres && hasRedis && hasNginx) && 'PostgreSQL 15, Redis or nginx is not installed';

/** Checks that a session survives the kill of its process, which the output of the example suggests to try. */
async function survives(shown) {
  const [, ...args] = /session\.sh (\S+) (\S+)/.exec(shown);
  const child = spawnChild(join(root, 'examples/cluster/session.sh'), args, { env: { ...process.env, PAUSE: '0.1' }, stdio: ['ignore', 'pipe', 'inherit'] });
  let lines = '';
  child.stdout.on('data', (data) => (lines += data));
  const answered = () => lines.match(/ 200 This is a simple text/g)?.length ?? 0;
  try {
    await eventually('it calls', () => answered() >= 3);
    process.kill(Number(/kill -9 (\d+)/.exec(shown)[1]), 'SIGKILL');
    const before = answered();
    await eventually('it goes on', () => answered() >= before + 3);
    assert.equal(child.exitCode, null, lines);
    assert.doesNotMatch(lines, / 404 /);
  } finally {
    child.kill('SIGTERM');
    await child.closed;
  }
}

test('REP-01 REP-02 REP-10 examples/cluster: one command starts three processes that serve as one, and Ctrl-C ends everything', { skip: missing }, async () => {
  const folder = makeFolder('example');
  chmodSync(folder, 0o711); // PostgreSQL may run as another user
  const port = await freePort('127.0.0.1');
  const env = { ...process.env, PORT: String(port), TMPDIR: folder, PROTEUS_BIN: dirname(program('proteus')) };
  // In its own process group, as in a terminal. If this process dies, the example ends everything that it started.
  const child = spawn('setpriv', ['--pdeathsig=INT', join(root, 'examples/cluster/run.sh')], { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let shown = '';
  let said = '';
  child.stdout.on('data', (data) => (shown += data));
  child.stderr.on('data', (data) => (said += data));
  const ended = new Promise((done) => child.once('close', (code, signal) => done(signal ?? code)));
  try {
    await eventually('started', () => {
      assert.equal(child.exitCode, null, said);
      return shown.includes('Ctrl-C ends all of it');
    }, 60_000);
    const url = `http://127.0.0.1:${port}/mcp`;
    assert.ok(shown.includes(url), shown);
    // The command that the output suggests.
    const calls = [...shown.matchAll(/client call (\S+) (\S+)/g)];
    assert.deepEqual(calls.map(([, at]) => at), [url]);
    for (const client of CLIENTS) {
      const session = await Session.open(client, { url });
      try {
        for (let i = 0; i < 4; ++i) assert.match(JSON.stringify(await session.call(calls[0][2])), /text/);
      } finally {
        await session.close();
      }
    }
    const [, secret] = /Admin secret\s+(\S+)/.exec(shown);
    const [, body] = /admin\/upstreams .* -d '([^']+)'/.exec(shown);
    const headers = { 'x-admin-secret': secret };
    const registered = await fetch(new URL('/admin/upstreams', url), { method: 'POST', headers, body });
    assert.equal(registered.status, 201, await registered.text());
    assert.match(registered.headers.get('proteus-applied'), /^[123]\/3$/);
    const { processes } = await (await fetch(new URL('/admin/processes', url), { headers })).json();
    assert.deepEqual(processes.map(({ name, live }) => [name, live]).sort(), [['one', true], ['three', true], ['two', true]]);
    await survives(shown);
  } finally {
    // To the whole process group, as Ctrl-C does.
    if (child.exitCode === null) process.kill(-child.pid, 'SIGINT');
    assert.equal(await within(30_000, 'the end', ended), 0, said);
  }
  assert.deepEqual(readdirSync(folder), [], 'files were left');
});
