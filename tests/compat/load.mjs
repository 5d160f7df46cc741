// Load that a small machine must bear: many programs behind one gateway, and clients that disconnect without closing
// their sessions. Prints figures.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';

import { run } from '../e2e/support/children.mjs';
import { configuration, startGateway } from '../e2e/support/gateway.mjs';
import { program, residentKib, root } from '../e2e/support/programs.mjs';
import { eachOf } from './run_servers.mjs';
import { SERVERS } from './servers/all.mjs';
import { scratch, startRow } from './start.mjs';
import { Peer } from './wire/peer.mjs';

const PROGRAMS = 34;
const CLIENTS = 200;
const SECRET = 'of-the-load';
// The setting of an upstream after which the program of an absent client ends. Long enough for all programs to run at
// once.
const IDLE_S = 30;
const IDLE = { program_idle: `${IDLE_S}s` };
const MINUTE_MS = 60_000;

/** Returns the ids of a process and its descendants. */
function familyOf(pid) {
  const threads = readdirSync(`/proc/${pid}/task`);
  const children = threads.flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ')).filter(Boolean).map(Number);
  return [pid, ...children.flatMap((child) => familyOrNone(child))];
}

function familyOrNone(pid) {
  try {
    return familyOf(pid);
  } catch {
    return [];
  }
}

function memoryMib(pids) {
  const kib = pids.map((pid) => {
    try {
      return residentKib(pid);
    } catch {
      return 0;
    }
  });
  return Math.round(kib.reduce((sum, one) => sum + one, 0) / 1024);
}

async function until(ms, done) {
  for (const end = Date.now() + ms; Date.now() < end; await new Promise((next) => setTimeout(next, 100))) if (await done()) return true;
  return false;
}

async function upstreamsOf(gateway) {
  const response = await fetch(new URL('/admin/upstreams', gateway.url), { headers: { 'x-admin-secret': SECRET } });
  return (await response.json()).upstreams;
}

function report(tally, what, holds, figures) {
  if (holds) ++tally.passed;
  else ++tally.failed;
  console.log(`${holds ? 'ok    ' : 'FAILED'}  ${what}: ${figures}`);
}

/** Runs many programs of the matrix at once: the gateway must detect an era that each of them speaks. */
async function manyPrograms(tally) {
  const { folder, forget } = scratch();
  const rows = SERVERS.filter((row) => row.via === 'stdio');
  const chosen = Array.from({ length: PROGRAMS }, (_, index) => rows[index % rows.length]);
  const upstreams = [];
  for (const [index, row] of chosen.entries()) {
    const own = join(folder, String(index));
    mkdirSync(own);
    row.prepare?.(own);
    const { upstream } = await startRow(row, own, 'gateway');
    upstreams.push({ name: `u${index}`, ...upstream, fail_fast_on_startup: false });
  }
  const started = Date.now();
  const gateway = await startGateway({ upstreams, limits: { worker_stall: '2s' }, env: { PROTEUS_ADMIN_SECRET: SECRET } });
  try {
    const rowOf = (upstream) => chosen[Number(upstream.name.slice(1))];
    const isRight = (upstream) => upstream.protocol_version && rowOf(upstream).eras.includes(upstream.era);
    let seen = [];
    await until(2 * MINUTE_MS, async () => (seen = await upstreamsOf(gateway)).every(isRight));
    const right = seen.filter(isRight);
    const wrong = seen.filter((upstream) => !isRight(upstream)).map((upstream) => `${rowOf(upstream).name} (${upstream.state}, ${upstream.era})`);
    const family = familyOf(gateway.pid);
    const figures = [
      `${right.length} of ${PROGRAMS} in their era after ${((Date.now() - started) / 1000).toFixed(1)} s on ${cpus().length} cores`,
      `gateway ${memoryMib([gateway.pid])} MiB`,
      `${family.length - 1} processes, ${memoryMib(family.slice(1))} MiB`
    ];
    report(tally, `${PROGRAMS} programs at once`, right.length === PROGRAMS, [...figures, ...wrong].join('; '));
  } finally {
    await gateway.stop();
    forget();
  }
}

/** Returns whether this gateway has the setting `IDLE`. */
async function knowsIdle(folder, upstream) {
  const config = join(folder, 'proteus.toml');
  writeFileSync(config, configuration({ upstreams: [{ ...upstream, ...IDLE }] }));
  return (await run(program('proteus'), ['check', '--config', config])).code === 0;
}

/** Opens sessions that use a program and abandons them: their programs must end. */
async function abandonedClients(tally) {
  const { folder, forget } = scratch();
  const upstream = { name: 'up', command: ['python3', join(root, 'tests/fixtures/stdio_server.py'), '--era', 'legacy'] };
  if (!(await knowsIdle(folder, upstream))) {
    ++tally.skipped;
    console.log(`skipped: ${CLIENTS} abandoned sessions: this gateway does not know ${Object.keys(IDLE)[0]}`);
    return forget();
  }
  const gateway = await startGateway({ upstreams: [{ ...upstream, ...IDLE }], limits: { worker_stall: '2s', streams_per_principal: 2 * CLIENTS } });
  try {
    const measure = () => {
      const family = familyOf(gateway.pid);
      return { processes: family.length - 1, memory: memoryMib(family) };
    };
    const before = measure();
    const began = Date.now();
    await eachOf(Array.from({ length: CLIENTS }), async () => {
      const peer = await Peer.open({ via: 'http', url: gateway.url }, 'legacy');
      await peer.request('tools/call', { name: 'up_echo', arguments: {} });
      peer.transport.over.abort();
    });
    const most = measure();
    const left = Date.now();
    await until(IDLE_S * 1000 + MINUTE_MS, () => measure().processes <= before.processes);
    const after = measure();
    const say = ({ processes, memory }) => `${processes} processes, ${memory} MiB`;
    const isBack = after.processes <= before.processes && after.memory <= before.memory + 32;
    report(tally, `${CLIENTS} abandoned sessions`, isBack, `before: ${say(before)}; then, after ${((left - began) / 1000).toFixed(1)} s: ${say(most)}; ${((Date.now() - left) / 1000).toFixed(1)} s later: ${say(after)}`);
  } finally {
    await gateway.stop();
    forget();
  }
}

export async function runLoad(tally) {
  console.log('\nLoad');
  for (const one of [manyPrograms, abandonedClients]) {
    try {
      await one(tally);
    } catch (error) {
      report(tally, one.name, false, error.message.split('\n')[0]);
    }
  }
}
