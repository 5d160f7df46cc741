// A gateway with an upstream for everything that the page can show, and a browser in front of it.
import { createServer } from 'node:net';
import { chromium } from 'playwright-core';

import { startGateway } from '../../e2e/support/gateway.mjs';
import { stopAll } from '../../e2e/support/programs.mjs';
import { ScriptedUpstream } from '../../e2e/support/scripted_upstream.mjs';

export const SECRET = 'of the operator';
export const VIEWER_SECRET = 'of those who look';

export const tool = (name, description, properties = { to: { type: 'string' } }) => ({
  name,
  description,
  inputSchema: { type: 'object', properties },
  annotations: { readOnlyHint: name.startsWith('read') }
});

/** Returns a port on which nothing listens. */
async function closedPort() {
  const server = createServer();
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address();
  await new Promise((closed) => server.close(closed));
  return port;
}

export const HOSTILE = '<img src=x onerror="window.hurt=1"><script>window.hurt=1</script> pay \u202egnp.exe\u202c now\u200b';

/** Starts the world; `settings` are added to its own. If `harmless`, nothing in it would look odd in a picture. */
export async function startWorld({ harmless = false, env = {}, ...settings } = {}) {
  const files = await ScriptedUpstream.start([
    tool('read_file', 'Reads a file of the project and returns its text.'),
    tool('write_file', 'Writes a file.'),
    tool('search', 'Finds files by words in them.')
  ]);
  const shop = await ScriptedUpstream.start([tool('pay', 'Pays somebody a small amount.'), tool('refund', 'Gives money back.')]);
  const hostile = await ScriptedUpstream.start([harmless ? tool('find_ticket', 'Finds tickets by number or words.') : tool('hurt', HOSTILE)]);
  const gateway = await startGateway({
    upstreams: [
      { name: 'files', url: files.url, display_name: 'Project files' },
      { name: 'shop', url: shop.url, trust: 'pin' },
      { name: harmless ? 'tickets' : 'hostile', url: hostile.url },
      { name: harmless ? 'calendar' : 'away', url: `http://127.0.0.1:${await closedPort()}/mcp`, fail_fast_on_startup: false }
    ],
    tokens: [
      { name: 'ci', token_env: 'CI_TOKEN', tools: ['files_read*'] },
      { name: 'agent', token_env: 'AGENT_TOKEN' }
    ],
    contexts: { reading: { display_name: 'Reading', include: ['files_read*', 'files_search'], tool_supplements: { files_search: 'Prefer short words.' } } },
    admin: { keys: [{ name: 'eyes', secret_env: 'EYES_SECRET', role: 'viewer' }] },
    server: { allowed_origins: ['http://friend.example'] },
    ...settings,
    env: { ...env, PROTEUS_ADMIN_SECRET: SECRET, EYES_SECRET: VIEWER_SECRET, CI_TOKEN: 'token of ci', AGENT_TOKEN: 'token of the agent' }
  });
  const origin = new URL(gateway.url).origin;
  const admin = async (method, path, body) => {
    const answer = await fetch(`${origin}/admin/${path}`, { method, headers: { 'x-admin-secret': SECRET }, body: body && JSON.stringify(body) });
    return answer.json();
  };
  const stop = () => stopAll([files, shop, hostile, gateway]);
  return { gateway, origin, files, shop, hostile, admin, stop };
}

export const launch = () =>
  chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });

/** Opens the page in a new browser profile, and signs in. */
export async function signedIn(browser, origin, { secret = SECRET, path = '/ui', ...options } = {}) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  await page.goto(origin + path);
  await page.getByLabel('Admin secret or key').fill(secret);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('navigation', { name: 'Screens' }).waitFor();
  return page;
}
