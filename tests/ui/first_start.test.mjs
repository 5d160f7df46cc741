// UIX-16: a gateway that has no upstream yet.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';

import { makeFolder, spawnChild } from '../e2e/support/children.mjs';
import { startGateway } from '../e2e/support/gateway.mjs';
import { eventually, program } from '../e2e/support/programs.mjs';
import { stopAfter } from '../e2e/support/programs_of_suite.mjs';
import { ScriptedUpstream } from '../e2e/support/scripted_upstream.mjs';
import { shows } from './support/shown.mjs';
import { launch, SECRET, signedIn, tool } from './support/world.mjs';

// Runs a program on a terminal and ends it on SIGTERM, because the hangup of the terminal alone only makes it reload.
const ON_TERMINAL = 'import os, pty, signal, sys\npid, fd = pty.fork()\nif pid == 0: os.execvp(sys.argv[1], sys.argv[1:])\nsignal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGTERM))\nwhile True:\n  try: data = os.read(fd, 4096)\n  except OSError: break\n  if not data: break\n  sys.stdout.buffer.write(data); sys.stdout.flush()\n';

test('UIX-16 a first start on a terminal prints a link that signs in once', async (context) => {
  const own = stopAfter(context);
  const folder = makeFolder();
  const env = { ...process.env, PROTEUS_ADMIN_SECRET: SECRET };
  const terminal = spawnChild('python3', ['-c', ON_TERMINAL, program('proteus'), 'serve', '--listen', '127.0.0.1:0', '--data', join(folder, 'data')], { env, cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
  own({ stop: () => (terminal.kill(), terminal.closed) });
  let said = '';
  terminal.stdout.on('data', (data) => (said += data));
  const browser = own(await launch());
  await eventually('the link is printed', () => /\/ui\/sign-in#[\w-]+/.test(said));
  const [link] = /http:\/\/127\.0\.0\.1:\d+\/ui\/sign-in#[\w-]+/.exec(said);
  const page = await (await browser.newContext()).newPage();
  await page.goto(link);
  await page.getByRole('heading', { name: 'No upstream yet' }).waitFor();
  assert.ok(!page.url().includes('#'));
  const second = await (await browser.newContext()).newPage();
  await second.goto(link);
  await second.getByText('The link was used before, or has expired.').waitFor();
  await second.getByLabel('Admin secret or key').waitFor();
});

test('UIX-16 the first upstreams come from a pasted file, and the page says what to tell a client', async (context) => {
  const own = stopAfter(context);
  const upstream = own(await ScriptedUpstream.start([tool('first', 'The first one.')]));
  const gateway = own(await startGateway({ env: { PROTEUS_ADMIN_SECRET: SECRET } }));
  const { origin } = new URL(gateway.url);
  const browser = own(await launch());
  const page = await signedIn(browser, origin);
  await page.getByRole('heading', { name: 'No upstream yet' }).waitFor();
  await page.getByLabel('URL, command, or a file with mcpServers').fill(JSON.stringify({ mcpServers: { one: { url: upstream.url }, two: { url: upstream.url } } }));
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('heading', { name: '2 upstreams' }).waitFor();
  await page.getByRole('region', { name: 'Upstreams' }).getByRole('link', { name: /one.*1 tool/ }).waitFor();
  await shows(page.getByRole('region', { name: 'Connect a client' }).locator('pre'), new RegExp(`${origin}/mcp`));
});
