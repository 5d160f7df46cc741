// UIX-05, UIX-13, UIX-18: what an operator asks the page before and after a change.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { stopAll } from '../e2e/support/programs.mjs';
import { shows } from './support/shown.mjs';
import { launch, signedIn, startWorld } from './support/world.mjs';

describe('what the page answers', () => {
  let world;
  let browser;
  let page;
  before(async () => {
    world = await startWorld();
    browser = await launch();
    page = await signedIn(browser, world.origin);
  });
  after(() => stopAll([world, browser]));

  const open = async (path) => {
    await page.goto(world.origin + path);
    await page.getByRole('heading', { level: 1 }).waitFor();
  };

  test('UIX-13 charts of calls, errors and latency, from the gateway\'s own figures', async () => {
    await open('/ui');
    // The gateway reads its counters every ten seconds.
    const requests = page.getByRole('img', { name: /^Requests a minute\. \d+ requests? in/ });
    await requests.waitFor({ timeout: 40_000 });
    await requests.locator('canvas').waitFor({ timeout: 40_000 });
    await open('/ui/upstreams/files');
    await page.getByRole('img', { name: /^Mean time\./ }).waitFor();
  });

  test('UIX-05 tools as an agent finds them that searches', async () => {
    await open('/ui/tools?by=search&q=read+text');
    const first = page.locator('.hits li').first();
    await first.waitFor();
    await shows(first, /files_read_file/);
    await first.getByRole('button').click();
    await page.getByRole('complementary').getByText('Seen').first().waitFor();
    await page.locator('select[name=as]').selectOption('ci');
    await page.getByText('search_tools finds 1').waitFor();
  });

  test('UIX-18 a change is previewed: who gains, who loses', async () => {
    await open('/ui/upstreams/files');
    await page.locator('.settings summary').click();
    await page.getByLabel('prefix', { exact: true }).fill('f_');
    const preview = page.getByRole('region', { name: 'Preview' });
    const ci = preview.getByRole('listitem').filter({ hasText: /^ci(?! at)/ });
    await ci.getByText('loses 1').click();
    await shows(ci, /files_read_file/);
    assert.doesNotMatch(await ci.textContent(), /gains/);
    const agent = preview.getByRole('listitem').filter({ hasText: /^agent(?! at)/ });
    await shows(agent, /gains \d.*loses \d/s);
    await shows(page.locator('.settings .commands'), /prefix = "f_"/);
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByText('Direct', { exact: true }).click();
    await page.getByRole('dialog').getByText('Each caller will see what the upstream lists to them; only').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Pause' }).click();
    const pausing = page.getByRole('dialog').getByRole('listitem').filter({ hasText: /^ci(?! at)/ });
    await pausing.getByText('loses 1').waitFor();
    await shows(page.getByRole('dialog').locator('.commands'), /curl -X PATCH .*enabled = false/s);
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.locator('.badge', { hasText: 'Connected' }).waitFor();
    await open('/ui/tokens');
    await page.getByRole('button', { name: 'Make a token' }).click();
    await page.getByLabel('Name').fill('previewed');
    await page.getByLabel('Tools it may use').fill('files_w*');
    await page.getByRole('dialog').getByText('sees 1').first().click();
    await shows(page.getByRole('dialog'), /files_write_file/);
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  });

  test('UIX-18 every action can be shown as curl, and as TOML where the configuration has a place for it', async () => {
    await open('/ui/upstreams/files');
    await page.getByRole('button', { name: 'Refresh' }).click();
    const last = page.getByRole('region', { name: 'Your last change' });
    await last.getByText('Your last change as curl').click();
    await shows(last, /curl -X POST \S+\/admin\/upstreams\/files\/refresh -H "X-Admin-Secret: \$SECRET"/);
    await open('/ui');
    await page.getByRole('button', { name: 'Add upstream' }).click();
    await page.getByLabel('URL, command, or a file with mcpServers').fill('npx -y @example/server-notes');
    await page.getByRole('dialog').getByText('As curl and TOML').click();
    await shows(page.getByRole('dialog'), /\[\[upstreams\]\]\s*name = "notes"\s*command = \["npx", "-y", "@example\/server-notes"\]/);
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  });
});
