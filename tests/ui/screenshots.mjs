// screenshots.mjs <folder>: each screen, light and dark, desktop and phone, of a gateway with something to show. Those of the
// README go to docs/images with README=1.
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { makeFolder } from '../e2e/support/gateway.mjs';
import { root } from '../e2e/support/programs.mjs';
import { send } from '../e2e/support/raw.mjs';
import { launch, signedIn, startWorld, tool } from './support/world.mjs';

const SCREENS = { overview: '/ui', upstream: '/ui/upstreams/files', tools: '/ui/tools?as=agent&context=reading&name=files_search', why: '/ui/tools?as=ci&name=files_write_file', proposals: '/ui/proposals', timeline: '/ui/timeline', contexts: '/ui/contexts', tokens: '/ui/tokens', connections: '/ui/connections', sessions: '/ui/sessions', try: '/ui/try?name=files_search', search: '/ui/tools?by=search&q=read+a+file', datasets: '/ui/datasets', calls: '/ui/calls', audit: '/ui/audit' };
const OF_README = { 'page-overview': '/ui', 'page-why': '/ui/tools?as=ci&name=files_write_file' };

const folder = process.argv[2] ?? 'build/screenshots';
mkdirSync(folder, { recursive: true });
const database = makeFolder();
execFileSync('python3', [join(root, 'examples/quickstart/company.py'), '--out', join(database.folder, 'company.db')]);
const world = await startWorld({
  harmless: Boolean(process.env.README),
  datasets: { environment: ['ACME_DSN'] },
  telemetry: { records: 'memory' },
  issuers: [{ issuer: 'http://127.0.0.1:9', sign_in: { client_id: 'proteus', client_secret_env: 'SIGN_IN_SECRET' } }],
  rules: [{ match: { groups: ['ops'] }, name: '{email}', admin: 'admin' }, { match: { groups: ['support', 'sales'] }, tools: ['files_read*'], read_only: true }],
  auth: { anonymous: 'loopback' },
  env: { ACME_DSN: `sqlite://${database.folder}/company.db`, PROTEUS_MAPPINGS: join(database.folder, 'mappings'), SIGN_IN_SECRET: 'any' }
});
const browser = await launch();

const shown = async (page, path) => {
  await page.goto(world.origin + path);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForLoadState('networkidle');
};

/** Something in every list. */
async function liveThere() {
  const { proposals } = await world.admin('GET', 'proposals');
  for (const { id } of proposals) await world.admin('POST', `proposals/${id}/ratify`);
  world.shop.tools = [tool('pay', 'Pays somebody a huge amount.', { to: { type: 'number' }, note: { type: 'string' } }), world.shop.tools[1], tool('tip', 'Gives a tip.')];
  world.files.tools = [...world.files.tools, tool('rename_file', 'Gives a file another name.')];
  for (const name of ['shop', 'files']) await world.admin('POST', `upstreams/${name}/refresh`);
  for (const name of ['files_search', 'files_read_file', 'shop_refund']) {
    await (await send(world.gateway.url, 'tools/call', { name, arguments: {} }, { token: 'token of the agent' })).text();
  }
  const { draft } = await world.admin('POST', 'datasets/propose', { name: 'acme', dsn_env: 'ACME_DSN' });
  await world.admin('POST', 'datasets/ratify', { mapping: draft });
  await world.admin('POST', 'datasets/acme/connect');
}

async function takeAll() {
  for (const colorScheme of ['light', 'dark']) {
    for (const [device, width, height] of [['desktop', 1280, 860], ['phone', 390, 844]]) {
      const page = await signedIn(browser, world.origin, { colorScheme, viewport: { width, height } });
      const take = (name) => page.screenshot({ path: join(folder, `${name}-${colorScheme}-${device}.png`), fullPage: true });
      for (const [name, path] of Object.entries(SCREENS)) {
        await shown(page, path);
        await take(name);
      }
      await shown(page, '/ui/datasets');
      await page.getByRole('button', { name: 'Mapping' }).click();
      await page.getByRole('button', { name: 'Check' }).click();
      await page.getByText('It fits its database.').waitFor();
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
  await liveThere();
  if (process.env.README) await takeForReadme();
  else await takeAll();
} finally {
  await browser.close();
  await world.stop();
  database.forget();
}
