// Each user signs in at an upstream: the whole story with real parts, in both eras and across them.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { Chromium } from './support/chromium.mjs';
import { CLIENTS, textOf } from './support/clients.mjs';
import { eventually } from './support/programs.mjs';
import { runningPrograms, stopAfter } from './support/programs_of_suite.mjs';
import { clientOf, connectionsOf, disconnectAll, linkIn, startStory, TOKENS } from './support/sign_in_story.mjs';

for (const era of ['modern', 'legacy']) {
  describe(`an upstream of the ${era} era that each user signs in to`, () => {
    let story;
    runningPrograms(async (programs) => (story = await startStory(programs, { era })));

    for (const [index, client] of CLIENTS.entries()) {
      const [first, second] = index % 2 === 0 ? ['ada', 'bo'] : ['bo', 'ada'];

      test(`UPC-04 UPC-05 UPC-07 UPC-15 each user of ${client.name} is asked, signs in, and gets their own`, async (context) => {
        const own = stopAfter(context);
        const { gateway, upstream } = story;
        own({ stop: () => disconnectAll(gateway) });
        const one = own(await clientOf(client, gateway, first));
        const two = own(await clientOf(client, gateway, second));
        assert.deepEqual(await one.toolNames(), ['notes_connect']);
        const before = upstream.counts.whoami ?? 0;
        assert.equal(textOf(await one.call('notes_whoami')), `these are the notes of ${first}`);
        await one.opening;
        assert.equal(upstream.counts.whoami, before + 1);
        assert.equal(one.asked.length, 1);
        assert.equal(one.asked[0].mode, 'url');
        assert.deepEqual(await one.toolNames(), [`notes_note_of_${first}`, 'notes_whoami', 'notes_write']);
        assert.equal(textOf(await one.call('notes_whoami')), `these are the notes of ${first}`);
        assert.equal(one.asked.length, 1);

        assert.deepEqual(await two.toolNames(), ['notes_connect']);
        assert.match(textOf(await two.call('notes_connect')), /is connected/);
        assert.equal(textOf(await two.call('notes_whoami')), `these are the notes of ${second}`);
        assert.deepEqual(await two.toolNames(), [`notes_note_of_${second}`, 'notes_whoami', 'notes_write']);

        await disconnectAll(gateway, first);
        assert.deepEqual(await one.toolNames(), ['notes_connect']);
        assert.equal(textOf(await two.call('notes_whoami')), `these are the notes of ${second}`);
        assert.equal(two.asked.length, 1);
        assert.equal(textOf(await one.call('notes_whoami')), `these are the notes of ${first}`);
        assert.equal(one.asked.length, 2);
      });
    }
  });
}

const [V1, , MODERN] = CLIENTS;

describe('somebody who takes their time to sign in', () => {
  let story;
  runningPrograms(async (programs) => (story = await startStory(programs, { limits: { calls_per_upstream: 1 } })));

  test('UPC-05 keeps nobody else from the upstream', async () => {
    const bo = await clientOf(V1, story.gateway, 'bo');
    assert.equal(textOf(await bo.call('notes_whoami')), 'these are the notes of bo');
    let decline;
    const asked = new Promise((reached) => {
      story.open = () => new Promise((answer) => {
        decline = () => answer({ action: 'decline' });
        reached();
      });
    });
    const ada = await clientOf(V1, story.gateway, 'ada', { open: () => story.open() });
    const waiting = ada.call('notes_whoami');
    await asked;
    assert.equal(textOf(await bo.call('notes_whoami')), 'these are the notes of bo');
    decline();
    assert.match(textOf(await waiting), /declined/);
    await Promise.all([ada.close(), bo.close()]);
  });
});

