// UIX-02, UIX-04: several operators, several tabs, and sessions that end in the middle of something.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { stopAll } from '../e2e/support/programs.mjs';
import { holds, shows } from './support/shown.mjs';
import { launch, SECRET, signedIn, startWorld } from './support/world.mjs';

describe('operators beside each other', () => {
  let world;
  let browser;
  before(async () => {
    world = await startWorld();
    browser = await launch();
  });
  after(() => stopAll([world, browser]));

  const again = async (page) => {
    await page.getByRole('dialog', { name: 'Sign in again' }).getByLabel('Admin secret or key').fill(SECRET);
    await page.getByRole('dialog', { name: 'Sign in again' }).getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('dialog', { name: 'Sign in again' }).waitFor({ state: 'detached' });
  };

  test('UIX-04 two operators change the same setting: the second is told, and decides', async () => {
    const page = await signedIn(browser, world.origin, { path: '/ui/upstreams/files' });
    await page.locator('.settings summary').click();
    const field = page.getByLabel(/^call_timeout( \(changed here\))?$/);
    await field.fill('61s');
    // Keeps the other change from the page until it saves.
    let saving = false;
    await page.route('**/admin/upstreams/files', (route) => {
      saving ||= route.request().method() === 'PATCH';
      return saving ? route.continue() : route.abort();
    });
    await world.admin('PATCH', 'upstreams/files', { call_timeout: '62s' });
    const refused = page.waitForResponse((answer) => answer.request().method() === 'PATCH');
    await page.getByRole('button', { name: 'Save call_timeout' }).click();
    assert.equal((await refused).status(), 409);
    await page.getByText('Somebody else changed call_timeout meanwhile').waitFor();
    await shows(page.getByRole('alert').filter({ hasText: 'Somebody else' }), /(62s|1m2s)/);
    assert.match((await world.admin('GET', 'upstreams/files')).call_timeout, /^(62s|1m2s)$/);
    await holds(field, '61s');
    const answered = page.waitForResponse((answer) => answer.request().method() === 'PATCH');
    await page.getByRole('button', { name: 'Save call_timeout' }).click();
    assert.equal((await answered).status(), 200);
    await page.getByText('call_timeout (changed here)').waitFor();
    await page.getByText('Somebody else changed').waitFor({ state: 'detached' });
    assert.match((await world.admin('GET', 'upstreams/files')).call_timeout, /^(61s|1m1s)$/);
    await page.context().close();
  });

  test('UIX-04 an upstream that somebody removes while it is open says so', async () => {
    await world.admin('POST', 'upstreams', { name: 'brief', url: world.files.url });
    const page = await signedIn(browser, world.origin, { path: '/ui/upstreams/brief' });
    await page.getByRole('heading', { name: 'brief' }).waitFor();
    await world.admin('DELETE', 'upstreams/brief');
    await page.getByRole('heading', { name: 'There is no such upstream' }).waitFor();
    await page.context().close();
  });

  test('UIX-02 a session that ends while an upstream is added or a token is made loses nothing that was typed', async () => {
    const page = await signedIn(browser, world.origin);
    await page.getByRole('button', { name: 'Add upstream' }).click();
    await page.getByLabel('URL, command, or a file with mcpServers').fill(world.files.url);
    await page.getByLabel('Name').fill('typed');
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await again(page);
    await holds(page.getByLabel('Name'), 'typed');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('heading', { name: 'typed' }).waitFor();
    await world.admin('DELETE', 'upstreams/typed');

    await page.goto(`${world.origin}/ui/tokens`);
    await page.getByRole('button', { name: 'Make a token' }).click();
    await page.getByLabel('Name').fill('half-typed');
    await page.getByLabel('Tools it may use').fill('files_read*');
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Make', exact: true }).click();
    await again(page);
    assert.deepEqual([await page.getByLabel('Name').inputValue(), await page.getByLabel('Tools it may use').inputValue()], ['half-typed', 'files_read*']);
    await page.getByRole('button', { name: 'Make', exact: true }).click();
    await page.locator('.secret').waitFor();
    await page.context().close();
  });

  test('UIX-02 UIX-06 so does one that ends while a tool is tried', async () => {
    const page = await signedIn(browser, world.origin, { path: '/ui/try?name=files_search' });
    await page.getByLabel('to').fill('what was typed');
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Call' }).click();
    await again(page);
    await holds(page.getByLabel('to'), 'what was typed');
    await page.getByRole('button', { name: 'Call' }).click();
    await page.getByRole('region', { name: 'Answer' }).getByText('Done').waitFor();
    await page.context().close();
  });

  test('UIX-02 a second tab that signs in again does not break the first', async () => {
    const first = await signedIn(browser, world.origin, { path: '/ui/upstreams/files' });
    await first.getByRole('button', { name: 'Refresh' }).waitFor();
    const second = await first.context().newPage();
    await second.goto(`${world.origin}/ui`);
    await second.getByRole('button', { name: 'Sign out' }).click();
    await second.getByLabel('Admin secret or key').fill(SECRET);
    await second.getByRole('button', { name: 'Sign in', exact: true }).click();
    await second.getByRole('heading', { name: 'Overview' }).waitFor();
    await first.getByRole('dialog').waitFor({ state: 'detached' });
    await first.getByRole('button', { name: 'Refresh' }).click();
    await first.getByText(/Read in \d+ ms/).waitFor();
    await first.context().close();
  });

  test('UIX-02 a tab signs out although another has signed in again meanwhile', async () => {
    const page = await signedIn(browser, world.origin);
    // As another tab does it, but this tab is not told.
    const status = await page.evaluate(async (secret) => (await fetch('/ui/sign-in', { method: 'POST', body: JSON.stringify({ secret }) })).status, SECRET);
    assert.equal(status, 200);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Admin secret or key').waitFor();
    assert.equal(await page.evaluate(async () => (await fetch('/ui/session')).status), 401);
    await page.reload();
    await page.getByLabel('Admin secret or key').waitFor();
    await page.context().close();
  });

  test('UIX-02 a sign-out that fails is not taken for one', async () => {
    const page = await signedIn(browser, world.origin);
    await page.route('**/ui/sign-out', (route) => route.abort());
    await page.getByRole('button', { name: 'Sign out' }).click();
    await shows(page.getByRole('alert').filter({ hasText: 'sign-out' }), 'The sign-out failed: the gateway does not answer');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.unroute('**/ui/sign-out');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Admin secret or key').waitFor();
    await page.context().close();
  });
});
