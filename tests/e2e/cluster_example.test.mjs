// examples/cluster is started as its reader starts it, and ended by Ctrl-C.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

import { CLIENTS, Session } from './support/clients.mjs';
import { freePort } from './support/free_port.mjs';
import { hasPostgres } from './support/postgres.mjs';
import { eventually, program, root, within } from './support/programs.mjs';

const missing = !(hasPostgres && existsSync('/usr/sbin/nginx')) && 'PostgreSQL 15 or nginx is not installed';

test('REP-01 REP-02 examples/cluster: one command starts three processes that serve as one, and Ctrl-C ends everything', { skip: missing }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'proteus-example-'));
  chmodSync(folder, 0o711); // PostgreSQL may run as another user
  const port = await freePort();
  const env = { ...process.env, PORT: String(port), TMPDIR: folder, PROTEUS_BIN: dirname(program('proteus')) };
  // In a group of its own, as a terminal has it.
  const child = spawn(join(root, 'examples/cluster/run.sh'), [], { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let shown = '';
  let said = '';
  child.stdout.on('data', (data) => (shown += data));
  child.stderr.on('data', (data) => (said += data));
  const ended = new Promise((done) => child.once('exit', (code, signal) => done(signal ?? code)));
  try {
    await eventually('started', () => {
      assert.equal(child.exitCode, null, said);
      return shown.includes('Ctrl-C ends all of it');
    }, 60_000);
    const url = `http://127.0.0.1:${port}/mcp`;
    assert.ok(shown.includes(url), shown);
    // What it says to type.
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
    assert.equal(registered.headers.get('proteus-applied'), '3/3');
    const { processes } = await (await fetch(new URL('/admin/processes', url), { headers })).json();
    assert.deepEqual(processes.map(({ name, live }) => [name, live]).sort(), [['one', true], ['three', true], ['two', true]]);
  } finally {
    // To all of its group, as Ctrl-C does.
    if (child.exitCode === null) process.kill(-child.pid, 'SIGINT');
    assert.equal(await within(30_000, 'the end', ended), 0, said);
  }
  assert.deepEqual(readdirSync(folder), [], 'files were left');
  rmSync(folder, { recursive: true });
});
