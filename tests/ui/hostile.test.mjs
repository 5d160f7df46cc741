// UIX-02, UIX-15: an open page, and what upstreams, operators and the network may do to it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { startGateway } from '../e2e/support/gateway.mjs';
import { stopAll } from '../e2e/support/programs.mjs';
import { ScriptedUpstream } from '../e2e/support/scripted_upstream.mjs';
import { costOf } from './support/crowd.mjs';
import { shows } from './support/shown.mjs';
import { launch, SECRET, signedIn, tool, VIEWER_SECRET } from './support/world.mjs';

const SCRIPT = '<script>window.hurt=1</script><img src=x onerror="window.hurt=1">';
const OVERRIDES = 'safe \u202egnp.exe\u202c and\u200b \u2066hidden\u2069';
const LONG = `${'word '.repeat(199_000)}${SCRIPT} the end`; // the largest definition has 1 MiB
const LONGEST_TASK_MS = 1000; // so that nobody takes the page for dead

// A schema whose form would be endless, and members with a meaning in JavaScript.
const SCHEMA = {
  type: 'object',
  title: SCRIPT,
  required: ['self', 'many'],
  properties: {
    [SCRIPT]: { type: 'string', description: SCRIPT, default: SCRIPT },
    __proto__x: { type: 'string' },
    constructor: { type: 'string', title: OVERRIDES },
    choice: { enum: [SCRIPT, OVERRIDES] },
    many: { enum: Array.from({ length: 20_000 }, (_, i) => `choice ${i}`) },
    self: { $ref: '#/$defs/self' },
    broken: { $ref: '#/%zz/x' },
    far: { $ref: 'https://elsewhere.example/schema' },
    when: { type: 'string', format: 'date', default: 'no date at all' },
    variants: { oneOf: Array.from({ length: 3000 }, (_, i) => ({ type: 'object', properties: { [`p${i}`]: { type: 'string' } } })) }
  },
  $defs: { self: { type: 'object', required: [...'abcdefghij'], properties: Object.fromEntries([...'abcdefghij'].map((key) => [key, { $ref: '#/$defs/self' }])) } }
};

class HostileUpstream extends ScriptedUpstream {
  answer(message) {
    if (message.method !== 'tools/call') return super.answer(message);
    const content = [
      { type: 'text', text: SCRIPT },
      { type: 'text', text: OVERRIDES },
      { type: 'text', text: LONG },
      { type: 'image', data: 'AAAA', mimeType: 'image/svg+xml', annotations: { lastModified: 'yesterday, or so' } },
      { type: 'resource_link', uri: 'javascript:window.hurt=1', name: SCRIPT },
      ...Array.from({ length: 20_000 }, (_, i) => ({ type: 'text', text: `line ${i}` }))
    ];
    return { result: { resultType: 'complete', content, structuredContent: { rows: Array.from({ length: 100_000 }, (_, i) => i), html: SCRIPT } } };
  }
}

