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

/** Runs `proteus` without input; gives its exit code and what it wrote to standard error. */
async function runToEnd(args) {
  const child = spawn(program('proteus'), args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.on('data', (data) => (log += data));
  const code = await within(20_000, 'the end', new Promise((done) => child.once('close', done)));
  return { code, log };
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
    assert.ok(lines.some((line) => line.module === 'client' && /away/.test(line.message)));
    forget();
  });

  // PRO-19
  test('answers what is under way when its input ends', async () => {
    const server = await startServer('everything-server', ['--port', '0']);
    const { folder, forget } = makeFolder();
    const upstreams = [{ name: 'all', url: server.url, prefix: '', refresh_strategy: 'direct_proxy' }];
    writeFileSync(join(folder, 'proteus.toml'), configuration({ upstreams }));
    const requests = [
      { id: 1, method: 'initialize', params: hello },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/list' },
      { id: 3, method: 'tools/call', params: { name: 'test_tool_with_progress', arguments: {} } }
    ];
    const child = spawn(program('proteus'), ['stdio', '--config', join(folder, 'proteus.toml'), '--data', join(folder, 'data')]);
    try {
      let out = '';
      child.stdout.on('data', (data) => (out += data));
      child.stderr.resume();
      const ended = new Promise((done) => child.once('close', done));
      child.stdin.end(requests.map((request) => JSON.stringify({ jsonrpc: '2.0', ...request })).join('\n'));
      assert.equal(await within(20_000, 'the end', ended), 0);
      const answers = out.trim().split('\n').map((line) => JSON.parse(line));
      assert.deepEqual(answers.map((answer) => answer.id).sort(), [1, 2, 3]);
      assert.ok(answers.every((answer) => answer.result));
    } finally {
      child.kill('SIGKILL');
      await server.stop();
      forget();
    }
  });

  // CTX-17, PRO-14
  test('--context puts the client into a context, and names those there are where it is unknown', async () => {
    const server = await startServer('everything-server', ['--port', '0']);
    const { folder, forget } = makeFolder();
    const upstreams = [{ name: 'all', url: server.url, prefix: '', fail_fast_on_startup: false }];
    const contexts = { notes: { include: ['test_simple_*'], tool_supplements: { test_simple_text: 'Only here.' } }, other: {} };
    writeFileSync(join(folder, 'proteus.toml'), configuration({ upstreams, contexts }));
    const args = ['stdio', '--config', join(folder, 'proteus.toml'), '--data', join(folder, 'data'), '--context'];
    try {
      for (const client of CLIENTS) {
        const session = await Session.open(client, { command: program('proteus'), args: [...args, 'notes'] });
        try {
          const { tools } = await session.client.listTools();
          assert.deepEqual(tools.map((tool) => tool.name), ['test_simple_text']);
          assert.match(tools[0].description, /Only here\.$/);
          assert.match(textOf(await session.call('test_simple_text')), /simple text/);
        } finally {
          await session.close();
        }
      }
      const { code, log } = await runToEnd([...args, 'note']);
      assert.equal(code, 2);
      assert.match(log, /there is no context note; did you mean notes\?/);
      assert.match((await runToEnd([...args, 'elsewhere'])).log, /there is no context elsewhere; there are: notes, other/);
    } finally {
      await server.stop();
      forget();
    }
  });

  test('says what is wrong with a configuration, and ends with 2', async () => {
    const { folder, forget } = makeFolder();
    writeFileSync(join(folder, 'proteus.toml'), '[log]\nlevel = "loud"\nmodules = { gatway = "debug" }\n');
    const { code, log } = await runToEnd(['stdio', '--config', join(folder, 'proteus.toml')]);
    assert.equal(code, 2);
    assert.match(log, /log\.level/);
    assert.match(log, /gatway/);
    forget();
  });
});
