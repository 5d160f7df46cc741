// UIX-15: a thousand upstreams and a hundred thousand tools.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { startGateway } from '../e2e/support/gateway.mjs';
import { ScriptedUpstream } from '../e2e/support/scripted_upstream.mjs';
import { launch, SECRET, signedIn, tool } from './support/world.mjs';

const TOOLS = 100_000;

describe('the page of a large gateway', () => {
  let upstream;
  let gateway;
  let browser;
  let page;
  let origin;
  before(async () => {
    upstream = await ScriptedUpstream.start(Array.from({ length: TOOLS }, (_, i) => tool(`t${String(i).padStart(6, '0')}`, `Does thing ${i}.`)));
    const paused = Array.from({ length: 999 }, (_, i) => ({ name: `paused${i}`, url: upstream.url, enabled: false }));
    gateway = await startGateway({ upstreams: [{ name: 'many', url: upstream.url }, ...paused], env: { PROTEUS_ADMIN_SECRET: SECRET } });
    origin = new URL(gateway.url).origin;
    browser = await launch();
    page = await signedIn(browser, origin);
    await page.addInitScript(() => {
      globalThis.longTasks = [];
      new PerformanceObserver((list) => globalThis.longTasks.push(...list.getEntries().map((entry) => entry.duration))).observe({ type: 'longtask', buffered: true });
    });
  });
  after(async () => {
    await browser?.close();
    await gateway?.stop();
    await upstream?.stop();
  });

  const scrollThrough = () =>
    page.evaluate(async () => {
      const list = document.querySelector('.virtual');
      for (let step = 0; step <= 50; step += 1) {
        list.scrollTop = (step / 50) * list.scrollHeight;
        await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
      }
    });

  test('UIX-15 a hundred thousand tools are a list of a few rows', async () => {
    await page.goto(`${origin}/ui/tools`);
    await page.getByText('many_t000003').waitFor();
    await scrollThrough();
    await page.getByText('many_t099999').waitFor();
    assert.ok((await page.locator('.virtual-row').count()) < 60);
    await page.getByLabel('Search', { exact: true }).fill('thing 54321');
    await page.getByText('many_t054321').waitFor();
  });

  test('UIX-15 a thousand upstreams are, too', async () => {
    await page.goto(`${origin}/ui`);
    await page.getByRole('heading', { name: '1,000 upstreams' }).waitFor();
    await scrollThrough();
    await page.getByText('paused998').waitFor();
    assert.ok((await page.locator('.virtual-row').count()) < 60);
  });
});
