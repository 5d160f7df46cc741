// The stall drill: one untrusted peer sends ten times the amount that once stopped the gateway, while sixteen healthy
// upstreams are called. No call may fail, no handler may occupy a worker for 50 ms of CPU time, and the p99 of the
// calls may grow by at most 5 ms.
//
// The drill measures whether calls wait for the gateway, not how the machine shares its cores with other programs, such
// as the attacker's. So everything on the path of a healthy call runs with real-time priority. If that is not allowed,
// the p99 is judged only on a quiet machine.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { fileURLToPath } from 'node:url';

import { run } from '../e2e/support/children.mjs';
import { startGateway } from '../e2e/support/gateway.mjs';
import { startScript, startServer } from '../e2e/support/programs.mjs';
import { bodyOf, headersOf } from '../e2e/support/raw.mjs';
import { Caller, SECRET, startBackend } from '../e2e/support/sessions.mjs';
import { assert, eventually, peakMemory, range, startCanary } from './support.mjs';

export const title = 'Strangers cannot make us late (SEC-03)';

const HEALTHY = 16;
const ALLOWED_MS = 5;
const AHEAD = ['chrt', '--fifo', '1'];
const script = (name) => fileURLToPath(new URL(`./${name}.mjs`, import.meta.url));

const p99 = (times) => times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? NaN;

/** Whether programs may be given a real-time priority. */
async function mayGoAhead() {
  return (await run(AHEAD[0], [...AHEAD.slice(1), 'true'])).code === 0;
}

/** Gives a process real-time priority, except for its background threads. */
function goAhead({ pid }) {
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    if (readFileSync(`/proc/${pid}/task/${thread}/comm`, 'utf8').trim() === 'background') continue;
    execFileSync(AHEAD[0], ['--fifo', '--pid', '1', thread]);
  }
}

/** Measures calls to the healthy upstreams for some seconds. */
async function measure(url, seconds, ahead) {
  const [program, ...args] = [...(ahead ? AHEAD : []), process.execPath, script('load'), url, String(HEALTHY), String(seconds)];
  const { stdout, stderr } = await run(program, args, { timeout: 120_000 });
  assert.ok(stdout, `the load did not run: ${stderr}`);
  const { times, failures } = JSON.parse(stdout);
  return { count: times.length, failures, p99: p99(times) };
}

/** Returns the share of the machine's CPU time that is used within a second. */
async function busyPart() {
  const read = () => readFileSync('/proc/stat', 'utf8').split('\n')[0].split(/\s+/).slice(1, 9).map(Number);
  const before = read();
  await new Promise((later) => setTimeout(later, 1000));
  const spent = read().map((value, i) => value - before[i]);
  return 1 - (spent[3] + spent[4]) / spent.reduce((a, b) => a + b);
}

/** Sends a request, and returns the size and the status of the answer. */
function fetchSize(url, { method = 'POST', headers = {}, body = '' }) {
  return new Promise((done, failed) => {
    const outgoing = request(url, { method, headers }, (incoming) => {
      let size = 0;
      incoming.on('data', (data) => (size += data.length));
      incoming.on('error', failed);
      incoming.on('end', () => done({ size, status: incoming.statusCode }));
    });
    outgoing.on('error', failed);
    outgoing.end(body);
  });
}

function asking(method, params, token) {
  return { headers: { ...headersOf(method, params), ...(token ? { authorization: `Bearer ${token}` } : {}) }, body: bodyOf(method, params) };
}

/** Repeats `act` until `stop` is called. */
function repeat(act) {
  let going = true;
  let count = 0;
  let size = 0;
  const statuses = new Set();
  const ended = (async () => {
    while (going) {
      const answer = await act();
      size = Math.max(size, answer.size);
      statuses.add(answer.status);
      count += 1;
    }
  })();
  return { stop: () => ((going = false), ended), figures: () => `${count} times, answered ${[...statuses]} with ${Math.ceil(size / 1024)} KiB` };
}

