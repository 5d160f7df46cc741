// UIX-10, in part: a ratified dataset is connected on the page.
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
  const env = { PROTEUS_MAPPINGS: join(folder, 'mappings'), PROTEUS_PEPPER: 'the pepper of this test', ACME_DSN: `sqlite://${file}`, PROTEUS_ADMIN_SECRET: SECRET };
  execFileSync(program('proteus'), ['dataset', 'ratify', join(QUICKSTART, 'acme.toml'), '--by', 'owner', '--ontology', join(QUICKSTART, 'ontology.toml')], { env: { ...process.env, ...env } });
  const gateway = await startGateway({ env });
  const browser = await launch();
  try {
    const page = await signedIn(browser, new URL(gateway.url).origin, { path: '/ui/datasets' });
    await page.getByRole('heading', { name: 'acme' }).waitFor();
    assert.match(await page.locator('.context').textContent(), /Ratified.*by owner.*Entities.*person/s);
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.getByRole('button', { name: 'Disconnect' }).click();
    await page.getByRole('button', { name: 'Connect' }).waitFor();
  } finally {
    await browser.close();
    await gateway.stop();
    forget();
  }
});
