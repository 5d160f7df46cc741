// The stall drill: what one stranger sends at ten times the size that once stopped the gateway, beside sixteen healthy upstreams. Their calls
// must not fail, and their p99 may grow by 5 ms. Prints a row per attack; ends with 1 where one did not hold.
//
//   node tests/attack/stall.mjs [attack…]      PROTEUS_BIN, PROTEUS_ATTACK_SCALE (10), PROTEUS_ATTACK_SECONDS (10)
import { Agent } from 'node:http';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';

import { startGateway } from '../e2e/support/gateway.mjs';
import { eventually, startScript, startServer } from '../e2e/support/programs.mjs';
import { ask, send } from '../e2e/support/raw.mjs';
import { Caller, SECRET, startBackend } from '../e2e/support/sessions.mjs';

const SCALE = Number(process.env.PROTEUS_ATTACK_SCALE ?? 10);
const SECONDS = Number(process.env.PROTEUS_ATTACK_SECONDS ?? 10);
const HEALTHY = 16;
const ALLOWED_MS = 5;
const HOSTILE = fileURLToPath(new URL('./hostile_upstream.mjs', import.meta.url));

const p99 = (times) => times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? NaN;

/** Calls every healthy upstream over and over for so long; gives the times in ms, and what failed. */
async function measure(url, seconds) {
  const agent = new Agent({ keepAlive: true, maxSockets: HEALTHY });
  const times = [];
  const failures = [];
  const end = performance.now() + seconds * 1000;
  const one = async (index) => {
    while (performance.now() < end) {
      const began = performance.now();
      try {
        const answer = await ask(agent, url, 'tools/call', { name: `h${index}_echo`, arguments: { message: 'x' } });
        if (answer.error || answer.result?.isError) failures.push(JSON.stringify(answer).slice(0, 200));
      } catch (error) {
        failures.push(String(error));
      }
      times.push(performance.now() - began);
      await new Promise((rest) => setTimeout(rest, 2));
    }
  };
  await Promise.all(Array.from({ length: HEALTHY }, (_, index) => one(index)));
  agent.destroy();
  return { times, failures };
}

/** Repeats something until it is told to stop. */
function repeat(act) {
  let going = true;
  let count = 0;
  const ended = (async () => {
    while (going) {
      await act();
      count += 1;
    }
  })();
  return { stop: () => ((going = false), ended), count: () => count };
}

const read = async (response) => (await response).text();

/** Each says what it is, how the hostile upstream is configured, and what is done meanwhile. */
const ATTACKS = {
  definitions: {
    tried: `2a: ${15 * SCALE} tools of 0.9 MB, others at each reading, read again and again`,
    upstream: { auto_refresh: true, refresh_interval: '1s' }
  },
  instructions: {
    tried: `2b: ${Math.min(800_000 * SCALE, 7_500_000)} newlines of instructions, server/discover by a caller who does not see all`,
    act: ({ url }) => read(send(url, 'server/discover', {}, { token: 'few-token' }))
  },
  templates: {
    tried: `2c: ${6000 * SCALE} templates and a URI of 8 KB`,
    act: ({ url }) => read(send(url, 'resources/read', { uri: `t://${'a'.repeat(8000)}` }))
  },
  proposals: {
    tried: `2d: GET /admin/proposals with ${15 * SCALE} definitions of 0.9 MB`,
    upstream: { trust: 'pin' },
    act: ({ admin }) => admin.admin('/admin/proposals')
  },
  nulls: {
    tried: '3: a call of a session tool with as many nulls as a body holds',
    prepare: async ({ admin, backend }) => {
      await admin.admin('/admin/session/init', { session_id: 's', user_token: 'session-token', user_id: 'u' });
      const tool = { name: 'take', description: 'Takes strings.', url: backend.url(), inputSchema: { type: 'object', additionalProperties: { type: 'string' } } };
      await admin.admin('/admin/tools/register', { session_id: 's', tools: [tool] });
    },
    act: ({ url, nulls }) => read(send(url, 'tools/call', { name: 'take', arguments: nulls }, { token: 'session-token' }))
  }
};

async function run(name, { tried, upstream = {}, prepare, act }) {
  const programs = [];
  try {
    const healthy = await startServer('everything-server', ['--port', '0', '--era', 'modern']);
    programs.push(healthy);
    const hostile = await startScript('hostile', [HOSTILE, ATTACKS[name].act || name === 'definitions' ? name : 'none', String(SCALE)]);
    programs.push(hostile);
    setPriority(hostile.pid, 15);
    const backend = await startBackend();
    programs.push(backend);
    const upstreams = Array.from({ length: HEALTHY }, (_, index) => ({ name: `h${index}`, url: healthy.url }));
    const quiet = { upstreams, server: { threads: 2 }, tokens: [{ name: 'few', token_env: 'FEW_TOKEN', upstreams: ['h1', 'hostile'] }], log: { level: 'warning' } };
    const gateway = await startGateway({ ...quiet, env: { PROTEUS_ADMIN_SECRET: SECRET, FEW_TOKEN: 'few-token' } });
    programs.push(gateway);
    const url = gateway.url;
    const admin = new Caller(url, 4);
    await measure(url, 2);
    const before = await measure(url, SECONDS);

    const entry = { name: 'hostile', url: hostile.url, fail_fast_on_startup: false, ...upstream };
    gateway.reconfigure({ upstreams: [...upstreams, entry] });
    const nulls = Object.fromEntries(Array.from({ length: 280_000 }, (_, index) => [`n${index}`, null]));
    const surroundings = { url, admin, backend, nulls };
    await prepare?.(surroundings);
    await eventually('the hostile upstream', async () => (await fetch(new URL('/metrics', url)).then((answer) => answer.text())).includes('proteus_upstream_up{upstream="hostile"}'), 60_000);
    const attack = act ? repeat(() => act(surroundings)) : undefined;
    const during = await measure(url, SECONDS);
    await attack?.stop();

    const metrics = await (await fetch(new URL('/metrics', url))).text();
    const stalls = Number(/^proteus_worker_stalls_total (\d+)/m.exec(metrics)?.[1] ?? NaN);
    const held = during.failures.length === 0 && during.times.length > 0 && p99(during.times) <= p99(before.times) + ALLOWED_MS;
    const figures = [
      `p99 ${p99(before.times).toFixed(1)} → ${p99(during.times).toFixed(1)} ms`,
      `${during.times.length} calls, ${during.failures.length} failed`,
      ...(attack ? [`${attack.count()} attacks`] : []),
      `${stalls} stalls`
    ].join('; ');
    console.log(`| ${tried} | ${held ? 'held' : 'DID NOT HOLD'} | ${figures} |`);
    for (const failure of during.failures.slice(0, 3)) console.log(`  ${failure}`);
    return held;
  } finally {
    for (const program of programs.reverse()) {
      try {
        await program.stop();
      } catch (error) {
        console.log(`  ${error.message.slice(0, 2000)}`);
      }
    }
  }
}

const wanted = process.argv.slice(2);
console.log('| tried | held | figures |\n|---|---|---|');
let all = true;
for (const [name, attack] of Object.entries(ATTACKS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  all = (await run(name, attack)) && all;
}
process.exitCode = all ? 0 : 1;
