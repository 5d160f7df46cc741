// Sessions of legacy clients that outlive their process, with a Redis (REP-10, REP-12, REP-13, REP-15).
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';

import { eventsOf, LegacySession } from './support/legacy_raw.mjs';
import { LegacyUpstream, RESOURCE } from './support/legacy_upstream.mjs';
import { knowsPeers, startPeer } from './support/peers.mjs';
import { hasPostgres, startPostgres } from './support/postgres.mjs';
import { PostgresProxy } from './support/postgres_proxy.mjs';
import { eventually, root, stopAll } from './support/programs.mjs';
import { stopAfter } from './support/programs_of_suite.mjs';
import { commands, hasRedis, recordsKept, removeMarks, startRedis } from './support/redis.mjs';
import { TcpProxy } from './support/tcp_proxy.mjs';

const TOKEN = 'of-anna-and-nobody-else';
const STDIO = join(root, 'tests/fixtures/stdio_server.py');
const missing = (!hasPostgres && 'PostgreSQL 15 is not installed') || (!hasRedis && 'Redis is not installed');

/** Collects the events of a stream; `next(what, holds)` waits for an event for which `holds` is true. */
function reading(response) {
  const seen = [];
  const ended = (async () => {
    for await (const event of eventsOf(response)) if (event.id) seen.push(event);
  })().catch(() => {});
  return {
    seen,
    ended,
    next: async (what, holds) => {
      await eventually(what, () => seen.some(holds));
      return seen.find(holds);
    }
  };
}

