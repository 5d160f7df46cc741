// UIX-15: a thousand upstreams and a hundred thousand tools. `scripts/page.sh measure` prints the figures.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { startGateway } from '../e2e/support/gateway.mjs';
import { stopAll } from '../e2e/support/programs.mjs';
import { costOf, heapMib, measureScreen, observe, startCrowd } from './support/crowd.mjs';
import { launch, SECRET, signedIn } from './support/world.mjs';

const FIRST_VIEW_MS = 1000;
const LONGEST_TASK_MS = 100;
const HEAP_MIB = 32;
const LONGEST_ELSEWHERE_MS = 500;

describe('the page of a large gateway', () => {
  let crowd;
  let gateway;
  let browser;
  let page;
  let origin;
  before(async () => {
    crowd = await startCrowd({ upstreams: 1000, toolsEach: 100 });
    gateway = await startGateway({ upstreams: crowd.upstreams, env: { PROTEUS_ADMIN_SECRET: SECRET } });
    origin = new URL(gateway.url).origin;
    browser = await launch();
    page = await signedIn(browser, origin);
    page.setDefaultTimeout(60_000);
    await observe(page);
  });
  after(() => stopAll([crowd, gateway, browser]));

  const holds = ({ opening, scrolling, rows }) => {
    assert.ok(opening.own < FIRST_VIEW_MS, `the first view took ${opening.own} ms of the page's own time`);
    assert.ok(scrolling.longest <= LONGEST_TASK_MS, `a task while scrolling took ${scrolling.longest} ms`);
    assert.ok(rows < 60, `${rows} rows exist`);
  };

  test('UIX-15 a hundred thousand tools are a list of a few rows, at once and while it is scrolled', async () => {
    holds(await measureScreen(page, `${origin}/ui/tools`));
    await page.getByText('100,000 tools.').waitFor();
    await page.getByText('u0999_t099').waitFor();
    assert.ok((await heapMib(page)) < HEAP_MIB, `the page keeps ${await heapMib(page)} MiB`);
    await page.getByLabel('Search', { exact: true }).fill('u0543 thing 21');
    await page.getByText('u0543_t021').waitFor();
  });

  test('UIX-15 a thousand upstreams are, too', async () => {
    holds(await measureScreen(page, `${origin}/ui`));
    await page.getByRole('heading', { name: '1,000 upstreams' }).waitFor();
    await page.getByText('u0999').waitFor();
    assert.ok((await heapMib(page)) < HEAP_MIB, `the page keeps ${await heapMib(page)} MiB`);
    await page.getByLabel('Search upstreams').fill('u0777');
    await page.waitForFunction(() => document.querySelectorAll('.virtual-row').length === 1);
  });

  // If a worker stalled, `stop` of the gateway fails.
  test('UIX-15 no other screen stops a worker of the gateway, or the browser', async () => {
    for (const path of ['/ui/upstreams/u0500', '/ui/timeline', '/ui/contexts', '/ui/proposals', '/ui/tools?name=u0500_t050', '/ui/tools?by=search&q=thing+50']) {
      const { longest } = await costOf(page, async () => {
        await page.goto(origin + path);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.waitForLoadState('networkidle');
      });
      assert.ok(longest < LONGEST_ELSEWHERE_MS, `${path}: ${longest} ms`);
    }
  });
});
