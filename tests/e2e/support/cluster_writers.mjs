// What a drill writes through any process of a cluster and reads back at each: upstreams, tool sessions, tokens and
// ratifications.
import { admin } from './cluster.mjs';
import { eventually } from './programs.mjs';

const VERSION = /v(\d+)\./;
const versionIn = (text) => Number(VERSION.exec(text ?? '')?.[1] ?? 0);

/** Returns what an answer says about a change. Any other answer is a fault of the gateway. */
export function outcome({ status, json }) {
  if (status < 300) return json?.durable === false ? 'unknown' : 'acknowledged';
  if (status === 404 || status === 409 || status === 503) return 'refused';
  if (status === 502) return 'unknown';
  throw new Error(`${status} ${JSON.stringify(json)}`);
}

/** Sends a request to a process that may die at any time. */
export async function attempt(process, ...request) {
  try {
    return await admin(process, ...request);
  } catch (error) {
    // Nobody listened, so the request had no effect.
    return { status: error.cause?.code === 'ECONNREFUSED' ? 503 : 502 };
  }
}

export const upstreams = {
  put: (process, key, n, there) =>
    there
      ? attempt(process, 'PATCH', `upstreams/${key}`, { display_name: `v${n}.` })
      : attempt(process, 'POST', 'upstreams', { name: key, url: 'http://127.0.0.1:9/mcp', enabled: false, display_name: `v${n}.` }),
  remove: (process, key) => attempt(process, 'DELETE', `upstreams/${key}`),
  async look(process, keys) {
    const { status, json } = await attempt(process, 'GET', 'upstreams');
    if (status !== 200) return undefined;
    const found = new Map(json.upstreams.map(({ name, display_name }) => [name, versionIn(display_name)]));
    return keys.map((key) => [key, found.get(key)]);
  }
};

export const sessions = {
  put: (process, key, n) =>
    attempt(process, 'POST', 'tools/register', {
      session_id: key,
      user_token: `the-token-of-${key}`,
      user_id: key,
      tools: [{ name: 'fetch', description: `v${n}.`, inputSchema: { type: 'object' }, url: 'http://127.0.0.1:9/fetch' }]
    }),
  // Succeeds even if this process does not know the session yet.
  remove: (process, key) => attempt(process, 'POST', 'session/cleanup', { session_id: key }),
  async look(process, keys) {
    const found = [];
    for (const key of keys) {
      const { status, json } = await attempt(process, 'GET', `tools/list?session_id=${key}`);
      if (status !== 200 && status !== 404) return undefined;
      found.push([key, status === 404 ? undefined : versionIn(json.tools[0].description)]);
    }
    return found;
  }
};

/** A token has no text, so its rate limit carries the version number. */
const PER_MINUTE = 1_000_000;
export const tokens = {
  secrets: new Map(),
  async put(process, key, n) {
    const answer = await attempt(process, 'POST', 'tokens', { name: key, requests_per_minute: PER_MINUTE + n });
    if (answer.status === 201) tokens.secrets.set(`${key} ${n}`, answer.json.token);
    return answer;
  },
  remove: (process, key) => attempt(process, 'DELETE', `tokens/${key}`),
  async look(process, keys) {
    const { status, json } = await attempt(process, 'GET', 'tokens');
    if (status !== 200) return undefined;
    const found = new Map(json.tokens.map(({ name, requests_per_minute }) => [name, requests_per_minute - PER_MINUTE]));
    return keys.map((key) => [key, found.get(key)]);
  }
};

/** A tool whose new description is served once it is ratified. `upstreamOf` returns the scripted upstream of a key. */
export function pins(upstreamOf, toolOf) {
  return {
    async put(process, key, n) {
      upstreamOf(key).tools = [{ ...toolOf('pay'), description: `v${n}.` }];
      const read = await attempt(process, 'POST', `upstreams/${key}/refresh`);
      if (read.status !== 200) return { status: 503 };
      const { status, json } = await attempt(process, 'GET', 'proposals');
      const proposal = status === 200 && json.proposals.find((one) => one.upstream === key && JSON.stringify(one).includes(`v${n}.`));
      if (!proposal) return { status: 503 };
      return attempt(process, 'POST', `proposals/${proposal.id}/ratify`, { by: 'the drill' });
    },
    async look(process, keys) {
      const { status, json } = await attempt(process, 'GET', 'catalog/tools');
      if (status !== 200) return undefined;
      const found = new Map(json.tools.map(({ upstream, description }) => [upstream, versionIn(description)]));
      return keys.map((key) => [key, found.get(key)]);
    }
  };
}

/** Waits until all processes have applied all writes and see the same version of `key`; returns that version. */
export async function agreed(processes, kind, key, ms = 300_000) {
  let n;
  await eventually(`all processes agree about ${key}`, async () => {
    const { status, json } = await attempt(processes[0], 'GET', 'processes');
    if (status !== 200 || !json.processes.every(({ live, behind }) => !live || behind === 0)) return false;
    const found = [];
    for (const process of processes) found.push((await kind.look(process, [key]))?.[0]);
    if (!found.every(Boolean)) return false;
    n = found[0][1];
    return found.every(([, other]) => other === n);
  }, ms);
  return n;
}
