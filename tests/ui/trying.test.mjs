// UIX-06: a tool is tried on the page, through the real endpoint.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { startGateway } from '../e2e/support/gateway.mjs';
import { stopAll } from '../e2e/support/programs.mjs';
import { ScriptedUpstream } from '../e2e/support/scripted_upstream.mjs';
import { holds, isOff, shows } from './support/shown.mjs';
import { launch, SECRET, signedIn, VIEWER_SECRET } from './support/world.mjs';

const ORDER = {
  type: 'object',
  required: ['to', 'size', 'gift'],
  properties: {
    to: { type: 'string', description: 'Who gets it' },
    size: { type: 'string', enum: ['small', 'large'] },
    amount: { type: 'integer', default: 2, minimum: 1 },
    gift: { type: 'boolean' },
    address: { type: 'object', required: ['city'], properties: { city: { type: 'string' } } },
    tags: { type: 'array', items: { type: 'string' } },
    how: { oneOf: [{ title: 'By post', type: 'object', required: ['stamp'], properties: { stamp: { type: 'string' } } }, { title: 'By hand', type: 'string' }] }
  }
};
const QUESTION = { method: 'elicitation/create', params: { mode: 'form', message: 'Which PIN?', requestedSchema: { type: 'object', required: ['pin'], properties: { pin: { type: 'string' } } } } };

/** An upstream whose tools ask before they answer, or report progress. */
class TalkingUpstream extends ScriptedUpstream {
  async receive(request, response) {
    let body = '';
    for await (const piece of request) body += piece;
    const message = JSON.parse(body || '{}');
    const { method, params } = message;
    const answer = (result) => ({ jsonrpc: '2.0', id: message.id, result: { resultType: 'complete', ...result } });
    const say = (text) => answer({ content: [{ type: 'text', text }] });
    if (method === 'tools/call') {
      this.called.push(params);
      this.headers = request.headers;
      if (params.name === 'slow') {
        response.setHeader('content-type', 'text/event-stream');
        const progress = { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: params._meta.progressToken, progress: 1, total: 2, message: 'half of it' } };
        response.write(`data: ${JSON.stringify(progress)}\n\n`);
        await new Promise((go) => { this.finish = go; });
        response.end(`data: ${JSON.stringify(say('slowly done'))}\n\n`);
        return;
      }
      const asks = params.name === 'ask' && !params.inputResponses;
      const given = params.name === 'ask' ? params.inputResponses : params.arguments;
      const result = asks ? answer({ resultType: 'input_required', inputRequests: { pin: QUESTION }, requestState: 'waiting' }) : say(JSON.stringify(given));
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(result));
      return;
    }
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id ?? null, ...this.answer(message) }));
  }
}

