// The gateway on standard input and output, with the official stdio transports.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { CLIENTS, Session, textOf } from './support/clients.mjs';
import { configuration, makeFolder } from './support/gateway.mjs';
import { program, startServer, within } from './support/programs.mjs';
import { runningPrograms } from './support/programs_of_suite.mjs';

for (const client of CLIENTS) {
  describe(`proteus stdio, ${client.name}`, () => {
    let folder;
    let server;
    runningPrograms(async (programs) => {
      server = await startServer('everything-server', ['--port', '0', '--era', client.era]);
      programs.push(server);
      const made = makeFolder();
      folder = made.folder;
      programs.push({ stop: async () => made.forget() });
      const upstreams = [{ name: 'all', url: server.url, prefix: '', fail_fast_on_startup: false }];
      writeFileSync(join(folder, 'proteus.toml'), configuration({ upstreams, log: { level: 'debug' } }));
    });

    // PRO-14
    test('lists, calls, reports progress and tells of changes', async () => {
      const args = ['stdio', '--config', join(folder, 'proteus.toml'), '--data', join(folder, 'data')];
      const session = await Session.open(client, { command: program('proteus'), args });
      try {
        assert.ok((await session.toolNames()).includes('test_simple_text'));
        assert.match(textOf(await session.call('test_simple_text')), /simple text/);
        const seen = [];
        await session.call('test_tool_with_progress', {}, { onprogress: (progress) => seen.push(progress.progress) });
        assert.ok(seen.length > 0);
        await session.listenForChanges();
        const changes = session.notifications('notifications/tools/list_changed');
        await session.call('test_trigger_tool_change');
        await changes.next();
      } finally {
        await session.close();
      }
    });
  });
}

describe('proteus stdio', () => {
  const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };

  // PRO-14, OPS-05
  test('writes nothing but messages to its output, ends with its input, and logs to standard error', async () => {
    const { folder, forget } = makeFolder();
    writeFileSync(
      join(folder, 'proteus.toml'),
      configuration({ upstreams: [{ name: 'away', url: 'http://127.0.0.1:1/mcp', fail_fast_on_startup: false }], log: { format: 'json' } })
    );
    const child = spawn(program('proteus'), ['stdio', '--config', join(folder, 'proteus.toml'), '--data', join(folder, 'data')]);
    let out = '';
    let log = '';
    child.stdout.on('data', (data) => (out += data));
    child.stderr.on('data', (data) => (log += data));
    const ended = new Promise((done) => child.once('exit', done));
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: hello })}\n`);
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' })}\n`);
    child.stdin.end();
    assert.equal(await within(20_000, 'the end', ended), 0);
    const messages = out.trim().split('\n').map((line) => JSON.parse(line));
    assert.deepEqual(messages.map((message) => message.id), [1, 2]);
    assert.equal(messages[0].result.serverInfo.name, 'proteus');
    const lines = log.trim().split('\n').map((line) => JSON.parse(line));
    assert.ok(lines.some((line) => line.module === 'providers' && /away/.test(line.message)));
    forget();
  });

  test('says what is wrong with a configuration, and ends with 2', async () => {
    const { folder, forget } = makeFolder();
    writeFileSync(join(folder, 'proteus.toml'), '[log]\nlevel = "loud"\nmodules = { gatway = "debug" }\n');
    const child = spawn(program('proteus'), ['stdio', '--config', join(folder, 'proteus.toml')], { stdio: ['ignore', 'ignore', 'pipe'] });
    let log = '';
    child.stderr.on('data', (data) => (log += data));
    assert.equal(await within(20_000, 'the end', new Promise((done) => child.once('exit', done))), 2);
    assert.match(log, /log\.level/);
    assert.match(log, /gatway/);
    forget();
  });
});
