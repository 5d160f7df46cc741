// The one place that speaks to the gateway. The cookie that signs requests is the browser's; the token that changes need is
// kept in memory only.
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

async function problemOf(answer: Response): Promise<Problem> {
  try {
    const body = await answer.json();
    return new Problem(answer.status, body.detail ?? body.title ?? answer.statusText, body.errors ?? []);
  } catch {
    return new Problem(answer.status, `the gateway answered ${answer.status}`);
  }
}

async function send(method: string, path: string, body?: unknown): Promise<Response> {
  const headers: Record<string, string> = {};
  if (method !== 'GET') headers['x-proteus-token'] = token;
  if (body !== undefined) headers['content-type'] = 'application/json';
  let answer: Response;
  try {
    answer = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), credentials: 'same-origin' });
  } catch {
    throw new Problem(0, 'the gateway does not answer');
  }
  if (answer.ok) return answer;
  const problem = await problemOf(answer);
  if (answer.status === 401 && path.startsWith('/admin')) onSignedOut();
  throw problem;
}

async function json<Value>(method: string, path: string, body?: unknown): Promise<Value> {
  return (await send(method, path, body)).json();
}

function query(parameters: Record<string, string | number | null | undefined>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined);
  return given.length === 0 ? '' : `?${new URLSearchParams(given.map(([key, value]) => [key, String(value)]))}`;
}

async function keep(session: Promise<T.Session>): Promise<T.Session> {
  const kept = await session;
  token = kept.token;
  return kept;
}

export interface Look { as: string | null; context: string }
const looking = (look: Look) => ({ as: look.as, context: look.context || null });
const upstream = (name: string) => `/admin/upstreams/${encodeURIComponent(name)}`;

export const api = {
  session: () => keep(json<T.Session>('GET', '/ui/session')),
  signIn: (secret: string) => keep(json<T.Session>('POST', '/ui/sign-in', { secret })),
  signInByCode: (code: string) => keep(json<T.Session>('POST', '/ui/sign-in', { code })),
  signOut: () => send('POST', '/ui/sign-out'),

  upstreams: async () => (await json<{ upstreams: T.Upstream[] }>('GET', '/admin/upstreams')).upstreams,
  upstream: (name: string) => json<T.Upstream>('GET', upstream(name)),
  create: (settings: Record<string, unknown>) => json<T.Upstream>('POST', '/admin/upstreams', settings),
  patch: (name: string, settings: Record<string, unknown>) => json<T.Upstream>('PATCH', upstream(name), settings),
  remove: (name: string) => json<T.Upstream>('DELETE', upstream(name)),
  refresh: (name: string) => json<T.RefreshResult>('POST', `${upstream(name)}/refresh`),

  proposals: async () => (await json<{ proposals: T.Proposal[] }>('GET', '/admin/proposals')).proposals,
  decide: (id: string, verdict: 'ratify' | 'reject') => json<unknown>('POST', `/admin/proposals/${encodeURIComponent(id)}/${verdict}`),

  changes: (since: number, limit = 1000) => json<T.ChangePage>('GET', `/admin/changes${query({ since, limit })}`),

  tokens: async () => (await json<{ tokens: T.Token[] }>('GET', '/admin/tokens')).tokens,
  createToken: (token: Record<string, unknown>) => json<T.IssuedToken>('POST', '/admin/tokens', token),
  rotateToken: (name: string) => json<T.IssuedToken>('POST', `/admin/tokens/${encodeURIComponent(name)}/rotate`),
  revokeToken: (name: string) => json<T.Token>('DELETE', `/admin/tokens/${encodeURIComponent(name)}`),

  datasets: () => json<T.Datasets>('GET', '/admin/datasets'),
  connectDataset: (name: string, what: 'connect' | 'disconnect') => json<T.Dataset>('POST', `/admin/datasets/${encodeURIComponent(name)}/${what}`),

  audit: async () => (await json<{ audit: T.AuditRecord[] }>('GET', '/admin/audit?limit=1000')).audit,

  connections: async () => (await json<{ connections: T.Connection[] }>('GET', '/admin/connections')).connections,
  connectGateway: (upstream: string) => json<{ upstream: string; url: string }>('POST', '/admin/connections', { upstream }),
  disconnect: (id: string) => json<unknown>('DELETE', `/admin/connections/${encodeURIComponent(id)}`),

  sessions: () => json<T.OpenSessions>('GET', '/admin/sessions'),
  endSession: (id: string) => json<unknown>('DELETE', `/admin/sessions/${encodeURIComponent(id)}`),
  endToolSession: (id: string) => json<unknown>('POST', '/admin/session/cleanup', { session_id: id }),

  figures: async (upstream?: string) => (await json<{ moments: T.Moment[] }>('GET', `/admin/figures${query({ upstream })}`)).moments,
  tryToken: (as: string | null) => json<{ token: string; principal: string; expires_at: string }>('POST', '/admin/try', { as }),
  preview: (change: Record<string, unknown>) => json<T.Preview>('POST', '/admin/preview', change),
  search: (look: Look, q: string) => json<T.Found>('GET', `/admin/search${query({ ...looking(look), q, limit: 20 })}`),

  view: (look: Look, q: string, offset: number, limit: number) =>
    json<T.View>('GET', `/admin/view${query({ ...looking(look), q: q || null, offset, limit })}`),
  why: (look: Look, name: string) => json<T.Why>('GET', `/admin/why${query({ ...looking(look), name })}`),
  principals: () => json<T.Principals>('GET', '/admin/principals'),
  contexts: async () => (await json<{ contexts: T.Context[] }>('GET', '/admin/contexts')).contexts
};
