// The client of the gateway's admin API. The browser sends the session cookie, which no script can read. The token that
// changes require is kept only in memory.
import type { Answers, Routes } from './routes.ts';
import type * as T from './types.ts';

export class Problem extends Error {
  readonly status: number;
  readonly faults: T.Fault[];
  constructor(status: number, message: string, faults: T.Fault[] = []) {
    super(message);
    this.status = status;
    this.faults = faults;
  }
}

let token = '';
let onSignedOut: () => void = () => {};
export const setOnSignedOut = (listener: () => void) => { onSignedOut = listener; };

// POST requests that change nothing. All other changes are passed to the listener of `setOnChange`.
const ASKS = new Set(['/admin/preview', '/admin/try', '/admin/principals/match', '/admin/datasets/validate', '/admin/datasets/propose']);
export interface Asked { method: string; path: string; body?: unknown }
let onChange: (change: Asked) => void = () => {};
export const setOnChange = (listener: (change: Asked) => void) => { onChange = listener; };

async function problemOf(answer: Response): Promise<Problem> {
  try {
    const body = await answer.json();
    return new Problem(answer.status, body.detail ?? body.title ?? answer.statusText, body.errors ?? []);
  } catch {
    return new Problem(answer.status, `the gateway answered ${answer.status}`);
  }
}

// Reloads the session and returns whether its token has changed: the user may have signed in again in another tab.
async function hasNewToken(): Promise<boolean> {
  const before = token;
  try {
    await api.session();
  } catch {
    return false;
  }
  return token !== before;
}

async function send(method: string, path: string, body?: unknown, more: Record<string, string> = {}, again = true): Promise<Response> {
  const headers: Record<string, string> = { ...more };
  if (method !== 'GET') headers['x-proteus-token'] = token;
  if (body !== undefined) headers['content-type'] = 'application/json';
  let answer: Response;
  try {
    answer = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), credentials: 'same-origin' });
  } catch {
    throw new Problem(0, 'the gateway does not answer');
  }
  if (answer.ok) {
    if (method !== 'GET' && path.startsWith('/admin') && !ASKS.has(path)) onChange({ method, path, body });
    return answer;
  }
  const problem = await problemOf(answer);
  if (answer.status === 403 && method !== 'GET' && again && await hasNewToken()) return send(method, path, body, more, false);
  if (answer.status === 401 && path.startsWith('/admin')) onSignedOut();
  throw problem;
}

async function json<Value>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Value> {
  return (await send(method, path, body, headers)).json();
}

type Values = Record<string, string | number | null | undefined>;

function query(parameters: Values): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined);
  return given.length === 0 ? '' : `?${new URLSearchParams(given.map(([key, value]) => [key, String(value)]))}`;
}

// Requests are checked at compile time against routes.ts: method, path, and the names in paths and queries.
type Variable<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | Variable<Rest> : never;
type Given<Route extends keyof Answers & keyof Routes> = {
  query?: Partial<Record<Routes[Route], string | number | null | undefined>>;
  body?: unknown;
  headers?: Record<string, string>;
} & ([Variable<Route>] extends [never] ? unknown : { path: Record<Variable<Route>, string> });

async function ask<Route extends keyof Answers & keyof Routes>(
  route: Route, ...[asked]: [Variable<Route>] extends [never] ? [Given<Route>?] : [Given<Route>]
): Promise<Answers[Route]> {
  const [method, pattern] = route.split(' ') as [string, string];
  const variables = (asked as { path?: Record<string, string> } | undefined)?.path ?? {};
  const path = pattern.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(variables[name]!));
  return json<Answers[Route]>(method, path + query((asked?.query ?? {}) as Values), asked?.body, asked?.headers);
}

async function keep(session: Promise<T.Session>): Promise<T.Session> {
  const kept = await session;
  token = kept.token;
  return kept;
}

export interface Perspective { as: string | null; context: string }
const perspectiveQuery = (perspective: Perspective) => ({ as: perspective.as, context: perspective.context || null });
const named = (name: string) => ({ path: { name } });
const known = (id: string) => ({ path: { id } });

