// Sessions of clients, with each request at another process (REP-09, REP-11).
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { CLIENTS, OLD_CLIENT, Session, textOf } from './support/clients.mjs';
import { LegacySession } from './support/legacy_raw.mjs';
import { knowsPeers, startPeer } from './support/peers.mjs';
import { hasPostgres, startPostgres } from './support/postgres.mjs';
import { eventually, startServer, stopAll } from './support/programs.mjs';
import { startRoundRobin } from './support/round_robin.mjs';

const TOKENS = { anna: 'of-anna-and-nobody-else', bert: 'of-bert-and-nobody-else' };

describe('three processes behind a balancer', { skip: !hasPostgres && 'PostgreSQL 15 is not installed' }, () => {
  let postgres;
  const upstreams = [];
  const processes = [];
  let balancer;

  before(async () => {
    postgres = await startPostgres();
    for (const era of ['legacy', 'modern']) upstreams.push(await startServer('everything-server', ['--port', '0', '--era', era]));
    const settings = {
      upstreams: [
        { name: 'old', url: upstreams[0].url },
        { name: 'new', url: upstreams[1].url }
      ],
      tokens: Object.keys(TOKENS).map((name) => ({ name, token_env: `TOKEN_${name}` })),
      server: { old_sse: true },
      env: Object.fromEntries(Object.entries(TOKENS).map(([name, token]) => [`TOKEN_${name}`, token]))
    };
    for (const name of ['one', 'two', 'three']) processes.push(await startPeer(postgres, name, settings));
    balancer = await startRoundRobin(processes.map(({ url }) => url));
    for (const process of processes) await knowsPeers(process, 3);
  });
  after(() => stopAll([postgres, ...upstreams, ...processes, balancer]));

  const using = async (client, body, target = { url: balancer.url, token: TOKENS.anna }) => {
    const session = await Session.open(client, target);
    try {
      await body(session);
    } finally {
      if (session.era === 'legacy') await session.transport.terminateSession?.();
      await session.close();
    }
  };

  for (const client of CLIENTS) {
    for (const upstream of ['old', 'new']) {
      const it = (name, body) => test(`REP-09 ${client.name}, ${upstream} upstream: ${name}`, () => using(client, body));

      it('lists and calls, at every process', async (session) => {
        const before = balancer.sent.length;
        for (let i = 0; i < 6; ++i) {
          assert.ok((await session.toolNames()).includes(`${upstream}_test_simple_text`));
          assert.ok(textOf(await session.call(`${upstream}_test_simple_text`)));
        }
        assert.equal(new Set(balancer.sent.slice(before).map(({ index }) => index)).size, 3);
      });

      it('progress comes with the call', async (session) => {
        const seen = [];
        for (let i = 0; i < 3; ++i) await session.call(`${upstream}_test_tool_with_progress`, {}, { onprogress: ({ progress }) => seen.push(progress) });
        assert.equal(seen.length, 9);
      });

      it('REP-11 questions are asked, and answered at another process', async (session) => {
        const asked = [];
        session.answer('elicitation/create', ({ message }) => {
          asked.push(message);
          return { action: 'accept', content: { username: 'ada', email: 'ada@example.com' } };
        });
        for (let i = 0; i < 3; ++i) assert.match(textOf(await session.call(`${upstream}_test_elicitation`, { message: `Who are you? ${i}` })), /accept/);
        assert.deepEqual(asked, [0, 1, 2].map((i) => `Who are you? ${i}`));
      });

      it('a call is cancelled at another process', async (session) => {
        const count = async () => Number(/\d+/.exec(textOf(await session.call(`${upstream}_test_count_cancelled`)))[0]);
        const before = await count();
        const stop = new AbortController();
        const running = assert.rejects(session.call(`${upstream}_test_wait_until_cancelled`, {}, { signal: stop.signal }));
        await eventually('it runs', () => session.lastSent('tools/call')?.params.name.endsWith('test_wait_until_cancelled'));
        await session.toolNames();
        stop.abort();
        await running;
        await eventually('it was cancelled', async () => (await count()) === before + 1);
      });

      it('hears of changed lists and resources', async (session) => {
        const changed = session.notifications('notifications/tools/list_changed');
        const updated = session.notifications('notifications/resources/updated');
        const uri = (await session.client.listResources()).resources.map((resource) => resource.uri).find((each) => each.includes('watched-resource'));
        await session.listenForChanges({ uris: [uri] });
        await session.call(`${upstream}_test_trigger_tool_change`);
        await changed.next();
        await session.call('old_test_update_resource');
        await session.call('new_test_update_resource');
        assert.equal((await updated.next()).uri, uri);
      });
    }
  }

  for (const client of CLIENTS.filter(({ era }) => era === 'legacy')) {
    test(`REP-09 ${client.name}: the level of its log holds at every process`, () =>
      using(client, async (session) => {
        const logged = session.notifications('notifications/message');
        await session.client.setLoggingLevel('error');
        for (let i = 0; i < 3; ++i) await session.call('old_test_tool_with_logging');
        assert.deepEqual(logged.seen, []);
        await session.client.setLoggingLevel('debug');
        for (let i = 0; i < 3; ++i) await session.call('old_test_tool_with_logging');
        await logged.next();
      }));
  }

  test('REP-09 PRO-22 a client of HTTP+SSE posts to another process than the one that has its stream', () =>
    using(
      OLD_CLIENT,
      async (session) => {
        for (let i = 0; i < 4; ++i) assert.ok(textOf(await session.call('old_test_simple_text')));
      },
      { sse: balancer.url.replace('/mcp', '/sse'), token: TOKENS.anna }
    ));

  test('REP-09 SES-21 a stream is resumed at another process', async () => {
    const [one, two, three] = processes.map(({ url }) => url);
    const session = await LegacySession.open(one, TOKENS.anna);
    const headers = { ...session.headers(TOKENS.anna), 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const call = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'old_test_tool_with_progress', arguments: {}, _meta: { progressToken: 'p' } } };
    const response = await fetch(two, { method: 'POST', headers, body: JSON.stringify(call) });
    assert.equal(response.status, 200);
    const reader = response.body.getReader();
    const first = new TextDecoder().decode((await reader.read()).value);
    await reader.cancel();
    const last = /^id: (\S+)$/m.exec(first)[1];
    assert.match(last, /^\d{10,}-\d+$/);
    const resumed = await (await fetch(three, { headers: { ...session.headers(TOKENS.anna), accept: 'text/event-stream', 'last-event-id': last } })).text();
    assert.match(resumed, /"id":7/);
    // Events of another epoch are those of another process.
    const other = last.replace(/^\d+/, (stream) => String(BigInt(stream) + (1n << 32n)));
    const refused = await fetch(three, { headers: { ...session.headers(TOKENS.anna), accept: 'text/event-stream', 'last-event-id': other } });
    assert.equal(refused.status, 400);
    await refused.text();
    assert.equal((await session.end(TOKENS.anna)).status, 200);
  });

  test('REP-09 a session that was ended at one process is ended at all', async () => {
    const session = await LegacySession.open(processes[0].url, TOKENS.anna);
    // Different ids, because the requests run in one session at the same time.
    const list = async ({ url }, id) => {
      const response = await fetch(url, { method: 'POST', headers: { ...session.headers(TOKENS.anna), 'content-type': 'application/json', accept: 'application/json, text/event-stream' }, body: `{"jsonrpc":"2.0","id":${id},"method":"tools/list"}` });
      await response.text();
      return response.status;
    };
    assert.deepEqual(await Promise.all(processes.map(list)), [200, 200, 200]);
    const ended = await fetch(processes[2].url, { method: 'DELETE', headers: session.headers(TOKENS.anna) });
    assert.equal(ended.status, 200);
    assert.deepEqual(await Promise.all(processes.map(list)), [404, 404, 404]);
  });

  test('REP-09 a forged, truncated or foreign id is unknown, and so is one of another caller', async () => {
    const session = await LegacySession.open(processes[0].url, TOKENS.anna);
    const status = async ({ url }, id, token = TOKENS.anna) => {
      const response = await fetch(url, { method: 'DELETE', headers: { authorization: `Bearer ${token}`, 'mcp-session-id': id } });
      await response.text();
      return response.status;
    };
    const bytes = Buffer.from(session.id, 'base64url');
    const forged = [session.id.slice(0, -1), session.id.slice(4), `${session.id}AAAA`, 'A', '-', Buffer.alloc(400).toString('base64url'), 'x'.repeat(8000)];
    for (let i = 0; i < bytes.length; i += 3) {
      const changed = Buffer.from(bytes);
      changed[i] ^= 1;
      forged.push(changed.toString('base64url'));
    }
    for (const each of processes) {
      for (const id of forged) assert.equal(await status(each, id), 404);
      assert.equal(await status(each, session.id, TOKENS.bert), 404);
    }
    assert.equal((await session.end(TOKENS.anna)).status, 200);
  });
});
