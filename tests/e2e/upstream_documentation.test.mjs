// docs/upstream-credentials.md: each configuration starts, and does what the page says.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';

import { makeFolder } from './support/children.mjs';
import { CLIENTS, Session, textOf } from './support/clients.mjs';
import { blocks } from './support/documentation.mjs';
import { ADMIN_SECRET } from './support/identity.mjs';
import { startIdentityProvider } from './support/identity_provider.mjs';
import { Person } from './support/person.mjs';
import { eventually, program, startServer } from './support/programs.mjs';
import { runningPrograms } from './support/programs_of_suite.mjs';
import { ProtectedUpstream } from './support/protected_upstream.mjs';
import { connectionsOf } from './support/sign_in_story.mjs';

const EXAMPLES = blocks('docs/upstream-credentials.md').filter(({ language }) => language === 'toml');
const SECRET = 'the-secret-of-the-client-of-the-page';
const ADA = 'the-token-of-ada';
const MODERN = CLIENTS[2];

/** Starts the setup that a configuration of the page describes, with the URLs of this test. */
async function startExample(programs, { text }) {
  const server = await startIdentityProvider({ refreshTokens: true });
  const people = await startIdentityProvider();
  const upstream = await ProtectedUpstream.start(server);
  programs.push(server, people, upstream);
  await server.addClient({ client_id: 'proteus', client_secret: SECRET, application_type: 'native', redirect_uris: ['http://127.0.0.1:1/later'], grant_types: ['authorization_code', 'refresh_token', 'client_credentials'] });
  const folder = makeFolder();
  const file = join(folder, 'proteus.toml');
  const ours = text
    .replace(/^url = ".*"$/m, `url = "${upstream.url}"`)
    .replaceAll('https://id.example.com', people.issuer)
    .replaceAll(/https:\/\/login\.\w+\.example\.com/g, server.issuer)
    .replace(/^public_url = .*$/m, 'listen = "127.0.0.1:0"');
  writeFileSync(file, ours);
  const env = { PROTEUS_ADMIN_SECRET: ADMIN_SECRET, ADA_TOKEN: ADA, SIGN_IN_SECRET: SECRET, TICKETS_SECRET: SECRET, REPORTS_SECRET: SECRET };
  const gateway = await startServer('proteus', ['serve', '--config', file, '--listen', '127.0.0.1:0', '--data', join(folder, 'data')], { env });
  programs.push(gateway);
  return { server, people, upstream, gateway, file, folder, env };
}

const scenario = (index, title, run) =>
  describe(`${EXAMPLES[index].at}, ${title}`, () => {
    let parts;
    runningPrograms(async (programs) => (parts = await startExample(programs, EXAMPLES[index])));
    run(() => parts);
  });

test('each configuration of the page is one that is tried', () => assert.equal(EXAMPLES.length, 4));

async function clientFor(gateway, token, person) {
  const session = await Session.open(MODERN, { url: gateway.url, token, capabilities: { elicitation: { form: {}, url: {} } } });
  session.answer('elicitation/create', async ({ url }) => {
    session.opening = person.connect(url);
    return { action: 'accept' };
  });
  return session;
}

scenario(0, 'each user for themselves', (parts) => {
  test('UPC-02 UPC-04 Ada signs in with her token', async () => {
    const session = await clientFor(parts().gateway, ADA, new Person('ada', { token: ADA }));
    assert.deepEqual(await session.toolNames(), ['notes_connect']);
    assert.equal(textOf(await session.call('notes_whoami')), 'these are the notes of ada');
    await session.opening;
    await session.close();
  });
});

scenario(1, 'users of an identity provider', (parts) => {
  test('UPC-06 Kim signs in at the identity provider first', async () => {
    const { gateway, people } = parts();
    const [, redirect] = new RegExp(`${people.issuer} come back to (\\S+)`).exec(gateway.log());
    await people.addClient({ client_id: 'proteus', client_secret: SECRET, redirect_uris: [redirect], grant_types: ['authorization_code'] });
    const token = await people.tokenFor({ subject: 'kim', resource: gateway.url });
    const session = await clientFor(gateway, token, new Person('kim'));
    assert.equal(textOf(await session.call('notes_whoami')), 'these are the notes of kim');
    await session.opening;
    await session.close();
  });
});

scenario(2, 'one account for everybody', (parts) => {
  test('UPC-04 an operator connects it with the URL of the command line', async () => {
    const { gateway, server, file, env } = parts();
    const args = ['connections', 'add', 'tickets', '--server', gateway.url, '--config', file];
    // Asynchronous, because the authorization server runs in this process and must be able to answer.
    const run = async (more) => (await promisify(execFile)(program('proteus'), more, { env: { ...process.env, ...env } })).stdout;
    const url = (await run(args)).trim();
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/connect\/[\w-]+$/);
    const consent = await new Person('team', { key: ADMIN_SECRET, stopAt: (to) => to.origin === server.issuer }).open(url);
    const redirect = consent.url.searchParams.get('redirect_uri');
    await server.addClient({ client_id: 'proteus', client_secret: SECRET, application_type: 'native', redirect_uris: [redirect], grant_types: ['authorization_code', 'refresh_token'] });
    await new Person('team', { key: ADMIN_SECRET }).connect((await run(args)).trim());
    const [connection] = await connectionsOf(gateway);
    assert.equal(connection.subject, 'gateway');
    assert.match(await run(['connections', '--server', gateway.url, '--config', file]), /tickets +\(the gateway\) +connected/);
    const session = await Session.open(MODERN, { url: gateway.url });
    assert.equal(textOf(await session.call('tickets_whoami')), 'these are the notes of team');
    await session.close();
    assert.match(await run(['connections', 'remove', connection.id, '--server', gateway.url, '--config', file]), /disconnected/);
    assert.deepEqual(await connectionsOf(gateway), []);
  });

  test('UPC-04 nobody is sent to an upstream that is not there, and other keys connect nothing', async () => {
    const { gateway } = parts();
    const ask = (upstream) => fetch(new URL('/admin/connections', gateway.url), { method: 'POST', headers: { 'x-admin-secret': ADMIN_SECRET, 'content-type': 'application/json' }, body: JSON.stringify({ upstream }) });
    assert.equal((await ask('none')).status, 404);
    const { url } = await (await ask('tickets')).json();
    const page = await new Person('mallory', { key: 'another-key' }).open(url);
    assert.equal(page.status, 403, page.words);
  });
});

scenario(3, 'nobody', (parts) => {
  test('UPC-11 calls need no sign-in', async () => {
    const session = await Session.open(MODERN, { url: parts().gateway.url });
    await eventually('its lists are read', async () => (await session.toolNames()).includes('reports_whoami'));
    assert.match(textOf(await session.call('reports_whoami')), /these are the notes of proteus/);
    await session.close();
  });
});