/** The attacks: a description, settings and expected counts of the hostile upstream, and what is done meanwhile. */
const ATTACKS = (scale) => ({
  definitions: {
    tried: `${15 * scale} tools of 0.9 MB each, others at each reading, read again every second`,
    upstream: { auto_refresh: true, refresh_interval: '1s' },
    listed: { tools: 15 * scale }
  },
  mirrored: {
    tried: 'the same, with a parameter of each tool that headers repeat',
    upstream: { auto_refresh: true, refresh_interval: '1s' },
    listed: { tools: 15 * scale }
  },
  instructions: {
    tried: `${Math.min(800_000 * scale, 7_500_000)} newlines and the name of a hidden tool in instructions`,
    act: ({ url }) => {
      const sent = asking('server/discover', {}, 'few-token');
      return () => fetchSize(url, sent);
    }
  },
  templates: {
    tried: `${6000 * scale} URI templates with 25 variables each, and a URI of 8 KB`,
    listed: { resource_templates: 6000 * scale },
    act: ({ url }) => {
      const sent = asking('resources/read', { uri: `t://${'a'.repeat(8000)}` });
      return () => fetchSize(url, sent);
    }
  },
  proposals: {
    tried: `GET /admin/proposals with ${15 * scale} definitions of 0.9 MB`,
    upstream: { trust: 'pin' },
    act: ({ url }) => () => fetchSize(new URL('/admin/proposals', url), { method: 'GET', headers: { 'x-admin-secret': SECRET } })
  },
  looking: {
    tried: `an operator who looks at ${9900 * scale} tools of one upstream by every list there is`,
    listed: { tools: 9900 * scale },
    act: ({ url }) => {
      const paths = ['/admin/catalog/tools?explain=true', '/admin/upstreams', '/admin/upstreams/hostile', '/admin/contexts', '/admin/changes', '/admin/view?as=few', '/admin/why?as=few&name=hostile_many_7', '/admin/search?as=few&q=many', '/metrics'];
      let turn = 0;
      return () => fetchSize(new URL(paths[turn++ % paths.length], url), { method: 'GET', headers: { 'x-admin-secret': SECRET } });
    }
  },
  tokens: {
    tried: "an upstream's answers of 16 MiB in the shortest tokens there are, as JSON and as events",
    act: ({ url }) => {
      const sent = asking('tools/call', { name: 'hostile_harmless', arguments: {} });
      return () => fetchSize(url, sent);
    }
  },
  question: {
    tried: "280,000 arguments in an agent's call that the upstream answers with a question",
    act: ({ url }) => {
      const many = Object.fromEntries(range(280_000).map((index) => [`n${index * 7919 % 280_000}`, 1]));
      const _meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } };
      const sent = asking('tools/call', { name: 'hostile_harmless', arguments: many, _meta });
      return () => fetchSize(url, sent);
    }
  },
  answers: {
    tried: "a back end's answer of 3.9 MB, held against an output schema",
    prepare: async ({ admin, large }) => {
      const tool = { name: 'give', description: 'Gives numbers.', url: large.url, inputSchema: { type: 'object' }, outputSchema: { type: 'object', additionalProperties: { type: 'integer', minimum: 0 } } };
      const { status } = await admin.admin('/admin/tools/register', { session_id: 's', user_token: 'session-token', user_id: 'u', tools: [tool] });
      assert.equal(status, 200);
    },
    act: ({ url }) => {
      const sent = asking('tools/call', { name: 'give', arguments: {} }, 'session-token');
      return () => fetchSize(url, sent);
    }
  },
  nulls: {
    tried: "280,000 nulls in the arguments of an agent's call, as many as a body holds",
    prepare: async ({ admin, backend }) => {
      const tool = { name: 'take', description: 'Takes strings.', url: backend.url(), inputSchema: { type: 'object', additionalProperties: { type: 'string' } } };
      const { status } = await admin.admin('/admin/tools/register', { session_id: 's', user_token: 'session-token', user_id: 'u', tools: [tool] });
      assert.equal(status, 200);
    },
    act: ({ url }) => {
      const nulls = Object.fromEntries(range(280_000).map((index) => [`n${index}`, null]));
      const sent = asking('tools/call', { name: 'take', arguments: nulls }, 'session-token');
      return () => fetchSize(url, sent);
    }
  }
});

