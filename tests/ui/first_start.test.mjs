// UIX-16: a gateway that has no upstream yet.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startGateway } from '../e2e/support/gateway.mjs';
import { ScriptedUpstream } from '../e2e/support/scripted_upstream.mjs';
import { launch, SECRET, signedIn, tool } from './support/world.mjs';

test('UIX-16 the first upstreams come from a pasted file, and the page says what to tell a client', async () => {
  const upstream = await ScriptedUpstream.start([tool('first', 'The first one.')]);
  const gateway = await startGateway({ env: { PROTEUS_ADMIN_SECRET: SECRET } });
  const { origin } = new URL(gateway.url);
  const browser = await launch();
  try {
    const page = await signedIn(browser, origin);
    await page.getByRole('heading', { name: 'No upstream yet' }).waitFor();
    await page.getByLabel('URL, command, or a file with mcpServers').fill(JSON.stringify({ mcpServers: { one: { url: upstream.url }, two: { url: upstream.url } } }));
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('heading', { name: '2 upstreams' }).waitFor();
    await page.getByRole('region', { name: 'Upstreams' }).getByRole('link', { name: /one.*1 tool/ }).waitFor();
    assert.match(await page.locator('pre').textContent(), new RegExp(`${origin}/mcp`));
  } finally {
    await browser.close();
    await gateway.stop();
    await upstream.stop();
  }
});
