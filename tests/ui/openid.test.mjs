// UIX-01, UIX-02: operators sign in on the page at an identity provider. As in practice, the provider and the gateway
// are different sites: one is 127.0.0.1, the other localhost.
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { describe, test, before, after } from 'node:test';

import { startGateway } from '../e2e/support/gateway.mjs';
import { startIdentityProvider } from '../e2e/support/identity_provider.mjs';
import { runningPrograms } from '../e2e/support/programs_of_suite.mjs';
import { ScriptedUpstream } from '../e2e/support/scripted_upstream.mjs';
import { holds, isOff, shows } from './support/shown.mjs';
import { launch, SECRET, tool } from './support/world.mjs';

const RULES = [
  { match: { groups: ['admins'] }, admin: 'admin', name: 'operator {sub}' },
  { match: { groups: ['viewers'] }, admin: 'viewer' },
  { match: { groups: ['callers'] } }
];

async function freePort() {
  const server = createServer();
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address();
  await new Promise((closed) => server.close(closed));
  return port;
}

describe('signing in at an identity provider', () => {
  let provider;
  let gateway;
  let origin;
  let browser;
  let settings;
  runningPrograms(async (programs) => {
    provider = await startIdentityProvider({ people: { ada: { groups: ['admins'] }, bob: { groups: ['viewers'] }, eve: { groups: ['callers'] } } });
    programs.push(provider);
    const upstream = await ScriptedUpstream.start([tool('first', 'The first one.')]);
    programs.push(upstream);
    const port = await freePort();
    origin = `http://localhost:${port}`;
    settings = {
      upstreams: [{ name: 'files', url: upstream.url }],
      issuers: [{ issuer: provider.issuer, sign_in: { client_id: 'proteus', client_secret_env: 'SIGN_IN_SECRET' } }],
      rules: RULES,
      server: { listen: `127.0.0.1:${port}`, public_url: origin },
      env: { PROTEUS_ADMIN_SECRET: SECRET, SIGN_IN_SECRET: 'of the gateway at the provider' }
    };
    gateway = await startGateway(settings);
    programs.push(gateway);
    const [, redirect] = new RegExp(`${provider.issuer} come back to (\\S+)`).exec(gateway.log());
    await provider.addClient({ client_id: 'proteus', client_secret: 'of the gateway at the provider', redirect_uris: [redirect], grant_types: ['authorization_code'] });
  });
  before(async () => {
    browser = await launch();
  });
  after(() => browser?.close());

  const admin = async (path) => (await fetch(`${origin}/admin/${path}`, { headers: { 'x-admin-secret': SECRET } })).json();

  /** Opens a path of the page in a new browser profile. */
  const visit = async (path = '/ui') => {
    const page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(20_000);
    await page.goto(origin + path);
    await page.getByRole('button', { name: /^Sign in at / }).waitFor();
    return page;
  };
  /** Goes to the provider and signs in there, up to the last page before the way back. */
  const leave = async (page, subject) => {
    await page.getByRole('button', { name: /^Sign in at / }).click();
    await page.locator('input[name=login]').fill(subject);
    await page.locator('input[name=password]').fill('any');
    await page.locator('button[type=submit]').click();
    await page.locator('input[name=prompt][value=consent]').waitFor({ state: 'attached' });
  };
  const comeBack = (page) => page.locator('button[type=submit]').click();
  const signIn = async (subject, path) => {
    const page = await visit(path);
    await leave(page, subject);
    await comeBack(page);
    await page.getByRole('navigation', { name: 'Screens' }).waitFor();
    return page;
  };

  test('UIX-01 an operator comes back to where they were, and acts under their own name', async () => {
    const page = await signIn('ada', '/ui/upstreams/files?x=1');
    await page.getByRole('heading', { name: 'files' }).waitFor();
    assert.equal(page.url(), `${origin}/ui/upstreams/files?x=1`);
    await shows(page.locator('.who'), /operator ada/);
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByText(/Read in \d+ ms/).waitFor();
    const { audit } = await admin('audit');
    assert.ok(audit.some((one) => one.who === 'operator ada' && one.what === 'upstream.refresh'));
    assert.ok(audit.some((one) => one.who === 'operator ada' && one.what === 'page.sign_in' && one.detail.issuer === provider.issuer));
    await page.context().close();
  });

  test('UIX-02 the session is a Strict cookie, the way there a Lax one, and no script can read either', async () => {
    const page = await signIn('ada');
    const cookies = await page.context().cookies(`${origin}/ui`);
    assert.deepEqual(cookies.map((one) => one.sameSite).sort(), ['Lax', 'Strict']);
    assert.ok(cookies.every((one) => one.httpOnly));
    assert.deepEqual(await page.evaluate(() => [document.cookie, localStorage.length, sessionStorage.length, location.hash]), ['', 0, 0, '']);
    await page.reload();
    await page.getByRole('navigation', { name: 'Screens' }).waitFor();
    await page.context().close();
  });

  test('UIX-01 rules say who may only look, and who may not come in', async () => {
    const viewer = await signIn('bob', '/ui/upstreams/files');
    await viewer.getByRole('heading', { name: 'files' }).waitFor();
    await isOff(viewer.getByRole('button', { name: 'Refresh' }));
    const status = await viewer.evaluate(async () => {
      const { token } = await (await fetch('/ui/session')).json();
      return (await fetch('/admin/upstreams/files/refresh', { method: 'POST', headers: { 'x-proteus-token': token } })).status;
    });
    assert.equal(status, 403);
    await viewer.context().close();
    const caller = await visit();
    await leave(caller, 'eve');
    await comeBack(caller);
    await caller.getByRole('heading', { name: 'This account cannot be used here' }).waitFor();
    await caller.goto(`${origin}/ui`);
    await caller.getByRole('button', { name: /^Sign in at / }).waitFor();
    await caller.context().close();
  });

  test('UIX-02 the way back of one browser is of no use in another', async () => {
    const page = await visit();
    await leave(page, 'ada');
    // Up to the redirect back to the gateway, which is not followed.
    const step = (url, options) => page.context().request.fetch(url, { maxRedirects: 0, ...options });
    const action = await page.locator('form').getAttribute('action');
    let answer = await step(new URL(action, page.url()).href, { method: 'POST', form: { prompt: 'consent' } });
    let stolen = answer.headers().location;
    while (!stolen.startsWith(origin)) {
      answer = await step(new URL(stolen, provider.issuer).href);
      stolen = answer.headers().location;
    }
    const thief = await visit();
    await thief.goto(stolen);
    await thief.getByRole('heading', { name: 'This sign-in is not known here' }).waitFor();
    // The sign-in still works for its owner.
    await page.goto(stolen);
    await page.getByRole('navigation', { name: 'Screens' }).waitFor();
    await page.context().close();
    await thief.context().close();
  });

  test('UIX-02 the code that the page is given works once, and for the browser that left', async () => {
    const page = await visit();
    let code;
    await page.route('**/ui/sign-in', (route) => {
      const sent = route.request().method() === 'POST' ? route.request().postDataJSON() : {};
      if (!sent.code || code) return route.continue();
      code = sent.code;
      return route.abort();
    });
    await leave(page, 'ada');
    await comeBack(page);
    await page.getByLabel('Admin secret or key').waitFor();
    assert.ok(code);
    const use = (tab) => tab.evaluate(async (given) => (await fetch('/ui/sign-in', { method: 'POST', body: JSON.stringify({ code: given }) })).status, code);
    const thief = await visit();
    assert.equal(await use(thief), 401);
    assert.equal(await use(page), 200);
    assert.equal(await use(page), 401);
    await page.context().close();
    await thief.context().close();
  });

  test('UIX-02 a provider\'s answer to another request is refused', async () => {
    const page = await visit();
    await page.route(`${provider.issuer}/auth?*`, (route) => {
      const url = new URL(route.request().url());
      assert.equal(url.searchParams.get('code_challenge_method'), 'S256');
      assert.ok(url.searchParams.get('state').length >= 32 && url.searchParams.get('nonce').length >= 32);
      url.searchParams.set('nonce', 'of another request');
      return route.fulfill({ status: 303, headers: { location: url.href.replace('/auth?', '/auth?again=1&') } });
    }, { times: 1 });
    await leave(page, 'ada');
    await comeBack(page);
    await page.getByText('what the identity provider says answers another request').waitFor();
    await page.context().close();
  });

  test('UIX-02 a page of another site cannot send somebody to sign in, and only known providers are left for', async () => {
    const ask = (headers, body) => fetch(`${origin}/ui/sign-in`, { method: 'POST', headers, body: JSON.stringify(body) }).then((answer) => answer.status);
    const wanted = { issuer: provider.issuer, path: '/ui' };
    assert.equal(await ask({ origin: 'http://evil.example' }, wanted), 403);
    assert.equal(await ask({}, wanted), 403);
    assert.equal(await ask({ origin, 'sec-fetch-site': 'cross-site' }, wanted), 403);
    assert.equal(await ask({ origin }, { issuer: 'http://evil.example', path: '/ui' }), 404);
    for (const path of ['//evil.example', '/ui\\evil', '/uix', 'https://evil.example', '/ui\nx']) {
      const page = await visit();
      await page.evaluate(async ([issuer, given]) => {
        const { url } = await (await fetch('/ui/sign-in', { method: 'POST', body: JSON.stringify({ issuer, path: given }) })).json();
        location.assign(url);
      }, [provider.issuer, path]);
      await page.locator('input[name=login]').waitFor();
      if (path === '//evil.example') {
        await page.locator('input[name=login]').fill('ada');
        await page.locator('input[name=password]').fill('any');
        await page.locator('button[type=submit]').click();
        await page.locator('input[name=prompt][value=consent]').waitFor({ state: 'attached' });
        await comeBack(page);
        await page.getByRole('navigation', { name: 'Screens' }).waitFor();
        assert.equal(page.url(), `${origin}/ui`);
      }
      await page.context().close();
    }
  });

  test('UIX-02 a session ends with the rules that it came by, and another tab renews it without losing what was typed', async () => {
    const page = await signIn('ada', '/ui/upstreams/files');
    await page.locator('.settings summary').click();
    await page.getByLabel('call_timeout', { exact: true }).fill('77s');
    gateway.reconfigure({ rules: [...RULES, { match: { groups: ['nobody'] } }] });
    await page.getByRole('dialog', { name: 'Sign in again' }).waitFor();
    const opened = page.waitForEvent('popup');
    await page.getByRole('link', { name: /in a new tab/ }).click();
    const tab = await opened;
    await tab.getByRole('button', { name: /^Sign in at / }).click();
    // The provider still has their session.
    await tab.getByRole('navigation', { name: 'Screens' }).waitFor();
    await page.getByRole('dialog', { name: 'Sign in again' }).waitFor({ state: 'detached' });
    await holds(page.getByLabel('call_timeout', { exact: true }), '77s');
    await page.getByRole('button', { name: 'Save call_timeout' }).click();
    await page.getByText('call_timeout (changed here)').waitFor();
    await page.context().close();
  });
});
