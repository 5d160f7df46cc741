// UIX-04, UIX-13: the last calls of each upstream, if the gateway records them.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { startGateway } from '../e2e/support/gateway.mjs';
import { stopAll } from '../e2e/support/programs.mjs';
import { stopAfter } from '../e2e/support/programs_of_suite.mjs';
import { send } from '../e2e/support/raw.mjs';
import { ScriptedUpstream } from '../e2e/support/scripted_upstream.mjs';
import { shows } from './support/shown.mjs';
import { launch, SECRET, signedIn, tool } from './support/world.mjs';

class MoodyUpstream extends ScriptedUpstream {
  answer(message) {
    if (message.method !== 'tools/call' || message.params.name === 'fine') return super.answer(message);
    if (message.params.name === 'broken') return { error: { code: -32000, message: 'it is broken' } };
    return { result: { resultType: 'complete', isError: true, content: [{ type: 'text', text: 'no' }] } };
  }
}

describe('records of calls', () => {
  let upstream;
  let gateway;
  let browser;
  let page;
  let origin;
  before(async () => {
    upstream = await MoodyUpstream.start([tool('fine', 'Works.'), tool('moody', 'Fails.'), tool('broken', 'Is broken.')]);
    gateway = await startGateway({
      upstreams: [{ name: 'shop', url: upstream.url }, { name: 'quiet', url: upstream.url }],
      tokens: [{ name: 'ci', token_env: 'CI_TOKEN' }],
      telemetry: { records: 'memory' },
      env: { PROTEUS_ADMIN_SECRET: SECRET, CI_TOKEN: 'token-of-ci' }
    });
    origin = new URL(gateway.url).origin;
    browser = await launch();
    page = await signedIn(browser, origin);
  });
  after(() => stopAll([upstream, gateway, browser]));

  const call = async (name, token) => (await send(gateway.url, 'tools/call', { name, arguments: { to: 'a secret argument' } }, { token, name })).text();
  const records = async (query = '') => (await fetch(`${origin}/admin/records${query}`, { headers: { 'x-admin-secret': SECRET } })).json();

  test('UIX-13 who called what, how it ended and how long it took; no arguments', async () => {
    await call('shop_fine', 'token-of-ci');
    await call('shop_moody', 'token-of-ci');
    await call('shop_broken');
    const { kept, records: all } = await records();
    assert.equal(kept, 'memory');
    assert.deepEqual(all.map((one) => [one.upstream, one.principal, one.method, one.name, one.outcome]), [
      ['shop', '', 'tools/call', 'shop_broken', 'upstream'],
      ['shop', 'ci', 'tools/call', 'shop_moody', 'tool_error'],
      ['shop', 'ci', 'tools/call', 'shop_fine', 'ok']
    ]);
    assert.ok(all.every((one) => one.duration_ms > 0 && Date.parse(one.at) > 0));
    assert.doesNotMatch(JSON.stringify(all), /secret/);
    assert.deepEqual((await records('?upstream=quiet')).records, []);
    assert.equal((await records('?limit=1')).records.length, 1);
  });

  test('UIX-13 a busy upstream keeps its last hundred, and does not push out those of another', async () => {
    await call('quiet_fine', 'token-of-ci');
    for (let i = 0; i < 150; i += 1) await call('shop_fine', 'token-of-ci');
    assert.equal((await records('?upstream=shop&limit=1000')).records.length, 100);
    assert.equal((await records('?upstream=quiet')).records.length, 1);
    const numbers = (await records('?limit=1000')).records.map((one) => one.number);
    assert.deepEqual(numbers, [...numbers].sort((a, b) => b - a));
  });

  test('UIX-04 UIX-13 the page shows them beside the upstream, and all of them with filters, as they come', async () => {
    await page.goto(`${origin}/ui/upstreams/quiet`);
    await page.locator('.calls li', { hasText: 'quiet_fine' }).waitFor();
    await call('quiet_moody', 'token-of-ci');
    const row = page.locator('.calls li', { hasText: 'quiet_moody' });
    await row.waitFor();
    await shows(row, /Tool error.*by ci.*ms/s);
    await page.getByRole('link', { name: 'All recorded calls' }).click();
    await page.getByRole('heading', { name: 'Calls' }).waitFor();
    await page.getByLabel('Outcome').selectOption('failed');
    await page.waitForFunction(() => document.querySelectorAll('.calls li').length === 1);
    assert.equal(new URL(page.url()).searchParams.get('outcome'), 'failed');
    await page.getByLabel('Upstream').fill('');
    await page.getByLabel('Outcome').selectOption('');
    await page.getByLabel('What').fill('shop_fine');
    await page.locator('.calls li', { hasText: 'shop_fine' }).first().waitFor();
  });

  test('UIX-13 a gateway that keeps none says how to', async (context) => {
    const own = stopAfter(context);
    const plain = own(await startGateway({ upstreams: [{ name: 'shop', url: upstream.url }], env: { PROTEUS_ADMIN_SECRET: SECRET } }));
    const other = await signedIn(browser, new URL(plain.url).origin, { path: '/ui/calls' });
    await other.getByText('[telemetry] records = "memory"').waitFor();
    await other.context().close();
  });
});
