// Links of one user in the browser of another, and servers that pose as others: nothing is connected.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { CLIENTS, textOf } from './support/clients.mjs';
import { startGateway } from './support/gateway.mjs';
import { ADMIN_SECRET } from './support/identity.mjs';
import { startIdentityProvider } from './support/identity_provider.mjs';
import { Person } from './support/person.mjs';
import { runningPrograms } from './support/programs_of_suite.mjs';
import { ProtectedUpstream } from './support/protected_upstream.mjs';
import { bodyOf, headersOf } from './support/raw.mjs';
import { clientOf, connectionsOf, disconnectAll, linkIn, startStory, TOKENS } from './support/sign_in_story.mjs';

const MODERN = CLIENTS[2];
const isCallback = (url) => url.pathname.startsWith('/oauth/callback/');

/** Calls a tool with this token, and returns the sign-in link in the answer. */
async function linkOf(gateway, token) {
  const params = { name: 'notes_whoami', arguments: {} };
  const response = await fetch(gateway.url, { method: 'POST', headers: { ...headersOf('tools/call', params), authorization: `Bearer ${token}` }, body: bodyOf('tools/call', params) });
  const { result } = await response.json();
  assert.equal(result.isError, true, JSON.stringify(result));
  return linkIn(textOf(result));
}

/** Ada, the attacker, begins to sign in, and Bo opens one of the links on her way. */
function phishing(title, parts) {
  describe(title, () => {
    let story;
    runningPrograms(async (programs) => (story = await parts(programs)));

    test('UPC-06 the connect link of one user, opened by another', async () => {
      const { gateway, person, tokenOf } = story;
      const link = await linkOf(gateway, await tokenOf('ada'));
      const page = await person('bo').open(link);
      assert.ok(page.status >= 400 || /Who is connecting/.test(page.words), page.words);
      assert.doesNotMatch(page.words, /notes/);
      assert.deepEqual(await connectionsOf(gateway), []);
      await person('ada').connect(link);
      await disconnectAll(gateway);
    });

    test('UPC-06 the authorization URL of one user, opened by another', async () => {
      const { gateway, upstream, person, tokenOf } = story;
      const attacker = person('ada');
      attacker.stopAt = (url) => url.origin === upstream.provider.issuer && url.searchParams.get('resource') === upstream.url;
      const { url, stopped } = await attacker.open(await linkOf(gateway, await tokenOf('ada')));
      assert.ok(stopped);
      const victim = person('bo');
      await victim.open(await linkOf(gateway, await tokenOf('bo')));
      await disconnectAll(gateway);
      const page = await victim.open(url);
      assert.equal(page.status, 400, page.words);
      assert.match(page.words, /Nothing was connected/);
      assert.deepEqual(await connectionsOf(gateway), []);
    });

    test('UPC-03 UPC-06 the callback URL of one user, opened by another, and then twice', async () => {
      const { gateway, person, tokenOf } = story;
      const attacker = person('ada');
      let callbacks = 0;
      // A user of an identity provider comes back twice: with the identity, and with the grant.
      attacker.stopAt = (url) => isCallback(url) && ++callbacks === story.waysBack;
      const { url, stopped } = await attacker.open(await linkOf(gateway, await tokenOf('ada')));
      assert.ok(stopped);
      for (const victim of [new Person('bo'), person('bo')]) {
        const page = await victim.open(url);
        assert.equal(page.status, 400, page.words);
      }
      assert.deepEqual(await connectionsOf(gateway), []);
      attacker.stopAt = () => false;
      assert.match((await attacker.open(url)).words, /is connected/);
      assert.equal((await attacker.open(url)).status, 400);
      assert.equal((await connectionsOf(gateway)).length, 1);
      await disconnectAll(gateway);
    });
  });
}

phishing('users with tokens of the gateway', async (programs) => {
  const story = await startStory(programs);
  return { ...story, waysBack: 1, tokenOf: async (user) => TOKENS[user], person: (user) => new Person(user, { token: TOKENS[user] }) };
});

