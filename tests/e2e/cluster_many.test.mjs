// Many upstreams and three processes: which process watches what, also when one dies, and how long a start takes.
// PROTEUS_DRILL_UPSTREAMS sets the number; 1000 is the full drill.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { done, startMember, tool } from './support/cluster.mjs';
import { hasPostgres, startPostgres } from './support/postgres.mjs';
import { eventually, stopAll } from './support/programs.mjs';
import { ScriptedUpstream } from './support/scripted_upstream.mjs';

const UPSTREAMS = Number(process.env.PROTEUS_DRILL_UPSTREAMS ?? 200);
const INTERVAL = 2000;
const INTERVALS = 4;
const AT_ONCE = 24;

/** Many upstreams at one address, each with its own path; `polls` has the times at which each was read. */
class ManyUpstreams extends ScriptedUpstream {
  polls = new Map();

  async receive(request, response) {
    let body = '';
    for await (const piece of request) body += piece;
    const message = JSON.parse(body || '{}');
    if (message.method === 'tools/list') this.polls.set(request.url, [...(this.polls.get(request.url) ?? []), Date.now()]);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id ?? null, ...this.answer(message) }));
  }
}

describe(`three processes and ${UPSTREAMS} upstreams`, { skip: !hasPostgres && 'PostgreSQL 15 is not installed' }, () => {
  let postgres;
  let many;
  let processes = [];
  const names = Array.from({ length: UPSTREAMS }, (_, i) => `u${i}`);
  before(async () => {
    postgres = await startPostgres();
    many = await ManyUpstreams.start([tool('pay')]);
    for (const name of ['one', 'two', 'three']) processes.push(await startMember(postgres.dsn, name));
    const waiting = [...names];
    const url = (name) => new URL(`/${name}`, many.url).href;
    const register = async (process) => {
      for (let name; (name = waiting.shift()); ) await done(process, 'POST', 'upstreams', { name, url: url(name), auto_refresh: true, refresh_interval: `${INTERVAL}ms` });
    };
    await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => register(processes[i % processes.length])));
  });
  after(() => stopAll([postgres, many, ...processes]));

  const watchedBy = async (process) => (await done(process, 'GET', 'upstreams')).json.upstreams.filter(({ watch }) => watch !== 'elsewhere').map(({ name }) => name);
  const shares = async (process) => (await done(process, 'GET', 'processes')).json.processes.filter(({ live }) => live).map(({ watches }) => watches);
  const sharedOut = (process, count) =>
    eventually('shared out', async () => {
      const all = await shares(process);
      return all.length === count && all.reduce((sum, each) => sum + each, 0) === UPSTREAMS && Math.max(...all) <= Math.ceil(UPSTREAMS / count);
    }, 60_000);

  test('REP-04 each is polled once per interval by all of them together', { timeout: 120_000 }, async (context) => {
    await sharedOut(processes[0], 3);
    // An upstream that has just changed hands may be polled once more.
    await pause(INTERVAL);
    const watched = await Promise.all(processes.map(watchedBy));
    assert.equal(new Set(watched.flat()).size, UPSTREAMS);
    many.polls.clear();
    const began = Date.now();
    await pause(INTERVALS * INTERVAL);
    const took = Date.now() - began;
    const counts = names.map((name) => (many.polls.get(`/${name}`) ?? []).length);
    const all = counts.reduce((sum, each) => sum + each, 0);
    context.diagnostic(`${took} ms, every ${INTERVAL} ms: ${all} polls of ${UPSTREAMS} upstreams, each ${Math.min(...counts)} to ${Math.max(...counts)} times; watched by ${await shares(processes[0])}`);
    // As often as one process would poll, and not three times as often.
    assert.ok(Math.max(...counts) <= Math.ceil(took / INTERVAL) + 1, `${Math.max(...counts)} times`);
    assert.ok(all <= UPSTREAMS * (took / INTERVAL + 1), `${all} polls`);
    assert.ok(Math.min(...counts) >= 1);
  });

  test('REP-04 those of a process that is killed are taken over within seconds', { timeout: 120_000 }, async (context) => {
    const victim = processes.pop();
    const orphans = await watchedBy(victim);
    assert.ok(orphans.length > 0);
    await victim.kill();
    const killed = Date.now();
    const next = (name) => (many.polls.get(`/${name}`) ?? []).find((at) => at > killed);
    await eventually('all are asked again', () => orphans.every((name) => next(name)), 30_000);
    const delays = orphans.map((name) => next(name) - killed).sort((a, b) => a - b);
    context.diagnostic(`${orphans.length} upstreams, asked again after ${delays[0]} to ${delays.at(-1)} ms, half of them within ${delays[delays.length >> 1]} ms`);
    // Five seconds, plus what a busy machine may add.
    assert.ok(delays.at(-1) < 10_000, `${delays.at(-1)} ms`);
    await sharedOut(processes[0], 2);
  });

  test('REP-02 a process that starts knows all of them when it is ready', { timeout: 120_000 }, async (context) => {
    const began = Date.now();
    const another = await startMember(postgres.dsn, 'another');
    const listening = Date.now() - began;
    await eventually('ready', async () => (await fetch(new URL('/readyz', another.url))).ok);
    const ready = Date.now() - began;
    processes.push(another);
    const { json } = await done(another, 'GET', 'upstreams');
    context.diagnostic(`listening after ${listening} ms, ready after ${ready} ms, with ${json.upstreams.length} upstreams`);
    assert.equal(json.upstreams.length, UPSTREAMS);
    assert.ok(json.upstreams.every(({ tools }) => tools === 1), 'their lists are known');
  });
});
