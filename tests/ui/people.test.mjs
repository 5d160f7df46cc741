// UIX-09, UIX-12: the sessions of callers, and the upstreams that they have connected.
import assert from 'node:assert/strict';
import { describe, test, before, after } from 'node:test';

import { CLIENTS } from '../e2e/support/clients.mjs';
import { ADMIN_SECRET } from '../e2e/support/identity.mjs';
import { Person } from '../e2e/support/person.mjs';
import { runningPrograms } from '../e2e/support/programs_of_suite.mjs';
import { clientOf, startStory } from '../e2e/support/sign_in_story.mjs';
import { holds, shows } from './support/shown.mjs';
import { launch, signedIn } from './support/world.mjs';

const [LEGACY] = CLIENTS;
const NOBODY = 'http://127.0.0.1:9';

describe('people who use the gateway', () => {
  let story;
  let browser;
  let page;
  runningPrograms(async (programs) => (story = await startStory(programs, { issuers: [{ issuer: NOBODY }], rules: [{ match: { groups: ['staff'] }, deny: ['*'] }, { match: { groups: ['ops'] }, name: '{sub}' }] })));
  before(async () => {
    browser = await launch();
    page = await signedIn(browser, new URL(story.gateway.url).origin, { secret: ADMIN_SECRET });
  });
  after(() => browser?.close());
  const open = async (path) => {
    await page.goto(new URL(path, story.gateway.url).href);
    await page.getByRole('heading', { level: 1 }).waitFor();
  };

  test('UIX-12 who signs in to an upstream appears, and is disconnected after a question', async () => {
    await open('/ui/connections');
    await page.getByRole('heading', { name: 'Nobody has connected an upstream yet' }).waitFor();
    const ada = await clientOf(LEGACY, story.gateway, 'ada');
    await ada.call('notes_whoami');
    await ada.opening;
    const row = page.getByRole('listitem').filter({ hasText: 'ada' });
    await row.locator('.badge', { hasText: 'Connected' }).waitFor();
    await shows(row, /notes.*for tools/s);
    await row.getByRole('button', { name: 'Disconnect' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click();
    await row.waitFor({ state: 'detached' });
    await ada.close();
  });

  test('UIX-12 an operator connects the gateway itself', async () => {
    await open('/ui/connections');
    await page.getByRole('button', { name: 'Connect notes' }).click();
    const link = await page.getByRole('link', { name: 'the sign-in for notes' }).getAttribute('href');
    await new Person('team', { key: ADMIN_SECRET }).connect(link);
    await page.getByRole('listitem').filter({ hasText: 'The gateway' }).waitFor();
  });

  test('UIX-12 which rule fits the claims of a token, and why others do not', async () => {
    await open('/ui/tokens');
    await page.getByText(NOBODY, { exact: true }).waitFor();
    const rules = page.locator('.rules li');
    await rules.first().waitFor();
    assert.deepEqual((await rules.allTextContents()).map((text) => /^(Rule \d)(groups is \w+)named/.exec(text)?.slice(1)), [['Rule 1', 'groups is staff'], ['Rule 2', 'groups is ops']]);
    await shows(rules.first(), /not \*/);
    const claims = page.getByLabel('Claims of a token');
    await claims.fill(JSON.stringify({ iss: NOBODY, sub: 'kim', groups: ['ops'] }));
    await page.getByRole('button', { name: 'Match' }).click();
    await page.getByText('Rule 2 matches. The principal is kim.').waitFor();
    await page.getByText('Rule 1 does not match').waitFor();
    await page.getByRole('link', { name: 'What they see' }).last().click();
    await page.getByRole('heading', { name: 'Tools' }).waitFor();
    await page.getByRole('status').first().waitFor();
    await holds(page.locator('select[name=as]'), /"kim"/);
    await open('/ui/tokens');
    await claims.fill('{"sub":"kim"}');
    await page.getByRole('button', { name: 'Match' }).click();
    await page.getByText('No rule matches').waitFor();
    await claims.fill('{"sub":"ada"}');
    await page.getByText('No rule matches').waitFor({ state: 'detached' });
  });

  test('UIX-09 a client session is shown, and ended after a question', async () => {
    const bo = await clientOf(LEGACY, story.gateway, 'bo');
    await bo.toolNames();
    await open('/ui/sessions');
    const row = page.getByRole('listitem').filter({ hasText: 'bo' });
    await row.first().waitFor();
    await shows(row.first(), /at \/mcp.*revision/s);
    await row.first().getByRole('button').click();
    await shows(page.getByRole('dialog'), /curl -X DELETE .*\/admin\/sessions\/client-/s);
    await page.getByRole('dialog').getByRole('button', { name: 'End', exact: true }).click();
    await row.first().waitFor({ state: 'detached' });
    const { audit } = await (await fetch(new URL('/admin/audit', story.gateway.url), { headers: { 'x-admin-secret': ADMIN_SECRET } })).json();
    assert.ok(audit.some((one) => one.what === 'session.end' && one.detail.principal === 'bo'));
    await bo.close().catch(() => {});
  });
});
