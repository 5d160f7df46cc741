// An upstream in another language, run by the gateway: Python, with nothing but its standard library.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { CLIENTS, Session, textOf } from './support/clients.mjs';
import { startGateway } from './support/gateway.mjs';
import { root } from './support/programs.mjs';
import { runningPrograms } from './support/programs_of_suite.mjs';

const FIXTURE = join(root, 'tests/fixtures/stdio_server.py');

for (const era of ['legacy', 'modern']) {
  for (const client of CLIENTS) {
    describe(`${client.name}, a ${era} stdio upstream in Python`, () => {
      const target = {};
      runningPrograms(async (programs) => {
        const upstream = { name: 'python', command: ['python3', FIXTURE, '--era', era] };
        programs.push(await startGateway({ upstreams: [upstream] }));
        target.url = programs[0].url;
      });
      const using = async (body) => {
        const session = await Session.open(client, target);
        try {
          await body(session);
        } finally {
          await session.close();
        }
      };

      test('REF-28 PRO-14 its tools are listed, all pages of them, and can be called', () =>
        using(async (session) => {
          const names = await session.toolNames();
          assert.ok(names.length > 5);
          for (const name of ['python_echo', 'python_odd']) assert.ok(names.includes(name), name);
          assert.deepEqual(JSON.parse(textOf(await session.call('python_echo', { text: 'grüße' }))), { text: 'grüße' });
          await assert.rejects(session.call('python_nothing'), (error) => error.code === -32602);
        }));

      test('REF-28 REF-16 a tool that it adds is announced, listed and callable', () =>
        using(async (session) => {
          const changes = session.notifications('notifications/tools/list_changed');
          await session.listenForChanges();
          assert.ok(!(await session.toolNames()).includes('python_new'));
          await session.call('python_change');
          await changes.next();
          assert.ok((await session.toolNames()).includes('python_new'));
          assert.match(textOf(await session.call('python_new')), /new/);
        }));
    });
  }
}
