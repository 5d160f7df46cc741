// UIX-10: a dataset is proposed, reviewed, ratified and connected on the page, drawn as types, and tried as a workup.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';

import { makeFolder } from '../e2e/support/children.mjs';
import { startGateway } from '../e2e/support/gateway.mjs';
import { program, root } from '../e2e/support/programs.mjs';
import { stopAfter } from '../e2e/support/programs_of_suite.mjs';
import { holds, shows } from './support/shown.mjs';
import { launch, SECRET, signedIn } from './support/world.mjs';

const QUICKSTART = join(root, 'examples/quickstart');

test('UIX-10 a ratified dataset is connected and disconnected, and says what it has', async (context) => {
  const own = stopAfter(context);
  const folder = makeFolder();
  const file = join(folder, 'company.db');
  execFileSync('python3', [join(QUICKSTART, 'company.py'), '--out', file]);
  const somebody = execFileSync('python3', ['-c', 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("select name from people limit 1").fetchone()[0])', file], { encoding: 'utf8' }).trim();
  const env = { PROTEUS_MAPPINGS: join(folder, 'mappings'), PROTEUS_PEPPER: 'the pepper of this test', ACME_DSN: `sqlite://${file}`, PROTEUS_ADMIN_SECRET: SECRET };
  execFileSync(program('proteus'), ['dataset', 'ratify', join(QUICKSTART, 'acme.toml'), '--by', 'owner', '--ontology', join(QUICKSTART, 'ontology.toml')], { env: { ...process.env, ...env } });
  const gateway = own(await startGateway({ env }));
  const browser = own(await launch());
  const page = await signedIn(browser, new URL(gateway.url).origin, { path: '/ui/datasets' });
  await page.getByRole('heading', { name: 'acme' }).waitFor();
  await shows(page.locator('.context'), /Ratified.*by owner.*Entities.*person/s);
  await page.getByRole('button', { name: 'Connect' }).click();
  await page.getByRole('img', { name: /^Types: .*person.*MEMBER_OF/s }).waitFor();
  await page.getByRole('link', { name: 'Try a workup' }).click();
  await page.getByLabel('entity *').fill(somebody);
  await page.getByRole('button', { name: 'Call' }).click();
  await page.getByRole('heading', { name: 'Citations' }).waitFor();
  await shows(page.getByRole('table'), /people/);
  await page.goBack();
  await page.getByRole('button', { name: 'Disconnect' }).click();
  await page.getByRole('button', { name: 'Connect' }).click();
  await page.getByRole('button', { name: 'Disconnect' }).waitFor();
  rmSync(join(folder, 'mappings/acme.toml'));
  await page.reload();
  await page.getByText(/^acme was disconnected/).waitFor();
});

test('UIX-10 a dataset is proposed from its database, looked over, and ratified under the name of who does it', async (context) => {
  const own = stopAfter(context);
  const folder = makeFolder();
  const file = join(folder, 'company.db');
  execFileSync('python3', [join(QUICKSTART, 'company.py'), '--out', file]);
  const mappings = join(folder, 'mappings');
  const env = { PROTEUS_MAPPINGS: mappings, ACME_DSN: `sqlite://${file}`, OTHER_DSN: `sqlite://${file}`, PROTEUS_ADMIN_SECRET: SECRET };
  const gateway = own(await startGateway({ datasets: { environment: ['ACME_DSN', 'NOT_SET'] }, env }));
  const { origin } = new URL(gateway.url);
  const admin = async (method, path, body) => {
    const answer = await fetch(`${origin}/admin/${path}`, { method, headers: { 'x-admin-secret': SECRET }, body: body && JSON.stringify(body) });
    return { status: answer.status, ...(await answer.json()) };
  };
  const browser = own(await launch());
  const page = await signedIn(browser, origin, { path: '/ui/datasets' });
  await page.getByRole('heading', { name: 'No dataset yet' }).waitFor();
  await page.getByRole('button', { name: 'Propose a dataset' }).click();
  await page.getByLabel('Name').fill('acme');
  await page.getByLabel('Variable with its address').selectOption('NOT_SET');
  await page.getByRole('button', { name: 'Draft' }).click();
  await page.getByText('the environment variable NOT_SET is not set').waitFor();
  await holds(page.getByLabel('Name'), 'acme');
  await page.getByLabel('Variable with its address').selectOption('ACME_DSN');
  await page.getByRole('button', { name: 'Draft' }).click();
  const editor = page.getByRole('region', { name: 'Mapping' });
  await editor.getByRole('img', { name: /^Types: / }).waitFor();
  const text = editor.getByLabel('TOML');
  const draft = await text.inputValue();
  assert.match(draft, /dsn_env = "ACME_DSN"/);
  // A typing mistake is reported by name, and cannot be ratified.
  await text.fill(draft.replace('"title", "started"', '"titel", "started"'));
  await editor.getByRole('button', { name: 'Check' }).click();
  await editor.getByRole('listitem').filter({ hasText: 'titel' }).waitFor();
  await editor.getByText('Wrong').first().waitFor();
  await editor.getByRole('button', { name: 'Ratify' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Ratify' }).click();
  await editor.getByRole('alert').waitFor();
  assert.deepEqual((await admin('GET', 'datasets')).datasets, []);
  await text.fill(draft);
  await editor.getByRole('button', { name: 'Check' }).click();
  await editor.getByText('The mapping matches its database.').waitFor();
  await editor.getByRole('button', { name: 'Ratify' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Ratify' }).click();
  const card = page.locator('.context');
  await card.getByText('Ratified', { exact: true }).first().waitFor();
  await shows(card, /by admin/);
  assert.equal(readFileSync(join(mappings, 'acme.toml'), 'utf8'), draft);
  await card.getByRole('button', { name: 'Connect' }).click();
  await card.getByRole('link', { name: 'Try a workup' }).waitFor();
  const { audit } = await admin('GET', 'audit');
  for (const what of ['dataset.propose', 'dataset.ratify', 'dataset.connect']) assert.ok(audit.some((one) => one.what === what && one.who === 'admin' && one.detail.name === 'acme'), what);

  // A changed file is no longer the ratified one; the page shows it for another review.
  writeFileSync(join(mappings, 'acme.toml'), `${draft}\n# another line\n`);
  await card.getByRole('button', { name: 'Review' }).click({ timeout: 30_000 });
  await editor.getByRole('button', { name: 'Ratify' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Ratify' }).click();
  await card.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await shows(card, /Revoked\s*by admin/);

  // The API, like the page, takes only variables that the configuration names, whatever the mapping says.
  const other = draft.replace('ACME_DSN', 'OTHER_DSN');
  for (const [path, body] of [['propose', { name: 'other', dsn_env: 'OTHER_DSN' }], ['validate', { mapping: other }], ['ratify', { mapping: other }]]) {
    assert.equal((await admin('POST', `datasets/${path}`, body)).status, 403, path);
  }
  assert.equal((await admin('POST', 'datasets/ratify', { mapping: 7 })).status, 400);
  assert.equal((await admin('POST', 'datasets/propose', { name: '../x', dsn_env: 'ACME_DSN' })).status, 400);
});
