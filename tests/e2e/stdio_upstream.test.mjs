// An upstream in another language that the gateway runs: Python, with only its standard library.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { CLIENTS, Session, textOf } from './support/clients.mjs';
import { startGateway } from './support/gateway.mjs';
import { root } from './support/programs.mjs';
import { runningPrograms } from './support/programs_of_suite.mjs';

const FIXTURE = join(root, 'tests/fixtures/stdio_server.py');

function childrenOf(pid) {
  const threads = readdirSync(`/proc/${pid}/task`);
  const ids = threads.flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' '));
  return ids.filter(Boolean).map(Number);
}

describe('a stdio upstream that never stops talking', () => {
  test('SEC-03 gets few lines of the log, with its name, and one that says how many were left out', async () => {
    const chatty = { name: 'chatty', command: ['python3', FIXTURE, '--era', 'legacy', '--fault', 'chatter'] };
    const gateway = await startGateway({ upstreams: [chatty], server: { threads: 1 } });
    await gateway.stop();
    const lines = gateway.log().split('\n');
    const printed = lines.filter((line) => line.includes('chatty: doing something'));
    const ignored = lines.filter((line) => line.includes('upstream chatty: ignored'));
    // The gateway starts a program once to inspect it, and perhaps once more.
    for (const kind of [printed, ignored]) assert.ok(kind.length > 0 && kind.length <= 130, `${kind.length} lines`);
    const missing = lines.map((line) => /chatty: (\d+) more lines|unwritten=(\d+)/.exec(line)).filter(Boolean);
    assert.ok(missing.reduce((sum, [, last, before]) => sum + Number(last ?? before), 0) > 30_000);
    assert.ok(gateway.log().length < 200_000, `${gateway.log().length} bytes`);
  });
});

for (const era of ['legacy', 'modern']) {
  for (const client of CLIENTS) {
    describe(`${client.name}, a ${era} stdio upstream in Python`, () => {
      let gateway;
      let live;
      runningPrograms(async (programs) => {
        const upstream = { name: 'python', command: ['python3', FIXTURE, '--era', era], anonymous_sessions: 'shared' };
        gateway = await startGateway({ upstreams: [upstream], server: { threads: 1 } });
        programs.push(gateway);
        live = await startGateway({ upstreams: [{ ...upstream, refresh_strategy: 'direct_proxy' }], server: { threads: 1 } });
        programs.push(live);
      });
      const using = async ({ url }, body) => {
        const session = await Session.open(client, { url });
        try {
          await body(session);
        } finally {
          await session.close();
        }
      };

      test('REF-28 PRO-14 its tools are listed, all pages of them, and can be called', () =>
        using(gateway, async (session) => {
          const names = await session.toolNames();
          assert.ok(names.length > 5);
          for (const name of ['python_echo', 'python_odd']) assert.ok(names.includes(name), name);
          assert.deepEqual(JSON.parse(textOf(await session.call('python_echo', { text: 'grüße' }))), { text: 'grüße' });
          await assert.rejects(session.call('python_nothing'), (error) => error.code === -32602);
        }));

      test('REF-28 REF-16 a tool that it adds is announced, listed and callable', () =>
        using(gateway, async (session) => {
          const changes = session.notifications('notifications/tools/list_changed');
          await session.listenForChanges();
          assert.ok(!(await session.toolNames()).includes('python_new'));
          // A legacy program runs once for the gateway itself and once for each session. Now this session has its own.
          await session.call('python_echo');
          for (const child of childrenOf(gateway.pid)) process.kill(child, 'SIGUSR1');
          await changes.next();
          assert.ok((await session.toolNames()).includes('python_new'));
          assert.match(textOf(await session.call('python_new')), /new/);
        }));

      test('REF-28 PRX-03 listed live, a tool that a call adds is in the very next list', () =>
        using(live, async (session) => {
          const all = async () => {
            const names = [];
            for (let cursor; ; ) {
              const page = await session.client.listTools(cursor === undefined ? {} : { cursor });
              names.push(...page.tools.map((tool) => tool.name));
              cursor = page.nextCursor;
              if (cursor === undefined) return names;
            }
          };
          assert.ok(!(await all()).includes('python_new'));
          await session.call('python_change');
          assert.ok((await all()).includes('python_new'));
          assert.match(textOf(await session.call('python_new')), /new/);
        }));
    });
  }
}
