// Two users of one gateway, and an upstream that each of them signs in to.
import assert from 'node:assert/strict';

import { Session } from './clients.mjs';
import { startGateway } from './gateway.mjs';
import { ADMIN_SECRET } from './identity.mjs';
import { startIdentityProvider } from './identity_provider.mjs';
import { Person } from './person.mjs';
import { ProtectedUpstream } from './protected_upstream.mjs';

const WITH_URLS = { elicitation: { form: {}, url: {} } };
export const TOKENS = { ada: 'the-token-of-ada-at-the-gateway', bo: 'the-token-of-bo-at-the-gateway' };
const OAUTH = { type: 'oauth', subject: 'caller', scopes: ['tools'] };

/** Starts an authorization server and an upstream that needs its tokens. */
async function startParts(programs, { era = 'modern', writeScope, bound, scopes = ['tools', 'write'], provider: given = {} }) {
  const provider = await startIdentityProvider({ scopes, refreshTokens: true, ...given });
  programs.push(provider);
  const upstream = await ProtectedUpstream.start(provider, { era, writeScope, bound });
  programs.push(upstream);
  return { provider, upstream };
}

/** Starts a gateway with two users, with new parts or with the running `parts`. */
export async function startStory(programs, { era, writeScope, bound, scopes, provider: given, parts, authentication = {}, ...settings } = {}) {
  const { provider, upstream } = parts ?? (await startParts(programs, { era, writeScope, bound, scopes, provider: given }));
  const gateway = await startGateway({
    upstreams: [{ name: 'notes', url: upstream.url, prefix: 'notes_', fail_fast_on_startup: false, authentication: { ...OAUTH, ...authentication } }],
    tokens: [
      { name: 'ada', token_env: 'ADA_TOKEN' },
      { name: 'bo', token_env: 'BO_TOKEN' }
    ],
    auth: { anonymous: 'never' },
    ...settings,
    env: { ADA_TOKEN: TOKENS.ada, BO_TOKEN: TOKENS.bo, PROTEUS_ADMIN_SECRET: ADMIN_SECRET, ...settings.env }
  });
  programs.push(gateway);
  return { provider, upstream, gateway };
}

/** Connects a client of a user. On an elicitation by URL, the user's browser opens the link, unless `open` is given. */
export async function clientOf(client, gateway, user, { open, capabilities = WITH_URLS } = {}) {
  const session = await Session.open(client, { url: gateway.url, token: TOKENS[user], capabilities });
  session.asked = [];
  session.person = new Person(user, { token: TOKENS[user] });
  if (capabilities.elicitation) {
    session.answer('elicitation/create', async (params) => {
      session.asked.push(params);
      return open ? open(params, session) : (session.opening = session.person.connect(params.url)) && { action: 'accept' };
    });
  }
  return session;
}

/** Returns the link in the text that a client without elicitation gets. */
export const linkIn = (text) => /https?:\/\/\S+\/connect\/\S+/.exec(text)?.[0];

export const ADMIN = { 'x-admin-secret': ADMIN_SECRET, 'content-type': 'application/json' };

export async function connectionsOf(gateway) {
  const response = await fetch(new URL('/admin/connections', gateway.url), { headers: ADMIN });
  return (await response.json()).connections;
}

export async function disconnectAll(gateway, user) {
  for (const { id, principal } of await connectionsOf(gateway)) {
    if (user && principal !== user) continue;
    const response = await fetch(new URL(`/admin/connections/${id}`, gateway.url), { method: 'DELETE', headers: ADMIN });
    assert.equal(response.status, 200, await response.text());
  }
}
