// A gateway whose callers have their identity from a provider, and an upstream that remembers what it was asked.
import assert from 'node:assert/strict';

import { startGateway } from './gateway.mjs';
import { startIdentityProvider } from './identity_provider.mjs';
import { send } from './raw.mjs';
import { ScriptedUpstream } from './scripted_upstream.mjs';

export const ADMIN_SECRET = 'the-admin-secret';

const tool = (name, annotations = {}) => ({ name, inputSchema: { type: 'object' }, annotations });

/** `read_report`, `write_report` and `delete_report`; a call says what it was called with. */
export const REPORTS = [tool('read_report', { readOnlyHint: true }), tool('write_report'), tool('delete_report', { destructiveHint: true })];

export class ReportUpstream extends ScriptedUpstream {
  heads = [];

  receive(request, response) {
    this.heads.push(request.rawHeaders.join('\n'));
    return super.receive(request, response);
  }

  answer(message) {
    const answer = super.answer(message);
    if (message.method === 'tools/call') answer.result.structuredContent = { tool: message.params.name, arguments: message.params.arguments };
    return answer;
  }
}

/** The entry of a provider in the configuration. */
export function issuerEntry(provider, more = {}) {
  const { client_id } = provider.introspection;
  const introspection = provider.settings.format === 'opaque' ? { introspection: { client_id, client_secret_env: 'PROVIDER_SECRET' } } : {};
  return { issuer: provider.issuer, leeway: '0s', ...introspection, ...more };
}

/**
 * Starts a provider, an upstream and a gateway between, and puts them among `programs`. `provider` has its settings, `issuer` those of its
 * entry; everything else is as for `startGateway`. `upstream` says how the reports are configured.
 */
export async function startProtected(programs, { provider: given = {}, issuer = {}, issuers = [], upstream: shaped = {}, rules = [{ match: {} }], ...settings } = {}) {
  const provider = await startIdentityProvider(given);
  programs.push(provider);
  const upstream = await ReportUpstream.start(REPORTS);
  programs.push(upstream);
  const gateway = await startGateway({
    upstreams: [{ name: 'reports', url: upstream.url, prefix: '', ...shaped }],
    issuers: [issuerEntry(provider, issuer), ...issuers],
    rules,
    ...settings,
    env: { PROTEUS_ADMIN_SECRET: ADMIN_SECRET, PROVIDER_SECRET: provider.introspection.client_secret, ...settings.env }
  });
  programs.push(gateway);
  return { provider, upstream, gateway, resource: gateway.url, at: (path) => new URL(path, gateway.url).href };
}

/** What a caller with this token sees, by name. */
export async function toolsOf(url, token, options) {
  const response = await send(url, 'tools/list', {}, { token, ...options });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return JSON.parse(text).result.tools.map(({ name }) => name).sort();
}

export async function statusOf(url, token, options) {
  const response = await send(url, 'tools/list', {}, { token, ...options });
  await response.text();
  return response.status;
}

/** A refusal as far as a caller sees it: status, challenge and body. */
export async function refusalOf(response) {
  return { status: response.status, challenge: response.headers.get('www-authenticate'), body: await response.text() };
}

/** The parameters of the first challenge of a `WWW-Authenticate`. */
export function parametersOf(challenge) {
  const [first] = challenge.split(/, (?=DPoP )/);
  return Object.fromEntries([...first.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [name, value]));
}

/** Whether a text has any part of a token that says something. */
export function quotes(text, token) {
  return token.split('.').some((part) => part.length > 8 && text.includes(part.slice(0, 24)));
}

/** Which rule fits, as the admin API says. */
export async function matchClaims(gateway, claims) {
  const response = await fetch(new URL('/admin/principals/match', gateway.url), {
    method: 'POST',
    headers: { 'x-admin-secret': ADMIN_SECRET, 'content-type': 'application/json' },
    body: JSON.stringify(claims)
  });
  const answer = await response.json();
  assert.equal(response.status, 200, JSON.stringify(answer));
  return answer;
}