phishing('users of an identity provider', async (programs) => {
  const secret = 'the-secret-of-the-sign-in-page';
  const provider = await startIdentityProvider();
  programs.push(provider);
  const server = await startIdentityProvider({ refreshTokens: true });
  programs.push(server);
  const upstream = await ProtectedUpstream.start(server);
  programs.push(upstream);
  const gateway = await startGateway({
    upstreams: [{ name: 'notes', url: upstream.url, prefix: 'notes_', fail_fast_on_startup: false, authentication: { type: 'oauth', subject: 'caller' } }],
    issuers: [{ issuer: provider.issuer, scopes: ['tools'], sign_in: { client_id: 'proteus', client_secret_env: 'SIGN_IN_SECRET' } }],
    rules: [{ match: {} }],
    env: { SIGN_IN_SECRET: secret, PROTEUS_ADMIN_SECRET: ADMIN_SECRET }
  });
  programs.push(gateway);
  const [, redirect] = new RegExp(`${provider.issuer} come back to (\\S+)`).exec(gateway.log());
  await provider.addClient({ client_id: 'proteus', client_secret: secret, redirect_uris: [redirect], grant_types: ['authorization_code'] });
  const tokenOf = (subject) => provider.tokenFor({ subject, resource: gateway.url });
  return { provider, upstream, gateway, waysBack: 2, tokenOf, person: (user) => new Person(user) };
});

describe('two authorization servers, one of them an attacker', () => {
  let honest;
  let evil;
  let upstream;
  let gateway;
  runningPrograms(async (programs) => {
    honest = await startIdentityProvider({ refreshTokens: true });
    evil = await startIdentityProvider({ refreshTokens: true });
    upstream = await ProtectedUpstream.start(honest);
    const trap = await ProtectedUpstream.start(evil);
    programs.push(honest, evil, upstream, trap);
    const authentication = { type: 'oauth', subject: 'caller' };
    const of = (name, url) => ({ name, url, prefix: `${name}_`, fail_fast_on_startup: false, authentication });
    gateway = await startGateway({
      upstreams: [of('notes', upstream.url), of('trap', trap.url)],
      tokens: [{ name: 'ada', token_env: 'ADA_TOKEN' }],
      auth: { anonymous: 'never' },
      env: { ADA_TOKEN: TOKENS.ada, PROTEUS_ADMIN_SECRET: ADMIN_SECRET }
    });
    programs.push(gateway);
  });

  test('UPC-02 UPC-03 UPC-18 neither gets a code of the other', async () => {
    const session = await clientOf(MODERN, gateway, 'ada', { open: async () => ({ action: 'decline' }) });
    const ways = {};
    for (const [name, issuer] of [['notes', honest.issuer], ['trap', evil.issuer]]) {
      await session.call(`${name}_whoami`);
      const person = new Person('ada', { token: TOKENS.ada, stopAt: isCallback });
      const { url } = await person.open(session.asked.at(-1).url);
      assert.equal(url.searchParams.get('iss'), issuer);
      ways[name] = { person, url };
    }
    assert.notEqual(ways.notes.url.pathname, ways.trap.url.pathname);
    // The honest server's code with the path, the issuer or no issuer, and then the state of the attacker's sign-in.
    const before = evil.asked('/token');
    for (const swap of [
      (url) => (url.pathname = ways.trap.url.pathname),
      (url) => url.searchParams.set('iss', evil.issuer),
      (url) => url.searchParams.delete('iss')
    ]) {
      const url = new URL(ways.notes.url);
      swap(url);
      ways.notes.person.stopAt = () => false;
      const page = await ways.notes.person.open(url);
      assert.equal(page.status, 400, page.words);
    }
    const mixed = new URL(ways.trap.url);
    mixed.searchParams.set('code', ways.notes.url.searchParams.get('code'));
    ways.trap.person.stopAt = () => false;
    mixed.searchParams.set('iss', honest.issuer);
    assert.equal((await ways.trap.person.open(mixed)).status, 400);
    assert.equal(evil.asked('/token'), before);
    assert.deepEqual(await connectionsOf(gateway), []);
    await session.close();
  });
});