describe('a page in front of the hostile', () => {
  let upstream;
  let pinned;
  let gateway;
  let browser;
  let page;
  let origin;
  const errors = [];
  before(async () => {
    upstream = await HostileUpstream.start([
      { name: 'form', description: SCRIPT, inputSchema: SCHEMA },
      { ...tool('long', LONG), title: OVERRIDES, icons: [{ src: 'https://elsewhere.example/icon.png' }] },
      tool('turned', OVERRIDES)
    ]);
    pinned = await ScriptedUpstream.start([tool('pay', 'Pays.')]);
    gateway = await startGateway({
      upstreams: [
        { name: 'hostile', url: upstream.url, display_name: `Shop ${SCRIPT}` },
        { name: 'pinned', url: pinned.url, trust: 'pin' }
      ],
      contexts: { odd: { display_name: SCRIPT, instructions: `${SCRIPT} ${OVERRIDES}`, include: ['*'] } },
      admin: { keys: [{ name: 'eyes', secret_env: 'EYES_SECRET', role: 'viewer' }] },
      env: { PROTEUS_ADMIN_SECRET: SECRET, EYES_SECRET: VIEWER_SECRET }
    });
    origin = new URL(gateway.url).origin;
    browser = await launch();
    page = await signedIn(browser, origin);
    page.setDefaultTimeout(60_000);
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('request', (request) => { if (new URL(request.url()).origin !== origin) errors.push(`asked ${request.url()}`); });
  });
  after(() => stopAll([upstream, pinned, gateway, browser]));

  const admin = async (method, path, body) => (await fetch(`${origin}/admin/${path}`, { method, headers: { 'x-admin-secret': SECRET }, body: body && JSON.stringify(body) })).json();
  const open = async (path) => {
    await page.goto(origin + path);
    await page.getByRole('heading', { level: 1 }).waitFor();
  };
  /** Defines a test that fails if one task keeps the page busy for long. */
  const hostile = (name, work) => test(name, async () => {
    const { longest } = await costOf(page, work);
    assert.ok(longest < LONGEST_TASK_MS, `a task took ${longest} ms`);
  });
  /** Checks that nothing ran, nothing is invisible, and no other host got a request. */
  const isUnhurt = async () => {
    assert.equal(await page.evaluate(() => window.hurt), undefined);
    assert.doesNotMatch(await page.locator('main').textContent(), /[\u202e\u202c\u200b\u2066\u2069]/);
    assert.equal(await page.locator('main script, main img, main iframe, main a[href^="javascript"]').count(), 0);
    assert.deepEqual(errors, []);
  };

  hostile('UIX-02 names, titles, descriptions and instructions are text on every screen', async () => {
    for (const path of ['/ui', '/ui/upstreams/hostile', '/ui/tools', '/ui/tools?name=hostile_turned', '/ui/contexts', '/ui/timeline', '/ui/proposals', '/ui/tools?by=search&q=script', '/ui/calls', '/ui/audit']) {
      await open(path);
      await page.waitForLoadState('networkidle');
      await isUnhurt();
    }
    await open('/ui/tools?name=hostile_turned');
    await page.locator('.part').getByText('U+202E').first().waitFor();
  });

  hostile('UIX-02 a description of 1 MB is shown in part, and whole to who wants it', async () => {
    await open('/ui/tools?name=hostile_long');
    const part = page.locator('.part p').first();
    await part.getByRole('button', { name: /Show all 995,\d{3} characters/ }).click();
    await part.getByText('the end').waitFor();
    assert.equal((await part.textContent()).length, LONG.length);
    await isUnhurt();
  });

  hostile('UIX-06 a schema without end is a form with one', async () => {
    await open('/ui/try?name=hostile_form');
    await page.getByLabel('As JSON').waitFor();
    const controls = await page.locator('form input, form select, form textarea').count();
    assert.ok(controls > 5 && controls < 500, `${controls} controls`);
    assert.ok((await page.locator('form option').count()) < 2000);
    await page.getByRole('button', { name: /^Fill in/ }).first().click();
    await isUnhurt();
  });

  hostile('UIX-06 a result with script, 1 MB and a hundred thousand rows is shown in part, as text', async () => {
    await open('/ui/try?name=hostile_turned');
    await page.getByLabel('to').fill('x');
    await page.getByRole('button', { name: 'Call' }).click();
    const answer = page.getByRole('region', { name: 'Answer' });
    await answer.getByText('Done').waitFor();
    await answer.getByText('The first 100 of 20,005 blocks').waitFor();
    await shows(answer, /<script>window\.hurt=1<\/script>.*U\+202E.*yesterday, or so/s);
    await page.getByText('received result').click();
    await page.locator('.messages').getByRole('button', { name: /Show all/ }).waitFor();
    await isUnhurt();
  });

  hostile('UIX-08 a change of a description to 1 MB is a proposal that can be read', async () => {
    for (const { id } of (await admin('GET', 'proposals')).proposals) await admin('POST', `proposals/${id}/ratify`);
    pinned.tools = [tool('pay', LONG, { [SCRIPT]: { type: 'string', description: OVERRIDES } })];
    await admin('POST', 'upstreams/pinned/refresh');
    await open('/ui/proposals');
    const card = page.locator('.proposal');
    await card.waitFor();
    await shows(card.locator('.structure'), /<script>/);
    await card.getByRole('button', { name: /Show all/ }).first().click();
    await isUnhurt();
  });

  hostile('UIX-03 an upstream that answers with markup and nonsense is an upstream with an error', async () => {
    const odd = await HostileUpstream.start([]);
    odd.answer = () => ({ error: { code: -32000, message: `${SCRIPT} ${OVERRIDES}` } });
    try {
      await admin('POST', 'upstreams', { name: 'odd', url: odd.url });
      await open('/ui/upstreams/odd');
      await page.getByText('Last error:').waitFor();
      await isUnhurt();
    } finally {
      await admin('DELETE', 'upstreams/odd');
      await odd.stop();
    }
  });

  hostile('UIX-14 dates that are none, and lists that are huge, are shown as they came', async () => {
    const audit = Array.from({ length: 100_000 }, (_, i) => ({ number: 100_000 - i, at: i % 2 ? 'not a date' : '9999999-99-99', who: SCRIPT, what: 'upstream.patch', detail: { name: OVERRIDES, i } }));
    await page.route('**/admin/audit*', (route) => route.fulfill({ json: { audit } }));
    await open('/ui/audit');
    await page.getByText('not a date').first().waitFor();
    await page.getByText('The newest 300 of 100,000').waitFor();
    await isUnhurt();
    await page.unroute('**/admin/audit*');
  });

  test('UIX-01 a viewer who calls the API by hand changes nothing, whatever they send', async () => {
    const viewer = await signedIn(browser, origin, { secret: VIEWER_SECRET });
    const statuses = await viewer.evaluate(async () => {
      const { routes } = await (await fetch('/admin')).json();
      const { token } = await (await fetch('/ui/session')).json();
      const out = {};
      for (const { method, path, changes_state } of routes.filter((one) => one.changes_state)) {
        const url = path.replace(/\{\w+\}/g, 'hostile');
        out[`${method} ${path}`] = (await fetch(url, { method, headers: { 'x-proteus-token': token }, body: '{}' })).status;
        if (!changes_state) break;
      }
      // A method override, or another path of the same route, gives no other right.
      out.override = (await fetch('/admin/upstreams/hostile', { method: 'POST', headers: { 'x-proteus-token': token, 'x-http-method-override': 'DELETE' } })).status;
      out.slash = (await fetch('/admin//upstreams/hostile', { method: 'DELETE', headers: { 'x-proteus-token': token } })).status;
      return out;
    });
    assert.ok(Object.keys(statuses).length > 15);
    assert.deepEqual([...new Set(Object.values(statuses))], [403], JSON.stringify(statuses));
    await viewer.context().close();
  });
});
