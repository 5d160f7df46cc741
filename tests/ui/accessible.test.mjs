// UIX-15: dialogs, editors and full lists are as accessible as the screens that they are on.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, describe, test } from 'node:test';

import { stopAll } from '../e2e/support/programs.mjs';
import { startRichWorld } from './support/rich_world.mjs';
import { launch, signedIn } from './support/world.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const STATES = {
  tokens: { path: '/ui/tokens' },
  calls: { path: '/ui/calls' },
  'an upstream with calls': { path: '/ui/upstreams/files' },
  'the settings of an upstream': { path: '/ui/upstreams/files', open: (page) => page.locator('.settings summary').click() },
  'a question': { path: '/ui/upstreams/files', open: (page) => page.getByRole('button', { name: 'Pause' }).click() },
  'a new upstream': { path: '/ui', open: (page) => page.getByRole('button', { name: 'Add upstream' }).click() },
  'a new token': { path: '/ui/tokens', open: (page) => page.getByRole('button', { name: 'Make a token' }).click() },
  'a new dataset': { path: '/ui/datasets', open: (page) => page.getByRole('button', { name: 'Propose a dataset' }).click() },
  'a mapping': {
    path: '/ui/datasets',
    open: async (page) => {
      await page.getByRole('button', { name: 'Mapping' }).click();
      await page.getByLabel('TOML').fill('[dataset]\nname = "acme"\n');
      await page.getByRole('button', { name: 'Check' }).click();
      await page.getByText('Wrong').first().waitFor();
    }
  },
  timeline: { path: '/ui/timeline' },
  proposals: { path: '/ui/proposals' }
};

describe('accessibility of what opens', () => {
  let world;
  let browser;
  before(async () => {
    world = await startRichWorld();
    browser = await launch();
  });
  after(() => stopAll([world, browser]));

  const check = async (page, what) => {
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => globalThis.axe.run(document));
    assert.deepEqual(violations.map((one) => `${one.id}: ${one.nodes[0].html} ${one.nodes[0].failureSummary}`), [], what);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(over, 0, `${what} is too wide`);
  };

  for (const [colorScheme, width] of [['light', 1280], ['dark', 390]]) {
    test(`UIX-15 dialogs, editors and lists that are full, ${colorScheme}, ${width} wide`, async () => {
      const page = await signedIn(browser, world.origin, { colorScheme, viewport: { width, height: 900 }, bypassCSP: true });
      for (const [what, { path, open }] of Object.entries(STATES)) {
        await page.goto(world.origin + path);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.waitForLoadState('networkidle');
        await open?.(page);
        await check(page, `${what}, ${colorScheme}`);
      }
      await page.context().close();
      const out = await (await browser.newContext({ colorScheme, viewport: { width, height: 900 }, bypassCSP: true })).newPage();
      await out.goto(`${world.origin}/ui`);
      await out.getByRole('button', { name: /^Sign in at/ }).waitFor();
      await check(out, `signing in, ${colorScheme}`);
      await out.context().close();
    });
  }
});