describe('two processes with a Redis', { skip: missing }, () => {
  let postgres;
  let redis;
  let upstream;
  const processes = [];

  const start = (name, env = {}, store = postgres) =>
    startPeer(store, name, {
      upstreams: [
        { name: 'up', url: upstream.url },
        { name: 'local', command: ['python3', STDIO, '--era', 'legacy'], fail_fast_on_startup: false }
      ],
      tokens: [{ name: 'anna', token_env: 'TOKEN_ANNA' }],
      env: { PROTEUS_REDIS: redis.url, TOKEN_ANNA: TOKEN, ...env }
    });
  const ready = async ({ url }) => (await (await fetch(new URL('/readyz', url))).json()).redis;
  const metric = async ({ url }, name) => Number(new RegExp(`^${name} (\\S+)`, 'm').exec(await (await fetch(new URL('/metrics', url))).text())[1]);

  before(async () => {
    postgres = await startPostgres();
    redis = await startRedis();
  });
  after(() => stopAll([postgres, redis]));
  beforeEach(async () => {
    redis.run('FLUSHALL');  // records of the previous test
    upstream = await LegacyUpstream.start();
    for (const name of ['one', 'two']) processes.push(await start(name));
    for (const each of processes) {
      await knowsPeers(each, 2);
      await eventually('with Redis', async () => (await ready(each)) === 'there');
    }
  });
  afterEach(() => stopAll([upstream, ...processes.splice(0)]));

  /** Opens a session, which can be used at any of the processes. */
  async function open(at = 0) {
    const session = await LegacySession.open(processes[at].url, TOKEN);
    const headers = { ...session.headers(TOKEN), 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const post = (at, method, params, id = ++session.requests) => fetch(processes[at].url, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', id, method, params }) });
    return {
      post,
      ask: async (at, method, params) => {
        const response = await post(at, method, params);
        const text = await response.text();
        return { status: response.status, ...(text.startsWith('{') ? JSON.parse(text) : { text }) };
      },
      call: async function (at, name, args = {}) {
        const { status, result, error } = await this.ask(at, 'tools/call', { name, arguments: args });
        return result ? result.content[0].text : `${status} ${error?.message}`;
      },
      get: (at, last) => fetch(processes[at].url, { headers: { ...session.headers(TOKEN), accept: 'text/event-stream', ...(last && { 'last-event-id': last }) } }),
      remove: (at) => fetch(processes[at].url, { method: 'DELETE', headers: session.headers(TOKEN) })
    };
  }
  const upstreamSession = () => [...upstream.sessions.values()].find(({ subscriptions, stream }) => subscriptions.has(RESOURCE) && stream);
  const update = () => upstreamSession().stream.write(`data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: RESOURCE } })}\n\n`);
  const kill = async (at) => {
    await processes[at].kill();
  };

  test('REP-10 a session goes on at another process, and so does its session at the upstream', async () => {
    const session = await open();
    assert.equal(await session.call(0, 'up_count'), '1');
    assert.equal(await session.call(1, 'up_count'), '2');
    await kill(0);
    // Until its lease expires, the process does not count as dead.
    const refused = await session.ask(1, 'tools/list');
    assert.equal(refused.status, 503);
    await eventually('taken over', async () => (await session.ask(1, 'tools/list')).status === 200);
    assert.equal(await session.call(1, 'up_count'), '3');
    const ids = [...upstream.sessions.values()].find(({ count }) => count === 3).ids;
    assert.equal(new Set(ids).size, ids.length, 'an id of a request is used once');
    assert.match(processes[1].log(), /goes on here/);
    assert.equal((await session.remove(1)).status, 200);
    assert.equal((await session.ask(1, 'tools/list')).status, 404);
    assert.equal(redis.run('KEYS', 'proteus:1:session:*'), '');
  });

  test('REP-10 a call that was under way is answered on its stream: it may have run', async () => {
    const session = await open();
    const response = await session.post(0, 'tools/call', { name: 'up_slow', arguments: { name: 'a' }, _meta: { progressToken: 'p' } }, 77);
    const before = reading(response);
    const first = await before.next('progress', ({ data }) => data?.method === 'notifications/progress');
    upstream.running.get('a').progress(2);
    const second = await before.next('more progress', ({ data }) => data?.params?.progress === 2);
    await eventually('copied', () => redis.run('--scan', '--pattern', 'proteus:1:events:*').split('\n').some((key) => key && Number(redis.run('HLEN', key)) >= 3));
    await kill(0);
    await before.ended;

    const resume = async (last) => {
      let resumed;
      await eventually('taken over', async () => (resumed = await session.get(1, last)).status === 200 || (await resumed.text(), false));
      const after = reading(resumed);
      await after.ended;
      return after.seen;
    };
    const all = await resume(first.id);
    assert.deepEqual(all.map(({ data }) => data.params?.progress ?? data.id), [2, 77]);
    assert.match(all[1].data.error.message, /nobody knows whether the request was carried out/);
    const rest = await resume(second.id);
    assert.deepEqual(rest.map(({ data }) => data.id), [77]);
  });

  test('REP-10 the standing stream is resumed; lists and subscriptions are announced anew, and heard again', async () => {
    const session = await open();
    assert.deepEqual((await session.ask(0, 'resources/subscribe', { uri: RESOURCE })).result, {});
    const before = reading(await session.get(0));
    await eventually('listened to', () => upstreamSession());
    update();
    const { id } = await before.next('an update', ({ data }) => data?.method === 'notifications/resources/updated');
    const stream = upstreamSession().stream;
    await eventually('copied', () => redis.run('--scan', '--pattern', 'proteus:1:events:*') !== '');
    await kill(0);
    let resumed;
    await eventually('taken over', async () => (resumed = await session.get(1, id)).status === 200 || (await resumed.text(), false));
    const after = reading(resumed);
    for (const method of ['tools/list_changed', 'resources/list_changed', 'resources/updated'])
      await after.next(method, ({ data }) => data?.method === `notifications/${method}`);
    await eventually('listened to again', () => upstreamSession() && upstreamSession().stream !== stream);
    const updates = () => after.seen.filter(({ data }) => data?.method === 'notifications/resources/updated').length;
    const told = updates();
    update();
    await eventually('told', () => updates() > told);
    assert.ok(after.seen.every((event) => event.id.split('-')[0] !== id.split('-')[0]), 'of another epoch');
  });

  test('REP-10 where a part of it was in a program, the client initializes again', async () => {
    const session = await open();
    const { result } = await session.ask(0, 'tools/list');
    const local = result.tools.map(({ name }) => name).find((name) => name.startsWith('local_'));
    assert.ok((await session.ask(0, 'tools/call', { name: local, arguments: {} })).result);
    await kill(0);
    await eventually('told', async () => (await session.ask(1, 'tools/list')).status === 404);
  });

  test('REP-12 a process that stood still gives a session up that another has', async () => {
    const session = await open();
    assert.equal(await session.call(0, 'up_count'), '1');
    await processes[0].freeze();
    await eventually('taken over', async () => (await session.ask(1, 'tools/list')).status === 200);
    processes[0].signal('SIGCONT');
    await eventually('given up', () => /taken over by another process/.test(processes[0].log()));
    assert.equal(await session.call(0, 'up_count'), '2');
    assert.equal(await session.call(1, 'up_count'), '3');
  });

  test('REP-12 what reaches a process that wakes up goes to whoever has the session by now', async () => {
    const session = await open();
    assert.equal(await session.call(0, 'up_count'), '1');
    await processes[0].freeze();
    await eventually('taken over', async () => (await session.ask(1, 'tools/list')).status === 200);
    const subscribed = session.ask(0, 'resources/subscribe', { uri: RESOURCE });
    processes[0].signal('SIGCONT');
    assert.deepEqual((await subscribed).result, {});
    const heard = reading(await session.get(1));
    await eventually('listened to', () => upstreamSession());
    update();
    await heard.next('an update', ({ data }) => data?.method === 'notifications/resources/updated');
  });

  test('REP-12 so does what reaches it when one that has not heard yet that it woke up takes a session', async (context) => {
    const own = stopAfter(context);
    const network = await PostgresProxy.start(postgres.socket);
    own(network);
    processes.push(await start('late', {}, { dsn: network.dsn() }));
    for (const each of processes) await knowsPeers(each, 3);
    const taken = () => processes[2].log().match(/goes on here/g)?.length ?? 0;
    const givenUp = () => processes[0].log().match(/taken over by another process/g)?.length ?? 0;
    let session;
    // The late process relies on what it last read for only a second. A busy machine may need longer, hence the loop.
    for (let tries = 1; tries <= 10; ++tries) {
      const noticed = await open();
      session = await open();
      await processes[0].freeze();
      await eventually('taken over', async () => (await noticed.ask(2, 'tools/list')).status === 200);
      network.cut();
      const [before, gave] = [taken(), givenUp()];
      processes[0].signal('SIGCONT');
      await eventually('given up', () => givenUp() > gave);
      await session.ask(2, 'tools/list');
      network.heal();
      if (taken() > before) break;
      assert.notEqual(tries, 10, 'too slow each time');
    }
    assert.deepEqual((await session.ask(0, 'resources/subscribe', { uri: RESOURCE })).result, {});
    const heard = reading(await session.get(2));
    await eventually('listened to', () => upstreamSession());
    update();
    await heard.next('an update', ({ data }) => data?.method === 'notifications/resources/updated');
  });

  test('REP-10 a session that a process has by its record alone goes on there', async () => {
    const session = await open();
    await kill(0);
    await eventually('taken over', async () => (await session.ask(1, 'tools/list')).status === 200);
    // As if the answer of Redis got lost during the takeover.
    const key = redis.run('KEYS', 'proteus:1:session:*');
    redis.run('COPY', key, 'kept');
    assert.equal((await session.remove(1)).status, 200);
    await eventually('removed', () => redis.run('EXISTS', key) === '0');
    // A process remembers what it has removed until it knows that Redis has received that.
    removeMarks(redis);
    await recordsKept(redis, 1);
    redis.run('RENAME', 'kept', key);
    assert.equal((await session.ask(1, 'tools/list')).status, 200);
    assert.equal(await session.call(1, 'up_count'), '1');
  });

  test('REP-13 without Redis calls and sessions go on; what needs it is 503 with a reason, and heals', async () => {
    const session = await open();
    const before = commands(redis);
    for (let i = 1; i <= 5; ++i) assert.equal(await session.call(0, 'up_count'), String(i));
    assert.ok((await metric(processes[0], 'proteus_redis_commands_total')) > 0);
    // One script for the session at the upstream, which reads and writes; none for a call.
    assert.ok(commands(redis) <= before + 3);
    await redis.halt();
    for (const each of processes) await eventually('away', async () => (await ready(each)) === 'away');
    assert.equal(await metric(processes[1], 'proteus_redis_connected'), 0);
    assert.equal(await session.call(0, 'up_count'), '6');
    assert.equal(await session.call(1, 'up_count'), '7');
    const doomed = await open();
    await kill(0);
    await eventually('known to be dead', async () => /Redis at \S+ cannot be asked/.test((await doomed.ask(1, 'tools/list')).error?.message));
    const refused = await doomed.post(1, 'tools/list');
    assert.equal(refused.status, 503);
    assert.equal(refused.headers.get('retry-after'), '1');
    await refused.text();
    await redis.resume();
    await eventually('there', async () => (await ready(processes[1])) === 'there');
    // A Redis without persistence has lost the session.
    await eventually('healed', async () => (await doomed.ask(1, 'tools/list')).status === 404);
  });

  test('REP-13 a process that Redis is cut off from goes on with its sessions, and takes none over until that heals', async (context) => {
    const own = stopAfter(context);
    const link = own(await TcpProxy.start(redis.address));
    const cut = await start('cut', { PROTEUS_REDIS: `redis://127.0.0.1:${link.port}` });
    processes.push(cut);
    for (const each of processes) await knowsPeers(each, 3);
    await eventually('with Redis', async () => (await ready(cut)) === 'there');
    const moved = await open();
    const atCut = await open(2);
    link.cut();
    await eventually('away', async () => (await ready(cut)) === 'away');
    assert.equal(await ready(processes[1]), 'there');
    for (const at of [2, 0, 1]) assert.match(await atCut.call(at, 'up_count'), /^[123]$/);
    assert.equal(await moved.call(2, 'up_count'), '1');
    const begun = await open(2);
    assert.equal(await begun.call(1, 'up_count'), '1');
    await kill(0);
    await eventually('known to be dead', async () => /Redis at \S+ cannot be asked/.test((await moved.ask(2, 'tools/list')).error?.message));
    assert.equal((await moved.ask(2, 'tools/list')).status, 503);
    // A process with Redis takes the session over, and the other then reaches it through that process.
    await eventually('taken over', async () => (await moved.ask(1, 'tools/list')).status === 200);
    link.heal();
    await eventually('there', async () => (await ready(cut)) === 'there');
    assert.equal(await moved.call(2, 'up_count'), '2');
    // The session that began during the cut is in Redis now.
    await eventually('written', () => redis.run('KEYS', 'proteus:1:session:*').split('\n').length >= 3);
    await kill(2);
    for (const session of [atCut, begun]) await eventually('taken over', async () => (await session.ask(1, 'tools/list')).status === 200);
  });

  test('REP-13 a session that has moved is found where it is, though Redis was emptied', async () => {
    const third = await start('third');
    processes.push(third);
    for (const each of processes) await knowsPeers(each, 3);
    const session = await open();
    assert.equal(await session.call(1, 'up_count'), '1');
    await kill(0);
    await eventually('taken over', async () => (await session.ask(1, 'tools/list')).status === 200);
    redis.run('FLUSHALL');
    assert.equal(await session.call(2, 'up_count'), '2');
    await redis.halt();
    assert.equal(await session.call(2, 'up_count'), '3');
    await redis.resume();
    assert.equal(await session.call(1, 'up_count'), '4');
  });

  test('REP-13 a process that starts is asked for a session, too, and refuses nobody', async () => {
    // The starting process has joined the others, and waits for a silent upstream.
    const silent = createServer(() => {});
    await new Promise((listening) => silent.listen(0, '127.0.0.1', listening));
    const upstreams = [{ name: 'silent', url: `http://127.0.0.1:${silent.address().port}/mcp`, fail_fast_on_startup: true }];
    const starting = startPeer(postgres, 'late', { upstreams, env: { PROTEUS_REDIS: redis.url } }).catch(() => {});
    await knowsPeers(processes[1], 3);
    const session = await open();
    await kill(0);
    redis.run('FLUSHALL');
    const statuses = new Set();
    await eventually('known to be gone', async () => statuses.add((await session.ask(1, 'tools/list')).status).has(404));
    assert.ok([...statuses].every((status) => status === 404 || status === 503), [...statuses].join());
    silent.closeAllConnections();
    silent.close();
    await (await starting)?.stop();
  });

  test('REP-13 an emptied Redis gets the sessions of those who live again', async () => {
    const session = await open();
    redis.run('FLUSHALL');
    await redis.halt();
    await redis.resume();
    await eventually('written again', () => redis.run('KEYS', 'proteus:1:session:*') !== '');
    await kill(0);
    await eventually('taken over', async () => (await session.ask(1, 'tools/list')).status === 200);
  });

  test('REP-13 a Redis that is emptied gets them again at once, though its connections stayed', async () => {
    const session = await open();
    assert.equal(await session.call(0, 'up_count'), '1');
    redis.run('FLUSHALL');
    await recordsKept(redis, 2);
    await kill(0);
    await eventually('taken over', async () => (await session.ask(1, 'tools/list')).status === 200);
    assert.equal(await session.call(1, 'up_count'), '2');
  });

  test('REP-15 a stranger at Redis reads nothing, and what it writes is no session', async () => {
    const session = await open();
    assert.equal((await session.ask(0, 'logging/setLevel', { level: 'error' })).status, 200);
    const [key, ...more] = redis.run('KEYS', 'proteus:1:session:*').split('\n');
    assert.deepEqual(more, []);
    assert.doesNotMatch(redis.run('GET', key), /proteus-e2e|error/);
    const ttl = Number(redis.run('PTTL', key));
    assert.ok(ttl > 0 && ttl <= 1_800_000);
    const invent = () => redis.run('SET', key, '00000000000000ffAAAAAAAAAAAinvented');
    invent();
    assert.equal((await session.ask(0, 'tools/list')).status, 200);
    await kill(0);
    invent();  // again: its process may have restored the record before it died
    await eventually('unknown', async () => (await session.ask(1, 'tools/list')).status === 404);
  });
});