describe('trying a tool', () => {
  let upstream;
  let gateway;
  let browser;
  let page;
  let origin;
  before(async () => {
    upstream = await TalkingUpstream.start([
      { name: 'order', description: 'Orders something.', inputSchema: ORDER },
      { name: 'ask', description: 'Asks for a PIN.', inputSchema: { type: 'object' } },
      { name: 'slow', description: 'Takes a while.', inputSchema: { type: 'object' } }
    ]);
    gateway = await startGateway({
      upstreams: [{ name: 'shop', url: upstream.url }],
      tokens: [{ name: 'buyer', token_env: 'BUYER', tools: ['shop_order'] }],
      admin: { keys: [{ name: 'eyes', secret_env: 'EYES_SECRET', role: 'viewer' }] },
      env: { PROTEUS_ADMIN_SECRET: SECRET, EYES_SECRET: VIEWER_SECRET, BUYER: 'token of the buyer' }
    });
    origin = new URL(gateway.url).origin;
    browser = await launch();
    page = await signedIn(browser, origin);
  });
  after(() => stopAll([upstream, gateway, browser]));

  const answer = () => page.getByRole('region', { name: 'Answer' });

  test('UIX-06 a form of its schema, called with the rules of a principal and none of its credentials', async () => {
    await page.goto(`${origin}/ui/tools?as=buyer&name=shop_order`);
    await page.getByRole('link', { name: 'Try it' }).click();
    await page.getByLabel('to *').fill('Ada');
    await page.getByLabel('size *').selectOption('large');
    await holds(page.getByLabel('amount'), '2');
    await page.getByLabel('gift').check();
    await page.getByLabel('city').fill('Berlin');
    await page.getByRole('button', { name: 'Add to tags' }).click();
    await page.getByLabel('1 *').fill('fragile');
    await page.getByLabel('One of').selectOption({ label: 'By hand' });
    await page.getByLabel('By hand *').fill('quickly');
    await page.getByRole('button', { name: 'Call' }).click();
    await answer().getByText('Done').waitFor();
    const [called] = upstream.called;
    assert.deepEqual(called.arguments, { to: 'Ada', size: 'large', amount: 2, gift: true, address: { city: 'Berlin' }, tags: ['fragile'], how: 'quickly' });
    assert.ok(!JSON.stringify(upstream.headers).includes('proteus_try') && !JSON.stringify(upstream.headers).includes('token of the buyer'));
    await page.getByText('sent tools/call').click();
    await shows(page.locator('.messages'), /"Berlin"[\s\S]*received result/);
    const { audit } = await (await fetch(`${origin}/admin/audit`, { headers: { 'x-admin-secret': SECRET } })).json();
    assert.ok(audit.some((one) => one.what === 'token.try' && one.who === 'admin' && one.detail.as === 'buyer'));
  });

  test('UIX-06 raw JSON beside the form', async () => {
    await page.goto(`${origin}/ui/try?name=shop_order`);
    await page.getByLabel('As JSON').fill('{"to":"Bo","size":"small","gift":false,"note":1}');
    await holds(page.getByLabel('to *'), 'Bo');
    await page.getByRole('button', { name: 'Call' }).click();
    await answer().getByText('"note":1').waitFor();
  });

  test('UIX-06 what somebody does not see they cannot try', async () => {
    await page.goto(`${origin}/ui/try?as=buyer&name=shop_ask`);
    await page.getByRole('heading', { name: 'This principal does not see the tool' }).waitFor();
  });

  test('UIX-06 questions are answered in the page', async () => {
    await page.goto(`${origin}/ui/try?name=shop_ask`);
    await page.getByRole('button', { name: 'Call' }).click();
    await page.getByText('Which PIN?', { exact: true }).waitFor();
    await page.getByLabel('pin *').fill('1234');
    await page.getByRole('button', { name: 'Answer' }).click();
    await answer().getByText('"pin":"1234"').waitFor();
    await page.getByRole('button', { name: 'Call' }).click();
    await page.getByRole('button', { name: 'Decline' }).click();
    await answer().getByText('"action":"decline"').waitFor();
  });

  test('UIX-06 progress is shown while it runs', async () => {
    await page.goto(`${origin}/ui/try?name=shop_slow`);
    await page.getByRole('button', { name: 'Call' }).click();
    await page.getByText('half of it', { exact: true }).waitFor();
    upstream.finish();
    await answer().getByText('slowly done').waitFor();
    await page.getByText('received notifications/progress').first().waitFor();
  });

  test('UIX-06 a viewer calls nothing', async () => {
    const viewer = await signedIn(browser, origin, { secret: VIEWER_SECRET, path: '/ui/try?name=shop_ask' });
    await viewer.getByText('Viewers cannot call tools.').waitFor();
    await isOff(viewer.getByRole('button', { name: 'Call' }));
    await viewer.context().close();
  });

  test('UIX-02 UIX-06 the token is kept in no storage', async () => {
    const kept = await page.evaluate(() => [document.cookie, localStorage.length, sessionStorage.length]);
    assert.deepEqual(kept, ['', 0, 0]);
  });
});
