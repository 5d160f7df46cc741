// screenshots.mjs <folder>: takes each screen of a gateway with data, light and dark, desktop and phone. With README=1,
// takes the pictures of the README into docs/images instead.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { root } from '../e2e/support/programs.mjs';
import { startRichWorld } from './support/rich_world.mjs';
import { launch, signedIn } from './support/world.mjs';

const SCREENS = { overview: '/ui', upstream: '/ui/upstreams/files', tools: '/ui/tools?as=agent&context=reading&name=files_search', why: '/ui/tools?as=ci&name=files_write_file', proposals: '/ui/proposals', timeline: '/ui/timeline', contexts: '/ui/contexts', tokens: '/ui/tokens', connections: '/ui/connections', sessions: '/ui/sessions', try: '/ui/try?name=files_search', search: '/ui/tools?by=search&q=read+a+file', datasets: '/ui/datasets', calls: '/ui/calls', audit: '/ui/audit' };
const OF_README = { 'page-overview': '/ui', 'page-why': '/ui/tools?as=ci&name=files_write_file' };

const folder = process.argv[2] ?? 'build/screenshots';
mkdirSync(folder, { recursive: true });
const world = await startRichWorld({ harmless: Boolean(process.env.README) });
const browser = await launch();

const shown = async (page, path) => {
  await page.goto(world.origin + path);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForLoadState('networkidle');
};

async function takeAll() {
  for (const colorScheme of ['light', 'dark']) {
    for (const [device, width, height] of [['desktop', 1280, 860], ['phone', 390, 844]]) {
      const page = await signedIn(browser, world.origin, { colorScheme, viewport: { width, height } });
      const take = (name) => page.screenshot({ path: join(folder, `${name}-${colorScheme}-${device}.png`), fullPage: true });
      for (const [name, path] of Object.entries(SCREENS)) {
        await shown(page, path);
        await take(name);
      }
      await shown(page, '/ui/try?name=files_search');
      await page.getByLabel('to', { exact: true }).fill('whom it concerns');
      await page.getByRole('button', { name: 'Call' }).click();
      await page.getByRole('region', { name: 'Answer' }).getByText('Done').waitFor();
      await page.getByText('received result').click();
      await take('try-answer');
      await shown(page, '/ui/datasets');
      await page.getByRole('button', { name: 'Mapping' }).click();
      await page.getByRole('button', { name: 'Check' }).click();
      await page.getByText('The mapping matches its database.').waitFor();
      await take('mapping');
      await shown(page, '/ui/upstreams/files');
      await page.getByRole('button', { name: 'Pause' }).click();
      await page.getByRole('dialog').locator('.preview summary').first().waitFor();
      await take('pause');
      await page.context().close();
      const out = await browser.newPage({ colorScheme, viewport: { width, height } });
      await out.goto(`${world.origin}/ui`);
      await out.getByRole('button', { name: /^Sign in at/ }).waitFor();
      await out.screenshot({ path: join(folder, `sign-in-${colorScheme}-${device}.png`) });
      await out.close();
    }
  }
}

async function takeForReadme() {
  const page = await signedIn(browser, world.origin, { colorScheme: 'light', viewport: { width: 1240, height: 600 } });
  for (const [name, path] of Object.entries(OF_README)) {
    await shown(page, path);
    await page.screenshot({ path: join(root, 'docs/images', `${name}.png`) });
  }
}

try {
  if (process.env.README) await takeForReadme();
  else await takeAll();
} finally {
  await browser.close();
  await world.stop();
}
