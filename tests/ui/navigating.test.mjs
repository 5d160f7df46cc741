// Addresses, the browser's history, and what a screen shows while its address changes.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { send } from '../e2e/support/raw.mjs';
import { holds } from './support/shown.mjs';
import { launch, signedIn, startWorld } from './support/world.mjs';

describe('addresses and history', () => {
  let world;
  let browser;
  let page;
  before(async () => {
    world = await startWorld({ telemetry: { records: 'memory' } });
    browser = await launch();
    page = await signedIn(browser, world.origin);
  });
  after(async () => {
    await browser?.close();
    await world?.stop();
  });

  const open = (path) => page.goto(world.origin + path);

  const search = () => page.getByRole('searchbox', { name: 'Search' });

  /** Makes requests that match `pattern` wait, until the returned function is called. */
  const hold = async (pattern) => {
    let letGo;
    const gone = new Promise((resolve) => { letGo = resolve; });
    await page.route(pattern, async (route) => { await gone; await route.continue(); });
    return letGo;
  };

  test('UIX-01 an address that cannot be decoded is no screen, and not an empty page', async () => {
    await open('/ui/upstreams/%zz');
    await page.getByRole('heading', { name: 'There is no such screen' }).waitFor();
    await page.getByRole('link', { name: 'Tools', exact: true }).click();
    await page.getByRole('heading', { name: 'Tools', level: 1 }).waitFor();
  });

  test('UIX-06 going back to another tool shows the form of that tool only', async () => {
    await open('/ui/try?name=files_write_file');
    await page.getByLabel('to').fill('for write_file');
    await page.getByRole('link', { name: 'Why it is visible' }).click();
    await page.getByRole('button', { name: /^files_read_file/ }).click();
    await page.locator('.part').getByText('Reads a file').waitFor();
    await page.getByRole('link', { name: 'Try it' }).click();
    await page.getByLabel('to').fill('for read_file');
    const letGo = await hold('**/admin/why*');
    await page.evaluate(() => history.go(-2));
    await page.getByRole('heading', { name: 'Try files_write_file' }).waitFor();
    await page.getByText('Loading…').waitFor();
    assert.equal(await page.getByLabel('As JSON').count(), 0, 'no form before its schema is known');
    letGo();
    await holds(page.getByLabel('to'), '');
  });

  test('UIX-05 an explanation is never shown under the name of another tool', async () => {
    await open('/ui/tools?name=files_write_file');
    const aside = page.locator('aside');
    await aside.locator('.part').getByText('Writes a file.').waitFor();
    const letGo = await hold('**/admin/why*');
    await page.getByRole('button', { name: /^files_read_file/ }).click();
    await aside.getByRole('heading', { name: 'files_read_file' }).waitFor();
    await aside.getByText('Loading…').waitFor();
    assert.equal(await aside.getByText('Writes a file.').count(), 0);
    letGo();
    await aside.locator('.part').getByText('Reads a file').waitFor();
  });

  test('UIX-05 a principal that is chosen while somebody types a search is kept, and so is the search', async () => {
    await open('/ui/tools');
    await page.getByText(/^\d+ tools\./).waitFor();
    await page.locator('select[name=as] option', { hasText: /^ci$/ }).waitFor({ state: 'attached' });
    await page.evaluate(() => {
      const search = document.querySelector('input[type="search"]');
      search.value = 'file';
      search.dispatchEvent(new Event('input', { bubbles: true }));
      const as = document.querySelector('select[name="as"]');
      as.value = 'ci';
      as.dispatchEvent(new Event('change', { bubbles: true }));
    });
    await page.getByText('1 tool matches the search.').waitFor();
    const query = new URL(page.url()).searchParams;
    assert.deepEqual([query.get('as'), query.get('q')], ['ci', 'file']);
  });

  test('UIX-05 the search field shows the search of the address, also after going back', async () => {
    await open('/ui/tools?q=refund');
    await holds(search(), 'refund');
    await page.getByRole('link', { name: 'Tools', exact: true }).click();
    await holds(search(), '');
    await page.goBack();
    await holds(search(), 'refund');
  });

  test('UIX-13 the calls of one upstream are never shown as those of another, and the filter can be typed', async () => {
    await (await send(world.gateway.url, 'tools/call', { name: 'files_search', arguments: {} }, { token: 'token of the agent' })).text();
    await open('/ui/calls?upstream=files');
    await page.locator('.calls').getByText('files_search').waitFor();
    const letGo = await hold('**/admin/records*');
    const filter = page.getByLabel('Upstream');
    await filter.press('End');
    await filter.press('x');
    await page.getByText('Loading…').waitFor();
    assert.equal(await page.locator('.calls li').count(), 0);
    await filter.press('y');
    await holds(filter, 'filesxy');
    letGo();
    await page.getByText('No calls to this upstream yet').waitFor();
    await filter.fill('files');
    await page.locator('.calls').getByText('files_search').waitFor();
  });
});
