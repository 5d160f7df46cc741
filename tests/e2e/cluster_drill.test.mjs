// Three processes write the same store while the processes, the store and the network fail; a ledger checks the result.
// PROTEUS_DRILL_FAULTS sets the number of faults; 60 is the full drill. PROTEUS_DRILL_SEED repeats a drill.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { ask, done, startMember, tool } from './support/cluster.mjs';
import { Cluster, SLOTS } from './support/cluster_faults.mjs';
import { agreed, outcome, pins, sessions, tokens, upstreams } from './support/cluster_writers.mjs';
import { Ledger, seeded } from './support/ledger.mjs';
import { hasPostgres } from './support/postgres.mjs';
import { eventually, stopAll } from './support/programs.mjs';
import { stopAfter } from './support/programs_of_suite.mjs';
import { ScriptedUpstream } from './support/scripted_upstream.mjs';

const FAULTS = Number(process.env.PROTEUS_DRILL_FAULTS ?? 6);
const SEED = Number(process.env.PROTEUS_DRILL_SEED ?? Date.now() % 2 ** 32);
const KEYS = 5;  // of each kind, each with its own writer

/** Lists a newer version in each answer. */
class Beating extends ScriptedUpstream {
  beats = 0;
  answer(message) {
    if (message.method === 'tools/list') this.tools = [{ ...tool('beat'), description: `beat v${++this.beats}` }];
    return super.answer(message);
  }
}

