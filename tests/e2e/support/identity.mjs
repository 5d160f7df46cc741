// A gateway whose callers sign in at an identity provider, and an upstream that records its requests.
import assert from 'node:assert/strict';

import { startGateway } from './gateway.mjs';
import { startIdentityProvider } from './identity_provider.mjs';
import { send } from './raw.mjs';
import { ScriptedUpstream } from './scripted_upstream.mjs';

export const ADMIN_SECRET = 'the-admin-secret';

const tool = (name, annotations = {}) => ({ name, inputSchema: { type: 'object' }, annotations });

/** The tools `read_report`, `write_report` and `delete_report`. Each result repeats the tool and its arguments. */
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

/** Returns the entry of a provider in the configuration. */
export function issuerEntry(provider, more = {}) {
  const { client_id } = provider.introspection;
  const introspection = provider.settings.format === 'opaque' ? { introspection: { client_id, client_secret_env: 'PROVIDER_SECRET' } } : {};
  return { issuer: provider.issuer, leeway: '0s', ...introspection, ...more };
}

/**
 * Starts a provider, an upstream and a gateway between them, and adds them to `programs`. `provider` has the settings
 * of the provider, `issuer` those of its entry in the configuration, and `upstream` those of the entry of the reports.
 * Everything else is as for `startGateway`.
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

/** Returns the names of the tools that a caller with this token sees. */
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

/** Returns what a caller sees of a refusal: status, challenge and body. */
export async function refusalOf(response) {
  return { status: response.status, challenge: response.headers.get('www-authenticate'), body: await response.text() };
}

/** Returns the parameters of the first challenge of a `WWW-Authenticate` field. */
export function parametersOf(challenge) {
  const [first] = challenge.split(/, (?=DPoP )/);
  return Object.fromEntries([...first.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [name, value]));
}

/** Whether a text contains a significant part of a token. */
export function quotes(text, token) {
  return token.split('.').some((part) => part.length > 8 && text.includes(part.slice(0, 24)));
}

/** Asks the admin API which rule matches the claims. */
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