export const api = {
  session: () => keep(json<T.Session>('GET', '/ui/session')),
  signIn: (secret: string) => keep(json<T.Session>('POST', '/ui/sign-in', { secret })),
  signInByCode: (code: string) => keep(json<T.Session>('POST', '/ui/sign-in', { code })),
  providers: async () => (await json<{ issuers: string[] }>('GET', '/ui/providers')).issuers,
  // Returns the URL of the identity provider, which redirects the browser back to `path`.
  signInAt: async (issuer: string, path: string) => (await json<{ url: string }>('POST', '/ui/sign-in', { issuer, path })).url,
  signOut: () => send('POST', '/ui/sign-out'),

  upstreams: async () => (await ask('GET /admin/upstreams')).upstreams,
  upstream: (name: string) => ask('GET /admin/upstreams/{name}', named(name)),
  create: (settings: Record<string, unknown>) => ask('POST /admin/upstreams', { body: settings }),
  // With `seen`, fails with 409 if the upstream has been changed since then.
  patch: (name: string, settings: Record<string, unknown>, seen?: string) => ask('PATCH /admin/upstreams/{name}', { ...named(name), body: settings, ...(seen ? { headers: { 'if-match': `"${seen}"` } } : {}) }),
  remove: (name: string) => ask('DELETE /admin/upstreams/{name}', named(name)),
  refresh: (name: string) => ask('POST /admin/upstreams/{name}/refresh', named(name)),

  proposals: async () => (await ask('GET /admin/proposals')).proposals,
  proposal: (id: string) => ask('GET /admin/proposals/{id}', known(id)),
  decide: (id: string, verdict: 'ratify' | 'reject') => ask(`POST /admin/proposals/{id}/${verdict}`, known(id)),

  changes: (since: number, limit = 1000) => ask('GET /admin/changes', { query: { since, limit } }),

  tokens: async () => (await ask('GET /admin/tokens')).tokens,
  createToken: (token: Record<string, unknown>) => ask('POST /admin/tokens', { body: token }),
  rotateToken: (name: string) => ask('POST /admin/tokens/{name}/rotate', named(name)),
  revokeToken: (name: string) => ask('DELETE /admin/tokens/{name}', named(name)),

  datasets: () => ask('GET /admin/datasets'),
  connectDataset: (name: string, what: 'connect' | 'disconnect') => ask(`POST /admin/datasets/{name}/${what}`, named(name)),

  propose: (request: { name: string; dsn_env: string; schema: string }) => ask('POST /admin/datasets/propose', { body: request }),
  validate: (mapping: string) => ask('POST /admin/datasets/validate', { body: { mapping } }),
  ratify: (mapping: string) => ask('POST /admin/datasets/ratify', { body: { mapping } }),
  revoke: (name: string) => ask('POST /admin/datasets/{name}/revoke', named(name)),
  mapping: async (name: string) => (await ask('GET /admin/datasets/{name}/mapping', named(name))).mapping,

  records: (upstream: string | undefined, limit: number) => ask('GET /admin/records', { query: { upstream, limit } }),

  audit: async () => (await ask('GET /admin/audit', { query: { limit: 1000 } })).audit,

  connections: async () => (await ask('GET /admin/connections')).connections,
  connectGateway: (upstream: string) => ask('POST /admin/connections', { body: { upstream } }),
  disconnect: (id: string) => ask('DELETE /admin/connections/{id}', known(id)),

  sessions: () => ask('GET /admin/sessions'),
  endSession: (id: string) => ask('DELETE /admin/sessions/{id}', known(id)),
  endToolSession: (id: string) => ask('POST /admin/session/cleanup', { body: { session_id: id } }),

  figures: async (upstream?: string) => (await ask('GET /admin/figures', { query: { upstream } })).moments,
  tryToken: (as: string | null) => ask('POST /admin/try', { body: { as } }),
  preview: (change: Record<string, unknown>) => ask('POST /admin/preview', { body: change }),
  search: (perspective: Perspective, q: string) => ask('GET /admin/search', { query: { ...perspectiveQuery(perspective), q, limit: 20 } }),

  view: (perspective: Perspective, q: string, offset: number, limit: number) => ask('GET /admin/view', { query: { ...perspectiveQuery(perspective), q: q || null, offset, limit } }),
  why: (perspective: Perspective, name: string) => ask('GET /admin/why', { query: { ...perspectiveQuery(perspective), name } }),
  issuers: async () => (await ask('GET /admin/issuers')).issuers,
  rules: async () => (await ask('GET /admin/rules')).rules,
  match: (claims: unknown) => ask('POST /admin/principals/match', { body: claims }),
  principals: () => ask('GET /admin/principals'),
  contexts: async () => (await ask('GET /admin/contexts')).contexts
};
