// UIX-10, in part: a ratified dataset is connected on the page, its types are drawn, and a workup is tried.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

import { makeFolder, startGateway } from '../e2e/support/gateway.mjs';
import { program, root } from '../e2e/support/programs.mjs';
import { launch, SECRET, signedIn } from './support/world.mjs';

const QUICKSTART = join(root, 'examples/quickstart');

test('UIX-10 a ratified dataset is connected and disconnected, and says what it has', async () => {
  const { folder, forget } = makeFolder();
  const file = join(folder, 'company.db');
  execFileSync('python3', [join(QUICKSTART, 'company.py'), '--out', file]);
  const somebody = execFileSync('python3', ['-c', 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("select name from people limit 1").fetchone()[0])', file], { encoding: 'utf8' }).trim();
  const env = { PROTEUS_MAPPINGS: join(folder, 'mappings'), PROTEUS_PEPPER: 'the pepper of this test', ACME_DSN: `sqlite://${file}`, PROTEUS_ADMIN_SECRET: SECRET };
  execFileSync(program('proteus'), ['dataset', 'ratify', join(QUICKSTART, 'acme.toml'), '--by', 'owner', '--ontology', join(QUICKSTART, 'ontology.toml')], { env: { ...process.env, ...env } });
  const gateway = await startGateway({ env });
  const browser = await launch();
  try {
    const page = await signedIn(browser, new URL(gateway.url).origin, { path: '/ui/datasets' });
    await page.getByRole('heading', { name: 'acme' }).waitFor();
    assert.match(await page.locator('.context').textContent(), /Ratified.*by owner.*Entities.*person/s);
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.getByRole('img', { name: /^Types: .*person.*MEMBER_OF/s }).waitFor();
    await page.getByRole('link', { name: 'Try a workup' }).click();
    await page.getByLabel('entity *').fill(somebody);
    await page.getByRole('button', { name: 'Call' }).click();
    await page.getByRole('heading', { name: 'Citations' }).waitFor();
    assert.match(await page.getByRole('table').textContent(), /people/);
    await page.goBack();
    await page.getByRole('button', { name: 'Disconnect' }).click();
    await page.getByRole('button', { name: 'Connect' }).waitFor();
  } finally {
    await browser.close();
    await gateway.stop();
    forget();
  }
});
