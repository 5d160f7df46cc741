// screenshots.mjs <folder>: each screen, light and dark, desktop and phone, of a gateway with something to show.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { launch, signedIn, startWorld, tool } from './support/world.mjs';

const folder = process.argv[2] ?? 'build/screenshots';
mkdirSync(folder, { recursive: true });
const world = await startWorld();
const browser = await launch();
try {
  const { proposals } = await world.admin('GET', 'proposals');
  for (const { id } of proposals) await world.admin('POST', `proposals/${id}/ratify`);
  world.shop.tools = [tool('pay', 'Pays somebody a huge amount.', { to: { type: 'number' }, note: { type: 'string' } }), world.shop.tools[1], tool('tip', 'Gives a tip.')];
  world.files.tools = [...world.files.tools, tool('rename_file', 'Gives a file another name.')];
  for (const name of ['shop', 'files']) await world.admin('POST', `upstreams/${name}/refresh`);
  const screens = { overview: '/ui', upstream: '/ui/upstreams/files', tools: '/ui/tools?as=agent&context=reading&name=files_search', why: '/ui/tools?as=ci&name=files_write_file', proposals: '/ui/proposals', timeline: '/ui/timeline', contexts: '/ui/contexts', tokens: '/ui/tokens', connections: '/ui/connections', sessions: '/ui/sessions', try: '/ui/try?name=files_search', search: '/ui/tools?by=search&q=read+a+file', datasets: '/ui/datasets', audit: '/ui/audit' };
  for (const colorScheme of ['light', 'dark']) {
    for (const [device, width, height] of [['desktop', 1280, 860], ['phone', 390, 844]]) {
      const page = await signedIn(browser, world.origin, { colorScheme, viewport: { width, height } });
      for (const [name, path] of Object.entries(screens)) {
        await page.goto(world.origin + path);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.waitForLoadState('networkidle');
        await page.screenshot({ path: join(folder, `${name}-${colorScheme}-${device}.png`), fullPage: true });
      }
      await page.context().close();
      if (device === 'desktop') {
        const out = await browser.newPage({ colorScheme, viewport: { width, height } });
        await out.goto(`${world.origin}/ui`);
        await out.getByLabel('Admin secret or key').waitFor();
        await out.screenshot({ path: join(folder, `sign-in-${colorScheme}-${device}.png`) });
        await out.close();
      }
    }
  }
} finally {
  await browser.close();
  await world.stop();
}
