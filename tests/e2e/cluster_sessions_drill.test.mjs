// Clients whose sessions live anywhere in a cluster of three processes, while the processes, PostgreSQL, Redis and the
// network fail; a ledger checks the result. PROTEUS_DRILL_SESSION_FAULTS sets the number of faults; 60 is the full
// drill. PROTEUS_DRILL_SEED repeats a drill.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { SLOTS } from './support/cluster_faults.mjs';
import { seeded } from './support/ledger.mjs';
import { hasPostgres } from './support/postgres.mjs';
import { eventually, stopAll, within } from './support/programs.mjs';
import { hasRedis } from './support/redis.mjs';
import { SessionCluster } from './support/session_faults.mjs';
import { SessionLedger, TOOLS, uriOf } from './support/session_ledger.mjs';
import { LegacyClient, ModernClient } from './support/session_load.mjs';
import { NewUpstream, OldUpstream } from './support/session_upstreams.mjs';

const FAULTS = Number(process.env.PROTEUS_DRILL_SESSION_FAULTS ?? 5);
const SEED = Number(process.env.PROTEUS_DRILL_SEED ?? Date.now() % 2 ** 32);
const PRINCIPALS = ['anna', 'bert', 'carl'];
const PLACES = ['0', '1'];  // one session of each principal in each
const missing = (!hasPostgres && 'PostgreSQL 15 is not installed') || (!hasRedis && 'Redis is not installed');

describe('three processes with a Redis', { skip: missing }, () => {
  const random = seeded(SEED);
  const ledger = new SessionLedger();
  const clients = [];
  const errors = [];
  let cluster;
  let old;
  let fresh;
  let over = false;

  /** Returns any process, but rarely the one with the last fault, so that not all clients wait for it. */
  const anybody = () => {
    const slot = Math.floor(random() * SLOTS.length);
    return cluster.processes[slot === cluster.troubled && random() < 0.8 ? (slot + 1) % SLOTS.length : slot].url;
  };

  before(async () => {
    const uris = PRINCIPALS.flatMap((name) => [...PLACES, 'modern'].map((place) => uriOf(`${name}.${place}`)));
    old = await OldUpstream.begin(ledger, uris);
    fresh = await NewUpstream.begin(ledger);
    cluster = await SessionCluster.start({
      upstreams: [
        { name: 'old', url: old.url, tools: [{ match: ['pay'], confirm: 'always' }] },
        { name: 'new', url: fresh.url, tools: [{ match: ['pay'], confirm: 'always' }] }
      ],
      tokens: PRINCIPALS.map((name) => ({ name, token_env: `TOKEN_${name}` })),
      env: Object.fromEntries(PRINCIPALS.map((name) => [`TOKEN_${name}`, `of-${name}-and-nobody-else`]))
    });
    await cluster.settled();
    for (const principal of PRINCIPALS) {
      const parts = { principal, token: `of-${principal}-and-nobody-else`, ledger, anybody, random, troubles: () => cluster.troubles() };
      for (const place of PLACES) clients.push(new LegacyClient({ ...parts, place }));
      clients.push(new ModernClient(parts));
    }
  });
  after(() => stopAll([old, fresh, cluster]));

  const things = (client) => [TOOLS, uriOf(client.owner)];
  /** Returns the clients that were not notified of every change. */
  const behind = () => clients.filter(({ stream, ...client }) => !stream || ledger.unheard(stream, things(client)).length > 0);

  /** Waits until every client was notified of every change; what is missing after a while is recorded as lost. */
  async function allHear(when) {
    await eventually('all have heard', () => errors.length > 0 || behind().length === 0, 20_000).catch(() => {
      for (const { owner, stream } of behind()) ledger.fault('lost', `${owner}, ${when}: ${stream ? ledger.unheard(stream, things({ owner })) : 'no stream'}`);
    });
  }

  async function change() {
    old.changeTools();
    for (const client of clients) if (client.owner) old.update(uriOf(client.owner));
  }

  /** Makes changes all the time, except while a checkpoint waits for their notifications. */
  let changing = true;
  async function changes() {
    while (!over) {
      if (changing) await change();
      await pause(200 + random() * 500);
    }
  }

  /** Checks that all clients were notified so far and still are; waits until Redis has all records of sessions. */
  async function checkpoint(when) {
    changing = false;
    await allHear(`after ${when}`);
    await change();
    await allHear(`when all was calm after ${when}`);
    changing = true;
    for (const client of clients) if (client instanceof LegacyClient) await eventually('recorded', async () => errors.length > 0 || (await client.record().then(() => client.isRecorded(), () => false)), 30_000);
    // Processes send records without waiting for Redis.
    await cluster.written();
  }

  test(`REP-09 REP-10 REP-11 REP-12 REP-13 run once, lose nothing and mix nothing up: ${FAULTS} faults`, { timeout: 3_600_000 }, async () => {
    console.error(`PROTEUS_DRILL_SEED=${SEED}`);
    const guarded = (work) => work.catch((error) => errors.push(error));
    const work = [...clients.map((client) => guarded(client.run())), guarded(changes())];
    await pause(1000);
    await checkpoint('the beginning');
    const faults = Object.entries(cluster.faults(random));
    const happened = {};
    let seen = {};
    for (let i = 0; i < FAULTS && errors.length === 0; ++i) {
      const [name, happen] = faults[i < faults.length ? i : Math.floor(random() * faults.length)];
      happened[name] = (happened[name] ?? 0) + 1;
      const began = ledger.counts.acknowledged;
      const at = Date.now();
      await happen();
      await pause(100 + random() * 300);
      await cluster.settled();
      await checkpoint(name);
      console.error(`  ${name} (${SLOTS[cluster.troubled]}): ${ledger.counts.acknowledged - began} acknowledged, ${Date.now() - at} ms`);
      for (const [kind, all] of Object.entries(ledger.faults)) for (const text of all.slice(seen[kind] ?? 0)) console.error(`    ${kind}: ${text}`);
      seen = Object.fromEntries(Object.entries(ledger.faults).map(([kind, all]) => [kind, all.length]));
    }
    over = true;
    for (const client of clients) client.over = true;
    await within(60_000, 'all calls are answered', Promise.all(work));
    assert.deepEqual(errors, []);
    const table = Object.entries({ ...ledger.counts, ...happened }).sort().map(([what, count]) => `${String(count).padStart(8)}  ${what}`);
    console.error([`seed ${SEED}`, ...table].join('\n'));
    assert.deepEqual(ledger.faults, Object.fromEntries(Object.keys(ledger.faults).map((kind) => [kind, []])));
  });
});
