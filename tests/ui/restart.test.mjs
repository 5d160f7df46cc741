// UIX-14: the page after a restart of the gateway.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { makeFolder } from '../e2e/support/children.mjs';
import { startGateway } from '../e2e/support/gateway.mjs';
import { OWN_ADDRESS } from '../e2e/support/loopback.mjs';
import { stopAfter } from '../e2e/support/programs_of_suite.mjs';
import { ScriptedUpstream } from '../e2e/support/scripted_upstream.mjs';
import { holds } from './support/shown.mjs';
import { launch, SECRET, signedIn, tool } from './support/world.mjs';

test('UIX-14 UIX-02 a gateway that is restarted is shown again, to who was signed in', async (context) => {
  const own = stopAfter(context);
  const folder = makeFolder();
  const upstream = own(await ScriptedUpstream.start([tool('first', 'Was there from the beginning.')]));
  const settings = { folder, upstreams: [{ name: 'files', url: upstream.url }], env: { PROTEUS_ADMIN_SECRET: SECRET } };
  const gateway = own(await startGateway({ ...settings, server: { listen: `${OWN_ADDRESS}:0` } }));
  const { origin, host } = new URL(gateway.url);
  const browser = own(await launch());
  const page = await signedIn(browser, origin, { path: '/ui/tools' });
  await page.getByText('files_first').waitFor();
  await gateway.stop();
  await page.locator('.lost').waitFor();
  assert.ok(await page.getByText('files_first').isVisible(), 'what was known stays');
  upstream.tools = [...upstream.tools, tool('second', 'Came while the gateway was away.')];
  own(await startGateway({ ...settings, server: { listen: host } }));
  await page.getByText('files_second').waitFor();
  assert.equal(await page.locator('.lost').count(), 0);
});

test('UIX-14 UIX-02 what was typed stays while the gateway is restarted, and is saved then', async (context) => {
  const own = stopAfter(context);
  const folder = makeFolder();
  const upstream = own(await ScriptedUpstream.start([tool('first', 'Was there from the beginning.')]));
  const settings = { folder, upstreams: [{ name: 'files', url: upstream.url }], env: { PROTEUS_ADMIN_SECRET: SECRET } };
  const gateway = own(await startGateway({ ...settings, server: { listen: `${OWN_ADDRESS}:0` } }));
  const { origin, host } = new URL(gateway.url);
  const browser = own(await launch());
  const page = await signedIn(browser, origin, { path: '/ui/upstreams/files' });
  await page.locator('.settings summary').click();
  const field = page.getByLabel(/^call_timeout( \(changed here\))?$/);
  await field.fill('33s');
  await gateway.stop();
  await page.getByRole('button', { name: 'Save call_timeout' }).click();
  await page.locator('.settings').getByRole('alert').filter({ hasText: 'the gateway does not answer' }).waitFor();
  await holds(field, '33s');
  own(await startGateway({ ...settings, server: { listen: host } }));
  await page.locator('.lost').waitFor({ state: 'detached' });
  await holds(field, '33s');
  await page.getByRole('button', { name: 'Save call_timeout' }).click();
  await page.getByText('call_timeout (changed here)').waitFor();
  const saved = await (await fetch(`${origin}/admin/upstreams/files`, { headers: { 'x-admin-secret': SECRET } })).json();
  assert.equal(saved.call_timeout, '33s');
});
