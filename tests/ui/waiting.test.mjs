// UIX-06, UIX-09: a call at a legacy upstream that asks a question waits, and an operator ends it.
import { test } from 'node:test';

import { startGateway } from '../e2e/support/gateway.mjs';
import { startServer } from '../e2e/support/programs.mjs';
import { stopAfter } from '../e2e/support/programs_of_suite.mjs';
import { shows } from './support/shown.mjs';
import { launch, SECRET, signedIn } from './support/world.mjs';

test('UIX-06 UIX-09 a call that asks is answered in the page; while it waits it is shown, and ended after a question', async (context) => {
  const own = stopAfter(context);
  const upstream = own(await startServer('everything-server', ['--port', '0', '--era', 'legacy']));
  const gateway = own(await startGateway({ upstreams: [{ name: 'old', url: upstream.url }], env: { PROTEUS_ADMIN_SECRET: SECRET } }));
  const { origin } = new URL(gateway.url);
  const browser = own(await launch());
  const page = await signedIn(browser, origin, { path: '/ui/try?name=old_test_elicitation' });
  const call = async () => {
    await page.getByLabel('message *').fill('Who are you?');
    await page.getByRole('button', { name: 'Call' }).click();
    await page.getByRole('button', { name: 'Decline' }).waitFor();
  };
  await call();
  const operator = await page.context().newPage();
  await operator.goto(`${origin}/ui/sessions`);
  const row = operator.getByRole('listitem').filter({ hasText: 'waits for the client' });
  await row.waitFor();
  await shows(row, /old.*since/s);
  await page.getByRole('button', { name: 'Decline' }).click();
  await page.getByRole('region', { name: 'Answer' }).getByText(/decline/).first().waitFor();
  await row.waitFor({ state: 'detached' });
  await page.reload();
  await call();
  await row.getByRole('button', { name: 'End the call' }).click();
  await operator.getByRole('dialog').getByRole('button', { name: 'End', exact: true }).click();
  await row.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Decline' }).click();
  await page.getByText(/no longer waits/).first().waitFor();
});
