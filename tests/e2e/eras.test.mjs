// Which era a client and the fixture find together.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { CLIENTS, DETECTING, Session, textOf } from './support/clients.mjs';
import { startServer } from './support/programs.mjs';

const [v1Legacy, , v2Modern] = CLIENTS;

async function using(client, target, body) {
  const session = await Session.open(client, target);
  try {
    return await body(session);
  } finally {
    await session.close();
  }
}

/** Connecting fails; a client that gets through all the same is closed, so that the test fails instead of hanging. */
async function refused(client, target) {
  await assert.rejects(Session.open(client, target).then((session) => session.close()));
}

for (const era of ['legacy', 'modern', 'both']) {
  describe(`a server with --era ${era}`, () => {
    let server;
    before(async () => {
      server = await startServer('everything-server', ['--port', '0', '--era', era]);
    });
    after(() => server?.stop());

    const targets = [
      { name: 'HTTP', id: 'PRO-01', target: () => ({ url: server.url }) },
      { name: 'stdio', id: 'PRO-14', target: () => ({ stdio: ['--era', era] }) }
    ];
    for (const { name, id, target } of targets) {
      test(`${id} a client that detects eras finds it over ${name}`, () =>
        using(DETECTING, target(), async (session) => {
          assert.equal(session.client.getProtocolEra(), era === 'legacy' ? 'legacy' : 'modern');
          assert.match(textOf(await session.call('test_simple_text')), /\S/);
        }));

      if (era === 'modern') {
        test(`a legacy client is refused over ${name}`, () => refused(v1Legacy, target()));
      }
      if (era === 'legacy') {
        test(`a modern client is refused over ${name}`, () => refused(v2Modern, target()));
      }
    }
  });
}

test('PRO-01 one endpoint serves both eras at once, and a change reaches clients of both', async () => {
  const server = await startServer('everything-server', ['--port', '0', '--era', 'both']);
  try {
    await using(v1Legacy, { url: server.url }, (legacy) =>
      using(v2Modern, { url: server.url }, async (modern) => {
        const seen = [legacy, modern].map((session) => session.notifications('notifications/tools/list_changed'));
        await legacy.listenForChanges();
        await modern.listenForChanges();
        for (const session of [legacy, modern]) {
          const before = await session.toolNames();
          await session.call('test_trigger_tool_change');
          await Promise.all(seen.map((changes) => changes.next()));
          const [asLegacy, asModern] = await Promise.all([legacy.toolNames(), modern.toolNames()]);
          assert.deepEqual(asLegacy, asModern);
          assert.notDeepEqual(asLegacy, before);
        }
      })
    );
  } finally {
    await server.stop();
  }
});

test('PRO-02 each legacy revision is negotiated, and an unknown one is answered with 2025-11-25', async () => {
  const server = await startServer('everything-server', ['--port', '0', '--era', 'both']);
  try {
    const revisions = { '2025-11-25': '2025-11-25', '2025-06-18': '2025-06-18', '2025-03-26': '2025-03-26', '1999-01-01': '2025-11-25' };
    for (const [asked, answered] of Object.entries(revisions)) {
      const response = await fetch(server.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 'an-id',
          method: 'initialize',
          params: { protocolVersion: asked, capabilities: {}, clientInfo: { name: 'raw', version: '1' } }
        })
      });
      assert.equal(response.status, 200);
      assert.match(response.headers.get('mcp-session-id'), /^[\x21-\x7e]+$/);
      const body = await response.text();
      const message = JSON.parse(/^data: ?(\{.*)$/m.exec(body)?.[1] ?? body);
      assert.equal(message.id, 'an-id');
      assert.equal(message.result.protocolVersion, answered);
    }
  } finally {
    await server.stop();
  }
});
