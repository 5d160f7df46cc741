// The gateway on standard input and output, with the official stdio transports.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { makeFolder, run } from './support/children.mjs';
import { CLIENTS, Session, textOf } from './support/clients.mjs';
import { configuration } from './support/gateway.mjs';
import { program, startServer } from './support/programs.mjs';
import { runningPrograms, stopAfter } from './support/programs_of_suite.mjs';

for (const client of CLIENTS) {
  describe(`proteus stdio, ${client.name}`, () => {
    let folder;
    let server;
    runningPrograms(async (programs) => {
      server = await startServer('everything-server', ['--port', '0', '--era', client.era]);
      programs.push(server);
      folder = makeFolder();
      const upstreams = [{ name: 'all', url: server.url, prefix: '', fail_fast_on_startup: false }];
      writeFileSync(join(folder, 'proteus.toml'), configuration({ upstreams, log: { level: 'debug' } }));
    });

    // PRO-14
    test('lists, calls, reports progress and tells of changes', async (context) => {
      const own = stopAfter(context);
      const args = ['stdio', '--config', join(folder, 'proteus.toml'), '--data', join(folder, 'data')];
      const session = own(await Session.open(client, { command: program('proteus'), args }));
      assert.ok((await session.toolNames()).includes('test_simple_text'));
      assert.match(textOf(await session.call('test_simple_text')), /simple text/);
      const seen = [];
      await session.call('test_tool_with_progress', {}, { onprogress: (progress) => seen.push(progress.progress) });
      assert.ok(seen.length > 0);
      await session.listenForChanges();
      const changes = session.notifications('notifications/tools/list_changed');
      await session.call('test_trigger_tool_change');
      await changes.next();
    });
  });
}

/** Runs `proteus` with this input to its end; the result is as for `run`. */
const runToEnd = (args, input = '') => run(program('proteus'), args, { input });

/** Returns JSON-RPC messages as lines. */
const linesOf = (messages) => messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('');

describe('proteus stdio', () => {
  const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };

  // PRO-14, OPS-05
  test('writes nothing but messages to its output, ends with its input, and logs to standard error', async () => {
    const folder = makeFolder();
    writeFileSync(
      join(folder, 'proteus.toml'),
      configuration({ upstreams: [{ name: 'away', url: 'http://127.0.0.1:1/mcp', fail_fast_on_startup: false }], log: { format: 'json' } })
    );
    const requests = [
      { id: 1, method: 'initialize', params: hello },
      { id: 2, method: 'tools/list' }
    ];
    const { code, stdout, stderr } = await runToEnd(['stdio', '--config', join(folder, 'proteus.toml'), '--data', join(folder, 'data')], linesOf(requests));
    assert.equal(code, 0, stderr);
    const messages = stdout.trim().split('\n').map((line) => JSON.parse(line));
    assert.deepEqual(messages.map((message) => message.id), [1, 2]);
    assert.equal(messages[0].result.serverInfo.name, 'proteus');
    const lines = stderr.trim().split('\n').map((line) => JSON.parse(line));
    assert.ok(lines.some((line) => line.module === 'client' && /away/.test(line.message)));
  });

  // PRO-19
  test('answers what is under way when its input ends', async (context) => {
    const own = stopAfter(context);
    const server = own(await startServer('everything-server', ['--port', '0']));
    const folder = makeFolder();
    const upstreams = [{ name: 'all', url: server.url, prefix: '', refresh_strategy: 'direct_proxy' }];
    writeFileSync(join(folder, 'proteus.toml'), configuration({ upstreams }));
    const requests = [
      { id: 1, method: 'initialize', params: hello },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/list' },
      { id: 3, method: 'tools/call', params: { name: 'test_tool_with_progress', arguments: {} } }
    ];
    const { code, stdout, stderr } = await runToEnd(['stdio', '--config', join(folder, 'proteus.toml'), '--data', join(folder, 'data')], linesOf(requests).trimEnd());
    assert.equal(code, 0, stderr);
    const answers = stdout.trim().split('\n').map((line) => JSON.parse(line));
    assert.deepEqual(answers.map((answer) => answer.id).sort(), [1, 2, 3]);
    assert.ok(answers.every((answer) => answer.result));
  });

  // CTX-17, PRO-14
  test('--context puts the client into a context, and names those there are where it is unknown', async (context) => {
    const own = stopAfter(context);
    const server = own(await startServer('everything-server', ['--port', '0']));
    const folder = makeFolder();
    const upstreams = [{ name: 'all', url: server.url, prefix: '', fail_fast_on_startup: false }];
    const contexts = { notes: { include: ['test_simple_*'], tool_supplements: { test_simple_text: 'Only here.' } }, other: {} };
    writeFileSync(join(folder, 'proteus.toml'), configuration({ upstreams, contexts }));
    const args = ['stdio', '--config', join(folder, 'proteus.toml'), '--data', join(folder, 'data'), '--context'];
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
    const { code, stderr } = await runToEnd([...args, 'note']);
    assert.equal(code, 2);
    assert.match(stderr, /there is no context note; did you mean notes\?/);
    assert.match((await runToEnd([...args, 'elsewhere'])).stderr, /there is no context elsewhere; there are: notes, other/);
  });

  test('says what is wrong with a configuration, and ends with 2', async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'proteus.toml'), '[log]\nlevel = "loud"\nmodules = { gatway = "debug" }\n');
    const { code, stderr } = await runToEnd(['stdio', '--config', join(folder, 'proteus.toml')]);
    assert.equal(code, 2);
    assert.match(stderr, /log\.level/);
    assert.match(stderr, /gatway/);
  });
});