export async function stage(own, full) {
  const ahead = await mayGoAhead();
  const busy = await busyPart();
  const server = own(await startServer('everything-server', ['--port', '0', '--era', 'modern']));
  if (ahead) goAhead(server);
  const unjudged = !full ? 'in short' : !ahead && busy > 0.1 ? `${Math.round(busy * 100)} % of the machine was busy before` : '';
  return { healthy: range(HEALTHY).map((index) => ({ name: `h${index}`, url: server.url })), scale: full ? 10 : 1, seconds: full ? 10 : 1.5, ahead, unjudged };
}

async function drill({ own, healthy, scale, seconds, ahead, unjudged }, name, { upstream = {}, listed = {}, prepare, act }) {
  const hostile = own(await startScript('hostile', [script('hostile_upstream'), name, String(scale)]));
  const backend = own(await startBackend());
  const tokens = [{ name: 'few', token_env: 'FEW_TOKEN', upstreams: ['h1', 'hostile'] }];
  const gateway = own(await startGateway({ upstreams: healthy, tokens, log: { level: 'warning' }, env: { PROTEUS_ADMIN_SECRET: SECRET, FEW_TOKEN: 'few-token' } }));
  if (ahead) goAhead(gateway);
  const { url } = gateway;
  const admin = new Caller(url, 4);
  own({ stop: () => admin.close() });
  const before = await measure(url, Math.max(1, seconds / 2), ahead);
  assert.deepEqual(before.failures.slice(0, 3), [], 'without any attack');

  const memory = peakMemory(gateway.pid);
  gateway.reconfigure({ upstreams: [...healthy, { name: 'hostile', url: hostile.url, fail_fast_on_startup: false, timeout: '60s', ...upstream }] });
  const many = JSON.stringify(Object.fromEntries(range(240_000).map((index) => [`n${index}`, index])));
  const large = name === 'answers' ? own(await startCanary(() => [200, { 'content-type': 'application/json' }, many])) : undefined;
  await prepare?.({ admin, backend, large: large && { url: `${large.origin}/give` } });
  // An attack without `act` needs no requests of ours, so it is measured from its beginning.
  const isRead = async () => ['connected', 'degraded'].includes((await admin.admin('/admin/upstreams/hostile')).json?.state);
  const attack = act ? await eventually('the hostile upstream is read', isRead, 60_000).then(() => repeat(act({ url }))) : undefined;
  const during = await measure(url, seconds, ahead);
  await attack?.stop();

  await eventually('the hostile upstream is read', isRead, 60_000);
  const { json: seen } = await admin.admin('/admin/upstreams/hostile');
  for (const [kind, count] of Object.entries(listed)) assert.equal(seen[kind], count, `of its ${kind}, ${seen[kind]} arrived: nothing was tried`);
  const grown = Math.round((peakMemory(gateway.pid) - memory) / 1024 / 1024);
  assert.deepEqual(during.failures.slice(0, 3), [], `${during.failures.length} of ${during.count} calls failed`);
  gateway.reconfigure({ upstreams: healthy });
  await eventually('the hostile upstream has left', async () => (await admin.admin('/admin/upstreams/hostile')).status === 404, 60_000);
  assert.deepEqual(gateway.stalls(), []);
  assert.ok(during.count > seconds * 50, `only ${during.count} calls`);
  const change = `p99 ${before.p99.toFixed(1)} → ${during.p99.toFixed(1)} ms`;
  if (!unjudged) assert.ok(during.p99 <= before.p99 + ALLOWED_MS, change);
  return `${change}${unjudged ? ` (not judged: ${unjudged})` : ''}, ${during.count} calls, none failed, no stall, ${grown} MiB more memory${attack ? `; ${attack.figures()}` : ''}`;
}

export const cases = (full) => Object.entries(ATTACKS(full ? 10 : 1)).map(([name, attack]) => ({ tried: attack.tried, run: (stage) => drill(stage, name, attack) }));
