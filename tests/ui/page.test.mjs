// UIX-17: the page of a real gateway in a real browser.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, describe, test } from 'node:test';

import { stopAll } from '../e2e/support/programs.mjs';
import { stopAfter } from '../e2e/support/programs_of_suite.mjs';
import { holds, isOff, shows } from './support/shown.mjs';
import { launch, SECRET, signedIn, startWorld, tool, VIEWER_SECRET } from './support/world.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

describe('the page', () => {
  let world;
  let browser;
  let page;
  before(async () => {
    world = await startWorld();
    browser = await launch();
    page = await signedIn(browser, world.origin);
  });
  after(() => stopAll([world, browser]));

  const open = async (path, on = page) => {
    await on.goto(world.origin + path);
    await on.getByRole('heading', { level: 1 }).waitFor();
  };

  test('UIX-01 asks for a sign-in, keeps no secret, and talks to no other host', async () => {
    const context = await browser.newContext();
    const fresh = await context.newPage();
    const hosts = new Set();
    const urls = [];
    fresh.on('request', (request) => {
      hosts.add(new URL(request.url()).origin);
      urls.push(request.url());
    });
    await fresh.goto(`${world.origin}/ui`);
    await fresh.getByLabel('Admin secret or key').fill('wrong');
    await fresh.getByRole('button', { name: 'Sign in', exact: true }).click();
    await fresh.getByText('No admin key has this secret.').waitFor();
    await fresh.getByLabel('Admin secret or key').fill(SECRET);
    await fresh.getByRole('button', { name: 'Sign in', exact: true }).click();
    await fresh.getByRole('heading', { name: 'Overview' }).waitFor();
    assert.deepEqual([...hosts], [world.origin]);
    assert.ok(urls.every((url) => !decodeURIComponent(url).includes(SECRET)));
    const kept = await fresh.evaluate(() => [document.cookie, localStorage.length, sessionStorage.length, location.href]);
    assert.deepEqual(kept, ['', 0, 0, `${world.origin}/ui`]);
    const cookies = await context.cookies(`${world.origin}/ui`);
    assert.deepEqual(cookies.map(({ httpOnly, sameSite }) => [httpOnly, sameSite]), [[true, 'Strict']]);
    await fresh.getByRole('button', { name: 'Sign out' }).click();
    await fresh.getByLabel('Admin secret or key').waitFor();
    await context.close();
  });

  test('UIX-01 a viewer looks and changes nothing, in the page and by hand', async () => {
    const viewer = await signedIn(browser, world.origin, { secret: VIEWER_SECRET, path: '/ui/upstreams/files' });
    await viewer.getByRole('heading', { name: 'Project files' }).waitFor();
    await isOff(viewer.getByRole('button', { name: 'Refresh' }));
    await isOff(viewer.getByRole('radio', { name: 'Direct' }));
    const status = await viewer.evaluate(async () => {
      const { token } = await (await fetch('/ui/session')).json();
      const answer = await fetch('/admin/upstreams/files', { method: 'PATCH', headers: { 'x-proteus-token': token }, body: '{"enabled":false}' });
      return answer.status;
    });
    assert.equal(status, 403);
    await viewer.context().close();
  });

  test('UIX-02 a page on another port of the host, with the cookie, can neither read nor change', async (context) => {
    const own = stopAfter(context);
    const evil = own(createServer((_, response) => response.setHeader('content-type', 'text/html').end('<!doctype html><title>evil</title>')));
    await new Promise((listening) => evil.listen(0, '127.0.0.1', listening));
    const tab = own(await page.context().newPage());
    await tab.goto(`http://127.0.0.1:${evil.address().port}/`);
    const tried = await tab.evaluate(async (origin) => {
      const attempt = (path, options) => fetch(origin + path, { credentials: 'include', ...options }).then(async (answer) => `${answer.type} ${answer.status}`, () => 'blocked');
      return [
        await attempt('/admin/upstreams', {}),
        await attempt('/ui/session', {}),
        await attempt('/admin/upstreams/files', { method: 'PATCH', body: '{"enabled":false}' }),
        await attempt('/admin/upstreams/files/refresh', { method: 'POST', mode: 'no-cors', body: '' })
      ];
    }, world.origin);
    assert.deepEqual(tried.slice(0, 3), ['blocked', 'blocked', 'blocked']);
    const framed = await tab.evaluate(async (origin) => {
      const frame = document.createElement('iframe');
      frame.src = `${origin}/ui`;
      const loaded = new Promise((done) => (frame.onload = done));
      document.body.append(frame);
      await loaded;
      try { return frame.contentDocument === null ? 'refused' : 'own'; } catch { return 'refused'; }
    }, world.origin);
    assert.equal(framed, 'refused');
    const { audit } = await world.admin('GET', 'audit');
    assert.ok(!audit.some((one) => one.what === 'upstream.refresh'), 'a form of another page was obeyed');
    assert.equal((await world.admin('GET', 'upstreams/files')).enabled, true);
  });

  test('UIX-02 allowed_origins is about MCP, and not about the admin API', async () => {
    const ask = (path) => fetch(world.origin + path, { headers: { origin: 'http://friend.example', 'x-admin-secret': SECRET } });
    assert.equal((await ask('/admin/upstreams')).status, 403);
    assert.equal((await ask('/ui')).status, 403);
    assert.equal((await ask('/healthz')).status, 200);
  });

  test('UIX-02 no inline script runs, and text cannot become one', async () => {
    await open('/ui');
    const blocked = await page.evaluate(() => {
      const script = document.createElement('script');
      let refused = false;
      try { script.text = 'window.hurt = 1'; document.head.append(script); } catch { refused = true; }
      try { document.body.insertAdjacentHTML('beforeend', '<b>x</b>'); } catch { return refused || window.hurt === undefined; }
      return false;
    });
    assert.ok(blocked);
  });

  test('UIX-02 what upstreams write is text, and nothing in it is invisible', async () => {
    await open('/ui/tools?name=hostile_hurt');
    const part = page.locator('.part p');
    await part.waitFor();
    const text = await part.textContent();
    assert.ok(text.includes('<script>window.hurt=1</script>'));
    assert.ok(text.includes('U+202E') && text.includes('U+200B'));
    assert.doesNotMatch(await page.locator('main').textContent(), /[\u202e\u202c\u200b]/);
    assert.equal(await page.evaluate(() => window.hurt), undefined);
  });

  test('UIX-03 the overview shows what needs a person first, and each upstream', async () => {
    await open('/ui');
    const first = page.locator('.needs li').first();
    await first.waitFor();
    await shows(first, /away/);
    await shows(page.locator('.needs'), /shop.*2 proposals to decide/);
    const row = page.getByRole('region', { name: 'Upstreams' }).getByRole('link', { name: /Project files/ });
    await shows(row, /Connected.*modern.*cached.*3 tools/);
    // The number and the duration of calls appear once there was a call.
    await fetch(world.gateway.url, {
      method: 'POST',
      headers: { authorization: 'Bearer token of the agent', 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'files_search' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'files_search', arguments: { to: 'x' }, _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} } } })
    });
    await row.filter({ hasText: /1 call.*\d\.\d ms/ }).waitFor();
    await page.getByLabel('Search upstreams').fill('project');
    await page.waitForFunction(() => document.querySelectorAll('.virtual-row').length === 1);
  });

  test('UIX-04 an operator changes an upstream from cached to direct, and a client sees it at its next request', async () => {
    await open('/ui/upstreams/files');
    world.files.tools = [...world.files.tools, tool('live_only', 'Was added, and nobody announced it.')];
    const list = async () => {
      const answer = await fetch(world.gateway.url, {
        method: 'POST',
        headers: { authorization: 'Bearer token of the agent', 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} } } })
      });
      return (await answer.json()).result.tools.map((one) => one.name);
    };
    assert.ok(!(await list()).includes('files_live_only'));
    await page.getByText('Direct', { exact: true }).click();
    await page.getByText('As curl and TOML').click();
    await shows(page.getByRole('dialog'), /curl -X PATCH .*\[\[upstreams\]\]\s*name = "files"\s*refresh_strategy = "direct_proxy"/s);
    await page.getByRole('button', { name: 'Change' }).click();
    await page.getByText('Proteus requests each list from the upstream').waitFor();
    assert.ok((await list()).includes('files_live_only'));
    const { audit } = await world.admin('GET', 'audit');
    assert.ok(audit.some((one) => one.what === 'upstream.patch' && one.who === 'admin'));
    // The timeline shows what the list lost, and who caused it.
    await open('/ui/timeline?upstream=files');
    const entry = page.locator('.timeline > li.audit-entry', { hasText: 'refresh_strategy' });
    await entry.waitFor();
    await shows(entry, /admin.*upstream\.patch/s);
    await page.locator('.timeline .change.removed', { hasText: 'files_search' }).waitFor();
    await open('/ui/upstreams/files');
    await page.getByText('Cached', { exact: true }).click();
    await page.getByRole('button', { name: 'Change' }).click();
    await page.getByText('Proteus reads the lists when they change').waitFor();
  });

  test('UIX-04 refresh shows its result; pause and resume; settings are edited, and faults are shown', async () => {
    await open('/ui/upstreams/files');
    world.files.tools = world.files.tools.filter((one) => one.name !== 'live_only').concat(tool('added_one', 'New.'));
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByText(/Read in \d+ ms/).waitFor();
    await page.locator('.notice', { hasText: 'files_added_one' }).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    await page.locator('.badge', { hasText: 'Paused' }).waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.locator('.badge', { hasText: 'Connected' }).waitFor();
    await page.locator('.settings summary').click();
    const timeout = page.getByLabel('call_timeout', { exact: true });
    await timeout.fill('soon');
    await page.getByRole('button', { name: 'Save call_timeout' }).click();
    await page.locator('.settings .notice').waitFor();
    await holds(timeout, 'soon');
    await timeout.fill('90s');
    await page.getByRole('button', { name: 'Save call_timeout' }).click();
    await page.getByText('call_timeout (changed here)').waitFor();
    assert.match((await world.admin('GET', 'upstreams/files')).call_timeout, /^(90s|1m30s|1.5m)$/);
  });

  test('UIX-04 two operators change different settings of one upstream, and both hold', async () => {
    await open('/ui/upstreams/files');
    await page.locator('.settings summary').click();
    await page.getByLabel('health_interval', { exact: true }).fill('41s');
    await world.admin('PATCH', 'upstreams/files', { connect_timeout: '7s' });
    await page.getByRole('button', { name: 'Save health_interval' }).click();
    await page.getByText('health_interval (changed here)').waitFor();
    const { health_interval, connect_timeout } = await world.admin('GET', 'upstreams/files');
    assert.deepEqual([health_interval, connect_timeout], ['41s', '7s']);
  });

  test('UIX-04 upstreams are added and, after a question, removed', async () => {
    await open('/ui');
    await page.getByRole('button', { name: 'Add upstream' }).click();
    await page.getByLabel('URL, command, or a file with mcpServers').fill(world.hostile.url);
    await page.getByLabel('Name').fill('second');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('heading', { name: 'second' }).waitFor();
    await page.locator('.badge', { hasText: 'Connected' }).waitFor();
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    assert.equal((await world.admin('GET', 'upstreams/second')).status, 404);
  });

  test('UIX-05 tools as anyone sees them, and why something is missing', async () => {
    await open('/ui/tools');
    await page.getByText('files_write_file').waitFor();
    await page.locator('select[name=as]').selectOption('ci');
    await page.getByText('files_write_file').waitFor({ state: 'detached' });
    await page.getByText('files_read_file').waitFor();
    await page.getByLabel('Is a tool missing?').fill('files_write_file');
    await page.getByRole('button', { name: 'Why?' }).click();
    const why = page.getByRole('complementary');
    await why.getByText('Not seen').first().waitFor();
    await shows(why, /Access rules: the caller's rules do not allow it/);
    await page.locator('select[name=as]').selectOption('agent');
    await page.locator('select[name=context]').selectOption('reading');
    await page.getByText('files_search').click();
    await page.getByText('Prefer short words.', { exact: true }).waitFor();
    await shows(why, /from the upstream files.*from the context files_search/s);
    await page.getByLabel('Search', { exact: true }).fill('words');
    await page.getByText('1 tool matches the search').waitFor();
    const { searchParams } = new URL(page.url());
    assert.deepEqual([searchParams.get('as'), searchParams.get('context'), searchParams.get('q')], ['agent', 'reading', 'words']);
  });

  test('UIX-08 UIX-14 a pinned upstream changes a tool: the proposal appears, its diff is readable, ratifying it notifies', async () => {
    for (const { id } of (await world.admin('GET', 'proposals')).proposals) await world.admin('POST', `proposals/${id}/ratify`);
    await open('/ui/proposals');
    await page.getByRole('heading', { name: 'Nothing to decide' }).waitFor();
    world.shop.tools = [tool('pay', 'Pays somebody a huge amount.', { to: { type: 'number' } }), world.shop.tools[1]];
    await world.admin('POST', 'upstreams/shop/refresh');
    const card = page.locator('.proposal');
    await card.waitFor();
    await shows(card.locator('.words del'), 'small');
    await shows(card.locator('.words ins'), 'huge');
    await shows(card, /Breaking/);
    await shows(card.locator('.structure'), /inputSchema › properties › to › type"string""number"/);
    await card.getByRole('button', { name: 'Ratify' }).click();
    await page.getByRole('dialog').getByText('sees changed 1').first().waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Ratify' }).click();
    await page.getByText('Ratified: shop pay').waitFor();
    await page.getByRole('heading', { name: 'Nothing to decide' }).waitFor();
    const { audit } = await world.admin('GET', 'audit');
    assert.ok(audit.some((one) => one.who === 'admin' && JSON.stringify(one).includes('pay')));
  });

  test('UIX-07 the timeline shows changes with what they are, and filters them', async () => {
    const kept = world.files.tools;
    for (const tools of [[...kept, tool('passing', 'Comes and goes.')], kept]) {
      world.files.tools = tools;
      await world.admin('POST', 'upstreams/files/refresh');
    }
    await open('/ui/timeline');
    await page.locator('.timeline li').first().waitFor();
    await page.getByLabel('Upstream').selectOption('files');
    await page.getByLabel('Name').fill('passing');
    await page.locator('.change.added', { hasText: 'files_passing' }).waitFor();
    await page.locator('.change.removed', { hasText: 'files_passing' }).waitFor();
    assert.match(page.url(), /upstream=files&name=passing/);
    await page.getByLabel('Changes').selectOption('breaking');
    await page.waitForFunction(() => !document.querySelector('.timeline > li.compatible'));
    await page.getByLabel('Changes').selectOption('compatible');
    await page.waitForFunction(() => document.querySelector('.timeline > li.compatible') && !document.querySelector('.timeline > li.breaking'));
  });

  test('UIX-11 contexts side by side: what each shows and how it describes it', async () => {
    await open('/ui/contexts');
    await page.getByRole('heading', { name: 'Reading' }).waitFor();
    await page.getByRole('img', { name: 'files_search in reading: other description' }).waitFor();
    await page.getByRole('img', { name: 'files_write_file in reading: absent' }).waitFor();
    await page.getByRole('img', { name: 'files_read_file in reading: same' }).click();
    await page.getByRole('heading', { name: 'Tools' }).waitFor();
    assert.match(page.url(), /context=reading&name=files_read_file/);
  });

  test('UIX-12 a token is made, its secret shown once, and revoked', async () => {
    await open('/ui/tokens');
    await page.getByText('as the configuration says').first().waitFor();
    await page.getByRole('button', { name: 'Make a token' }).click();
    await page.getByLabel('Name').fill('nightly');
    await page.getByLabel('Tools it may use').fill('files_read*');
    await page.getByRole('button', { name: 'Make', exact: true }).click();
    const secret = await page.locator('.secret').textContent();
    await page.getByRole('button', { name: 'I have it' }).click();
    const list = () => fetch(`${new URL(world.gateway.url).origin}/v1/graphs/reading/mcp/tools`, { headers: { authorization: `Bearer ${secret}` } });
    assert.deepEqual((await (await list()).json()).tools.map((one) => one.name), ['files_read_file']);
    const row = page.getByRole('listitem').filter({ hasText: 'nightly' });
    await row.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await row.waitFor({ state: 'detached' });
    assert.equal((await list()).status, 401);
    assert.ok(!(await page.content()).includes(secret));
  });

  test('UIX-12 a token shows its limits, its old secret, and that its revocation was not stored', async () => {
    await world.admin('POST', 'tokens', { name: 'narrow', contexts: ['reading'], requests_per_minute: 30 });
    await open('/ui/tokens');
    const row = page.getByRole('listitem').filter({ hasText: 'narrow' });
    await shows(row, /narrow contexts reading · 30 requests a minute/);
    await row.getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('button', { name: 'I have it' }).click();
    await row.getByText(/^the old secret works until/).waitFor();
    await page.route('**/admin/tokens/narrow', (route) => route.fulfill({ json: { name: 'narrow', origin: 'runtime', state: 'revoked', durable: false } }), { times: 1 });
    await row.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('alert').filter({ hasText: 'narrow is refused from now on' }).waitFor();
    await world.admin('DELETE', 'tokens/narrow');
  });

  test('UIX-13 the audit says who did what', async () => {
    await world.admin('POST', 'upstreams/files/refresh');
    await open('/ui/audit');
    await page.getByLabel('What').fill('refresh files');
    await page.locator('.audit li', { hasText: 'upstream.refresh' }).first().waitFor();
    await shows(page.locator('.audit li').first(), /admin/);
  });

  test('UIX-14 what changes elsewhere is shown without a reload, in a second tab as well', async () => {
    await open('/ui/timeline');
    const second = await page.context().newPage();
    await open('/ui/timeline', second);
    world.files.tools = [...world.files.tools, tool('while_open', 'Came while the page was open.')];
    await world.admin('POST', 'upstreams/files/refresh');
    await page.getByText('files_while_open').first().waitFor();
    await second.getByText('files_while_open').first().waitFor();
    await second.close();
  });

  test('UIX-02 an expired session in the middle of a form loses nothing', async () => {
    const own = await signedIn(browser, world.origin, { path: '/ui/upstreams/files' });
    await own.locator('.settings summary').click();
    await own.getByLabel('timeout', { exact: true }).fill('31s');
    await own.context().clearCookies();
    await own.getByRole('button', { name: 'Save timeout' }).click();
    await own.getByRole('dialog').getByLabel('Admin secret or key').fill(SECRET);
    await own.getByRole('dialog').getByRole('button', { name: 'Sign in', exact: true }).click();
    await own.getByRole('dialog').waitFor({ state: 'detached' });
    await holds(own.getByLabel('timeout', { exact: true }), '31s');
    await own.context().close();
  });

  test('UIX-15 no accessibility fault on any screen, light and dark, desktop and phone, and nothing overflows', async () => {
    for (const [colorScheme, width] of [['light', 1280], ['dark', 390]]) {
      const own = await signedIn(browser, world.origin, { colorScheme, viewport: { width, height: 900 }, bypassCSP: true });
      for (const path of ['/ui', '/ui/upstreams/files', '/ui/tools?name=files_search', '/ui/proposals', '/ui/timeline', '/ui/contexts', '/ui/datasets', '/ui/tokens', '/ui/connections', '/ui/sessions', '/ui/try?name=files_search', '/ui/tools?by=search&q=files', '/ui/calls', '/ui/audit']) {
        await open(path, own);
        await own.waitForLoadState('networkidle');
        await own.evaluate(axe);
        const { violations } = await own.evaluate(() => globalThis.axe.run(document));
        assert.deepEqual(violations.map((one) => `${one.id}: ${one.nodes[0].html} ${one.nodes[0].failureSummary}`), [], `${path} ${colorScheme}`);
        const over = await own.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.equal(over, 0, `${path} is too wide on ${width}`);
      }
      await own.context().close();
    }
  });

  test('UIX-15 works by keyboard', async () => {
    await open('/ui');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to content');
    await page.getByRole('link', { name: 'Tools', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Tools' }).waitFor();
  });
});
