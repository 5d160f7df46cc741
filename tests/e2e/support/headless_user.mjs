// A user without a browser: follows an authorization request through the pages of the provider, to the redirect back to
// the client.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';

import { prove } from './dpop.mjs';

const MOST_PAGES = 12;

/** Cookies by name. There is one provider and one sign-in, so paths do not matter. */
class Cookies {
  values = new Map();

  keep(response) {
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie);
      if (value === '') this.values.delete(name);
      else this.values.set(name, value);
    }
  }

  toString() {
    return [...this.values].map(([name, value]) => `${name}=${value}`).join('; ');
  }
}

/** Signs in as `subject`, consents to everything, and returns the URL that leads back to the client. */
export async function signIn(authorizationUrl, subject) {
  const cookies = new Cookies();
  const { origin } = new URL(authorizationUrl);
  let url = new URL(authorizationUrl);
  let form;
  for (let page = 0; page < MOST_PAGES; ++page) {
    const response = await fetch(url, { method: form ? 'POST' : 'GET', body: form, redirect: 'manual', headers: { cookie: `${cookies}` } });
    cookies.keep(response);
    const text = await response.text();
    form = undefined;
    const location = response.headers.get('location');
    if (location) {
      url = new URL(location, url);
      if (url.origin !== origin) return url;
      continue;
    }
    const [, action] = /<form[^>]* action="([^"]*)"/.exec(text) ?? [];
    const [, prompt] = /name="prompt" value="(\w+)"/.exec(text) ?? [];
    if (response.status !== 200 || !action) throw new Error(`the provider answers ${response.status}: ${text.replaceAll(/<style>[\s\S]*?<\/style>|<[^>]*>|\s+/g, ' ')}`);
    url = new URL(action.replaceAll('&amp;', '&'), url);
    form = new URLSearchParams({ prompt, ...(prompt === 'login' ? { login: subject, password: 'any' } : {}) });
  }
  throw new Error(`no way back to the client after ${MOST_PAGES} pages`);
}

/**
 * Runs the authorization code flow of a public client for `resource` and returns the answer of the token endpoint.
 * `dpop` is the key to bind the tokens to.
 */
export async function authorize(provider, { resource, subject = 'ada', scope = 'tools', client = 'desktop', redirect = provider.redirectUri, dpop, nonce }) {
  const verifier = randomBytes(32).toString('base64url');
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const request = { client_id: client, response_type: 'code', redirect_uri: redirect, scope, resource, code_challenge: challenge, code_challenge_method: 'S256', state: verifier.slice(0, 8), ...(nonce ? { nonce } : {}) };
  const back = (await signIn(`${provider.issuer}/auth?${new URLSearchParams(request)}`, subject)).searchParams;
  assert.equal(back.get('state'), request.state, `${back}`);
  assert.equal(back.get('iss'), provider.issuer);
  const url = `${provider.issuer}/token`;
  const body = new URLSearchParams({ grant_type: 'authorization_code', client_id: client, code: back.get('code'), redirect_uri: redirect, code_verifier: verifier, resource });
  const response = await fetch(url, { method: 'POST', body, headers: dpop ? { dpop: await prove(dpop, { url }) } : {} });
  const answer = await response.json();
  assert.equal(response.status, 200, JSON.stringify(answer));
  return answer;
}
