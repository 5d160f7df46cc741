// Three processes are replaced one after the other, under load, behind the balancer of deploy/ (REP-14).
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { hasNginx, startDeployedBalancer } from './support/balancer.mjs';
import { admin, tool } from './support/cluster.mjs';
import { LegacySession } from './support/legacy_raw.mjs';
import { LegacyUpstream, RESOURCE } from './support/legacy_upstream.mjs';
import { knowsPeers, startPeer } from './support/peers.mjs';
import { hasPostgres, startPostgres } from './support/postgres.mjs';
import { eventually, within } from './support/programs.mjs';
import { runningPrograms } from './support/programs_of_suite.mjs';
import { send } from './support/raw.mjs';
import { hasRedis, startRedis } from './support/redis.mjs';
import { ResumingStream } from './support/resuming_stream.mjs';
import { ScriptedUpstream } from './support/scripted_upstream.mjs';

const TOKEN = 'of-anna-and-nobody-else';
const NAMES = ['one', 'two', 'three'];
const SESSIONS_OF_EACH = 2;
const MODERN_CALLERS = 4;
const missing = [!hasPostgres && 'PostgreSQL 15', !hasRedis && 'Redis', !hasNginx && 'nginx'].filter(Boolean);

describe('three processes behind the balancer of deploy/', { skip: missing.length > 0 && `${missing.join(', ')} not installed` }, () => {
  let launch;
  let processes;
  let balancer;
  let legacy;
  let modern;

  runningPrograms(async (programs) => {
    const started = (one) => (programs.push(one), one);
    const postgres = started(await startPostgres());
    const redis = started(await startRedis());
    legacy = started(await LegacyUpstream.start());
    modern = started(await ScriptedUpstream.start([tool('echo')]));
    const settings = {
      upstreams: [
        { name: 'old', url: legacy.url },
        { name: 'new', url: modern.url }
      ],
      tokens: [{ name: 'anna', token_env: 'TOKEN_ANNA' }],
      env: { TOKEN_ANNA: TOKEN, PROTEUS_REDIS: redis.url }
    };
    // Each process has its own address, so that no other program gets its port during the restart.
    launch = async (slot, listen = `127.89.42.1${slot + 1}:0`) => {
      const process = await startPeer(postgres, NAMES[slot], { ...settings, server: { listen, grace: '60s' } });
      const ready = async () => {
        const response = await fetch(new URL('/readyz', process.url));
        const { redis: there } = await response.json();
        return response.ok && there === 'there';
      };
      await eventually('ready', ready);
      return process;
    };
    processes = [];
    programs.push({ stop: () => Promise.all(processes.map((process) => process.stop())) });
    for (const slot of NAMES.keys()) processes.push(await launch(slot));
    for (const process of processes) await knowsPeers(process, NAMES.length);
    balancer = started(await startDeployedBalancer(processes.map(({ url }) => url)));
  });

  /** Descriptions of all failures; none is allowed. */
  const failures = [];
  const counts = {};
  const count = (what) => (counts[what] = (counts[what] ?? 0) + 1);
  let over = false;

  /** Repeats `act` until the test is over. */
  async function repeat(what, act) {
    while (!over) {
      try {
        await act();
        count(what);
      } catch (error) {
        failures.push(`${what}: ${error.message} ${error.cause ?? ''}`);
        if (failures.length > 100) return;
      }
      await pause(1);
    }
  }

  /** Returns the result in a response, which must be complete. */
  async function answerOf(response) {
    const text = await response.text();
    assert.equal(response.status, 200, `${response.status} ${text}`);
    const last = response.headers.get('content-type').startsWith('text/event-stream') ? [...text.matchAll(/^data: (\{.*)$/gm)].at(-1)?.[1] : text;
    const { result, error } = JSON.parse(last ?? '{}');
    assert.ok(result, JSON.stringify(error) ?? `no answer in ${text}`);
    return result;
  }

  const callModern = async () => {
    const result = await answerOf(await send(balancer.url, 'tools/call', { name: 'new_echo', arguments: {} }, { token: TOKEN }));
    assert.equal(result.content[0].text, 'ran echo');
  };

  /** Opens a session at one process, to be used at any. */
  async function open(process) {
    const session = await LegacySession.open(process.url, TOKEN);
    session.url = balancer.url;
    return session;
  }

  /** Returns a call of the session's counter, which fails if the session at the upstream is not the same as before. */
  const counting = (session) => {
    let last = 0;
    return async () => {
      const result = await answerOf(await session.post('tools/call', { name: 'old_count', arguments: {} }, TOKEN));
      assert.equal(Number(result.content[0].text), ++last, 'its session at the upstream is another one');
    };
  };

  /**
   * Listens as a modern client that reads its tools when they may have changed; `knows` has their names. Nobody knows
   * which process has sent an event, and the others may apply the change later, so this reads from all of them.
   */
  function listen() {
    const knows = new Set();
    let reading = Promise.resolve();
    const readFrom = async ({ url }) => {
      for (const { name } of (await answerOf(await send(url, 'tools/list', {}, { token: TOKEN }))).tools) knows.add(name);
    };
    const read = () => Promise.allSettled(processes.map(readFrom));
    const stream = ResumingStream.ofListener(balancer.url, TOKEN, () => {
      reading = reading.then(read);
    });
    const stop = async () => {
      failures.push(...(await stream.stop()));
      await reading;
    };
    return { stream, knows, stop };
  }

  const drained = [];
  const registered = [];
  const register = async () => {
    const name = `more${registered.length}`;
    const { status, json } = await admin(balancer, 'POST', 'upstreams', { name, url: modern.url, prefix: `${name}_` });
    assert.equal(status, 201, JSON.stringify(json));
    registered.push(name);
    await pause(200);
  };

  /** Starts a call that runs when its process gets SIGTERM; the returned function ends it. */
  async function slowCall(process, name) {
    const session = await open(process);
    const response = await session.post('tools/call', { name: 'old_slow', arguments: { name }, _meta: { progressToken: name } }, TOKEN);
    await eventually('it runs', () => legacy.running.has(name));
    return async () => {
      legacy.running.get(name).finish();
      assert.equal((await answerOf(response)).content[0].text, 'finished');
      // The session still works afterwards.
      await counting(session)();
    };
  }

  async function replace(slot) {
    const before = processes[slot];
    const finish = await slowCall(before, NAMES[slot]);
    before.signal('SIGTERM');
    await eventually('drains', () => fetch(new URL('/healthz', before.url)).then(() => false, () => true));
    await finish();
    const finished = Date.now();
    assert.equal(await within(90_000, 'the end', before.ended), 0);
    drained.push(Date.now() - finished);
    assert.doesNotMatch(before.log(), /\[error\]/);
    processes[slot] = await launch(slot, new URL(before.url).host);
    await before.stop();
    for (const process of processes) await knowsPeers(process, NAMES.length);
  }

  test('REP-14 all three are replaced under load: no call fails, no session and no acknowledged write is lost, every notification is heard', { timeout: 400_000 }, async (context) => {
    const sessions = [];
    for (let i = 0; i < SESSIONS_OF_EACH * NAMES.length; ++i) sessions.push(await open(processes[i % NAMES.length]));
    const streams = sessions.map((session) => ResumingStream.ofSession(session, TOKEN));
    const listeners = [0, 1, 2].map(listen);
    for (const session of sessions) await answerOf(await session.post('resources/subscribe', { uri: RESOURCE }, TOKEN));
    for (const stream of [...streams, ...listeners.map(({ stream }) => stream)]) await eventually('listens', () => stream.connections > 0);

    /** Calls `happen` and waits until all streams of sessions are notified of it, whatever happens to them. */
    const hear = async (method, happen) => {
      const before = streams.map((stream) => stream.heard(method));
      await happen();
      for (const [i, stream] of streams.entries()) {
        await eventually(`${method} at ${i}`, () => stream.heard(method) > before[i], 20_000);
        count(`heard ${method}`);
      }
    };
    const work = [
      ...Array.from({ length: MODERN_CALLERS }, () => repeat('modern call', callModern)),
      ...sessions.map((session) => repeat('legacy call', counting(session))),
      repeat('registration', async () => {
        await hear('notifications/tools/list_changed', register);
        const name = `${registered.at(-1)}_echo`;
        for (const [i, { knows }] of listeners.entries()) await eventually(`listener ${i} knows ${name}`, () => knows.has(name), 20_000);
        count('listened to a registration');
      }),
      repeat('update', () => hear('notifications/resources/updated', () => legacy.update()))
    ];
    try {
      for (const slot of NAMES.keys()) await replace(slot);
    } finally {
      over = true;
      await Promise.all(work);
      for (const { stop } of listeners) await stop();
      for (const stream of streams) failures.push(...(await stream.stop()));
    }
    context.diagnostic(`${JSON.stringify(counts)}; ended ${drained.join(', ')} ms after the last call; ${streams.reduce((sum, { connections }) => sum + connections, 0)} connections of ${streams.length} streams`);
    assert.deepEqual(failures, [], [...failures, balancer.log()].join('\n'));
    for (const process of processes) {
      const { json } = await admin(process, 'GET', 'upstreams');
      const names = json.upstreams.map(({ name }) => name);
      assert.deepEqual(registered.filter((name) => !names.includes(name)), []);
    }
    for (const session of sessions) assert.equal((await session.end(TOKEN)).status, 200);
  });
});