describe('three processes', { skip: !hasPostgres && 'PostgreSQL 15 is not installed' }, () => {
  let cluster;
  const scripted = new Map();
  const random = seeded(SEED);
  const ledger = new Ledger();
  const kinds = { upstream: upstreams, session: sessions, token: tokens, pin: pins((key) => scripted.get(key), tool) };
  const keysOf = (kind) => Array.from({ length: KEYS }, (_, i) => `${kind}${i}`);
  const errors = [];
  const answers = {};
  let over = false;
  let calm;  // resolves when the current fault is over

  before(async () => {
    cluster = await Cluster.start();
    for (const key of keysOf('pin')) scripted.set(key, await ScriptedUpstream.start([]));
    for (const key of keysOf('beating')) scripted.set(key, await Beating.start([]));
    for (const [name, { url }] of scripted) {
      const how = name.startsWith('pin') ? { trust: 'pin' } : { auto_refresh: true, refresh_interval: '200ms' };
      await done(cluster.processes[0], 'POST', 'upstreams', { name, url, ...how });
    }
  });
  after(() => stopAll([cluster, ...scripted.values()]));

  /** Returns any process, but rarely the one with the last fault, so that not all writers wait for it. */
  const anybody = () => {
    const slot = Math.floor(random() * SLOTS.length);
    return cluster.processes[slot === cluster.troubled && random() < 0.9 ? (slot + 1) % SLOTS.length : slot];
  };

  /** Writes one thing again and again, through any process. */
  async function write(kind, key) {
    while (!over) {
      const there = ledger.there(key);
      const removes = there && kind.remove !== undefined && (kind === kinds.token || random() < 0.3);
      const state = ledger.begin(key, !removes);
      const process = anybody();
      const answer = removes ? await kind.remove(process, key) : await kind.put(process, key, state.n, there);
      const how = outcome(answer);
      const tally = `${key.replace(/\d/, '')} ${answer.status}`;
      answers[tally] = (answers[tally] ?? 0) + 1;
      ledger.end(key, state, how, /^([3-9])\/\1$/.test(answer.applied ?? ''));
      if (how === 'unknown') {
        await calm;
        ledger.resolve(key, await agreed(cluster.processes, kind, key));
      }
      await pause(random() * 20);
    }
  }

  /** Observes one process, and forgets what it saw when another process takes the slot. */
  async function observe(slot) {
    let memory = new Map();
    let before;
    while (!over) {
      const process = cluster.processes[slot];
      if (process !== before) memory = new Map();
      before = process;
      for (const [name, kind] of Object.entries(kinds)) {
        const floors = ledger.floors();
        const seen = await kind.look(process, keysOf(name));
        for (const [key, n] of seen ?? []) ledger.see(`${SLOTS[slot]} (${process.pid})`, memory, floors, key, n);
      }
      await useTokens(process);
      // Leaves CPU time for the writers.
      await pause(100);
    }
  }

  /** Checks that a token works if all processes know it, and is refused if all know that it was revoked. */
  async function useTokens(process) {
    for (const key of keysOf('token')) {
      const floor = ledger.floors().get(key);
      let secret;
      for (let n = floor?.n ?? 0; n > 0 && !secret; --n) secret = kinds.token.secrets.get(`${key} ${n}`);
      if (!secret) continue;
      const status = await ask(process, 'tools/list', {}, secret).then((answer) => answer.status, () => undefined);
      if (status === 200 && !floor.there) ledger.faults.resurrected.push(`${key} works at ${process.pid}, revoked by ${floor.n}`);
      if (status === 401 && floor.there && ledger.begun(key) === floor.n) ledger.faults.lost.push(`${key} ${floor.n} is refused at ${process.pid}`);
    }
  }

  test(`REP-02 REP-03 REP-04 REP-06 lose nothing that was acknowledged, and bring nothing back: ${FAULTS} faults`, { timeout: 3_600_000 }, async (context) => {
    const own = stopAfter(context);
    console.error(`PROTEUS_DRILL_SEED=${SEED}`);
    const guarded = (work) => work.catch((error) => errors.push(error));
    const work = [];
    for (const [name, kind] of Object.entries(kinds)) work.push(...keysOf(name).map((key) => guarded(write(kind, key))));
    work.push(...SLOTS.keys().map((slot) => guarded(observe(slot))));
    const faults = Object.entries(cluster.faults(random));
    const happened = {};
    for (let i = 0; i < FAULTS && errors.length === 0; ++i) {
      const [name, happen] = faults[i < faults.length ? i : Math.floor(random() * faults.length)];
      happened[name] = (happened[name] ?? 0) + 1;
      const began = { ...ledger.counts };
      calm = happen();
      await calm;
      await pause(300 + random() * 500);
      console.error(`  ${name}: ${ledger.counts.acknowledged - began.acknowledged} acknowledged, ${ledger.counts.unknown - began.unknown} unknown`);
    }
    over = true;
    await Promise.all(work);
    assert.deepEqual(errors, []);
    // A process that starts now knows only the store.
    const another = own(await startMember(cluster.postgres.dsn.replace('postgres@', 'another@'), 'another'));
    const all = [...cluster.processes, another];
    await eventually('all have applied everything', async () => {
      const { processes } = (await done(another, 'GET', 'processes')).json;
      return processes.filter(({ live }) => live).length === all.length && processes.every(({ live, behind }) => !live || behind === 0);
    });
    for (const process of all) {
      for (const [name, kind] of Object.entries(kinds)) {
        for (const [key, n] of await kind.look(process, keysOf(name))) ledger.finish(`the end, ${process.pid}`, key, n);
      }
    }
    // Of all tokens ever made, exactly the listed ones work.
    const listed = new Set((await kinds.token.look(another, keysOf('token'))).map((entry) => entry.join(' ')));
    for (const process of all) {
      for (const [which, secret] of kinds.token.secrets) {
        const { status } = await ask(process, 'tools/list', {}, secret);
        if (status !== (listed.has(which) ? 200 : 401)) ledger.faults[status === 200 ? 'resurrected' : 'lost'].push(`${which} at the end: ${status}`);
      }
    }
    const stored = cluster.storedWrongly();
    context.diagnostic(`seed ${SEED}; ${JSON.stringify(happened)}; ${JSON.stringify(ledger.counts)}; ${JSON.stringify(answers)}; ${stored.all} lists stored`);
    assert.deepEqual(ledger.faults, { lost: [], resurrected: [], 'out of order': [], unexplained: [] });
    assert.equal(stored.strangers, '', 'stored without the lease');
    assert.equal(stored.older, '', 'stored after something newer');
    assert.ok(stored.all > 0);
  });
});