describe('somebody who is asked to sign in', () => {
  let story;
  runningPrograms(async (programs) => (story = await startStory(programs, { writeScope: 'write' })));

  for (const client of CLIENTS) {
    for (const action of ['decline', 'cancel']) {
      test(`UPC-05 ${client.name}: to ${action} is answered`, async () => {
        const session = await clientOf(client, story.gateway, 'ada', { open: async () => ({ action }) });
        const result = await session.call('notes_whoami');
        assert.equal(result.isError, true);
        assert.match(textOf(result), action === 'decline' ? /declined/ : /dismissed/);
        await session.close();
      });
    }

    for (const [what, capabilities] of Object.entries({ 'without elicitation': {}, 'with forms alone': { elicitation: {} } })) {
      test(`UPC-05 ${client.name} ${what} gets the link as text`, async () => {
        const session = await clientOf(client, story.gateway, 'ada', { capabilities });
        const result = await session.call('notes_whoami');
        assert.equal(result.isError, true);
        await session.person.connect(linkIn(textOf(result)));
        assert.equal(textOf(await session.call('notes_whoami')), 'these are the notes of ada');
        assert.deepEqual(session.asked, []);
        await session.close();
        await disconnectAll(story.gateway);
      });
    }

    test(`UPC-05 ${client.name}: prompts and resources ask as well`, async () => {
      const session = await clientOf(client, story.gateway, 'ada');
      const prompt = await session.client.getPrompt({ name: 'notes_greeting' });
      assert.equal(prompt.messages[0].content.text, 'Greet ada');
      await disconnectAll(story.gateway);
      const { contents } = await session.client.readResource({ uri: 'note://today' });
      assert.equal(contents[0].text, 'today of ada');
      assert.equal(session.asked.length, 2);
      await session.close();
      await disconnectAll(story.gateway);
    });

    test(`UPC-10 ${client.name} is asked for more scopes where a tool needs them`, async () => {
      const session = await clientOf(client, story.gateway, 'ada');
      assert.equal(textOf(await session.call('notes_whoami')), 'these are the notes of ada');
      assert.equal(textOf(await session.call('notes_write')), 'written by ada');
      assert.equal(session.asked.length, 2);
      const [{ scopes }] = await connectionsOf(story.gateway);
      assert.ok(scopes.includes('tools') && scopes.includes('write'), `${scopes}`);
      await session.close();
      await disconnectAll(story.gateway);
    });
  }

  test('UPC-05 UPC-07 a legacy client hears that it is done, and that its lists have changed', async () => {
    const session = await clientOf(V1, story.gateway, 'ada');
    await session.listenForChanges();
    const complete = session.notifications('notifications/elicitation/complete');
    const changed = session.notifications('notifications/tools/list_changed');
    await session.call('notes_whoami');
    assert.equal((await complete.next()).elicitationId, session.asked[0].elicitationId);
    await changed.next();
    await session.close();
    await disconnectAll(story.gateway);
  });

  test('UPC-05 a legacy request that cannot ask fails with the URL, and its client hears when that is done', async () => {
    const session = await clientOf(V1, story.gateway, 'ada');
    await session.listenForChanges();
    const complete = session.notifications('notifications/elicitation/complete');
    const asking = session.client.complete({ ref: { type: 'ref/prompt', name: 'notes_greeting' }, argument: { name: 'whom', value: '' } });
    const error = await asking.then(assert.fail, (refused) => refused);
    assert.equal(error.code, -32042, `${error}`);
    const [{ mode, url, elicitationId }] = error.data.elicitations;
    assert.equal(mode, 'url');
    await session.person.connect(url);
    assert.equal((await complete.next()).elicitationId, elicitationId);
    await session.close();
    await disconnectAll(story.gateway);
  });

  test('UPC-06 one of them in a real browser', async (context) => {
    const own = stopAfter(context);
    const chromium = own(await Chromium.start());
    own({ stop: () => disconnectAll(story.gateway) });
    const session = own(await clientOf(MODERN, story.gateway, 'ada', {
      open: async ({ url }) => {
        session.opening = chromium.connect(url, { token: TOKENS.ada, subject: 'ada' });
        return { action: 'accept' };
      }
    }));
    // Chromium takes longer than a `Person`.
    const result = await session.sdk.call(session.client, { name: 'notes_whoami', arguments: {} }, { timeout: 60_000 });
    assert.equal(textOf(result), 'these are the notes of ada');
    assert.match(await session.opening, /is connected/);
  });

  test('UPC-14 users see what they have connected, and end it', async () => {
    const revocations = story.provider.asked('/token/revocation');
    const session = await clientOf(MODERN, story.gateway, 'ada');
    await session.call('notes_whoami');
    await session.opening;
    const [connection] = await connectionsOf(story.gateway);
    assert.equal(connection.principal, 'ada');
    assert.equal(connection.state, 'connected');
    assert.ok(Date.parse(connection.connected_at) > 0);
    const mine = await session.person.open(new URL('/connect', story.gateway.url));
    assert.match(mine.words, /Server notes .* Disconnect notes/);
    const [, form] = /name="form" value="([^"]*)"/.exec(mine.html);
    const response = await session.person.request(new URL('/connect', story.gateway.url), new URLSearchParams({ form, disconnect: connection.id }));
    assert.equal(response.status, 303, await response.text());
    assert.deepEqual(await connectionsOf(story.gateway), []);
    await eventually('the token is revoked', () => story.provider.asked('/token/revocation') > revocations);
    await session.close();
  });
});
