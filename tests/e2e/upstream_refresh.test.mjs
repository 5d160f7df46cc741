// Tokens that expire, servers that rotate them, and a gateway that is killed meanwhile. PROTEUS_DRILL_REFRESHES sets
// how often; 500 is the full drill.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { makeFolder } from './support/children.mjs';
import { Person } from './support/person.mjs';
import { eventually } from './support/programs.mjs';
import { runningPrograms } from './support/programs_of_suite.mjs';
import { send } from './support/raw.mjs';
import { RefreshWatch } from './support/refresh_watch.mjs';
import { connectionsOf, linkIn, startStory, TOKENS } from './support/sign_in_story.mjs';

const ROUNDS = Number(process.env.PROTEUS_DRILL_REFRESHES ?? 6);
const AT_ONCE = 1000;
const HOUR = 3600;

const call = async (gateway, user = 'ada', name = 'notes_whoami') => {
  const response = await send(gateway.url, 'tools/call', { name, arguments: {} }, { token: TOKENS[user] });
  return response.json();
};
const textIn = ({ result, error }) => result?.content?.[0]?.text ?? JSON.stringify(error);

/** Signs in with the link that a client without elicitation gets. */
async function connect(gateway, user = 'ada') {
  const link = linkIn(textIn(await call(gateway, user)));
  assert.ok(link, 'there is no link to sign in by');
  await new Person(user, { token: TOKENS[user] }).connect(link);
}

describe('a token that has ended', () => {
  let story;
  let watch;
  runningPrograms(async (programs) => {
    story = await startStory(programs, { limits: { calls_per_principal: 2 * AT_ONCE, calls_per_upstream: 2 * AT_ONCE, requests_per_minute: 0 } });
    watch = new RefreshWatch(story.provider);
  });

  test(`UPC-08 is refreshed once for ${AT_ONCE} calls at once, and none fails`, async () => {
    const { gateway, provider } = story;
    provider.settings.expiresIn = 1;
    await connect(gateway);
    const [{ expires_at }] = await connectionsOf(gateway);
    provider.settings.expiresIn = HOUR;
    // Well after expiry, so that the upstream does not refuse a token that was replaced during the call.
    await eventually('the end of a token', () => Date.now() > Date.parse(expires_at) + 1000);
    const before = watch.sent.length;
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => call(gateway)));
    assert.deepEqual(new Set(answers.map(textIn)), new Set(['these are the notes of ada']));
    assert.equal(watch.sent.length - before, 1);
    assert.deepEqual(watch.repeated(), []);
  });

  test('UPC-09 and cannot be refreshed any more ends the connection of that one user, who is asked again', async () => {
    const { gateway, provider } = story;
    await connect(gateway, 'bo');
    for (const key of [...provider.store.keys()]) if (String(key).includes('RefreshToken')) provider.store.delete(key);
    provider.settings.expiresIn = HOUR;
    // Bo's token is valid for another hour; the upstream refuses Ada's.
    await call(gateway);
    story.upstream.refused = new Set(story.upstream.tokens);
    const again = await call(gateway);
    assert.match(textIn(again), /Sign in/);
    const states = Object.fromEntries((await connectionsOf(gateway)).map(({ principal, state }) => [principal, state]));
    assert.equal(states.ada, 'needs sign-in');
    story.upstream.refused = undefined;
    assert.equal(textIn(await call(gateway, 'bo')), 'these are the notes of bo');
  });
});

describe('an upstream that refuses every token', () => {
  let story;
  runningPrograms(async (programs) => (story = await startStory(programs)));

  test('is given one more, and then the call fails clearly', async () => {
    const { gateway, upstream } = story;
    await connect(gateway);
    upstream.refuseAll = true;
    const before = upstream.tokens.length;
    const { error } = await call(gateway);
    assert.match(error.message, /upstream notes/);
    assert.ok(upstream.tokens.length - before <= 4, `${upstream.tokens.length - before} requests`);
    upstream.refuseAll = false;
    assert.equal(textIn(await call(gateway)), 'these are the notes of ada');
  });
});

for (const rotates of [true, false]) {
  describe(`a gateway that is killed while it refreshes tokens that ${rotates ? 'rotate' : 'stay'}`, () => {
    const folder = makeFolder();
    let story;
    let watch;
    let programs;
    runningPrograms(async (all) => {
      programs = all;
      story = await startStory(all, { folder, provider: { rotates } });
      watch = new RefreshWatch(story.provider);
    });

    /** Starts another process with the same data, once the previous one has ended. */
    async function restart() {
      const { gateway } = await startStory(programs, { folder, parts: story });
      story.gateway = gateway;
    }

    const known = (token) => (rotates ? watch.repeated() : watch.sent.filter((each) => each !== token));

    test(`UPC-08 ${rotates ? 'uses no refresh token twice, loses none silently' : 'loses none'}, and writes nothing in the clear: ${ROUNDS} times`, { timeout: 3_600_000 }, async () => {
      const { provider, upstream } = story;
      const moments = Object.entries(watch.moments());
      const lost = {};
      // The upstream refuses all tokens that were issued so far, which makes the gateway refresh at once.
      const endTokens = () => (upstream.refused = new Set(watch.secrets));
      provider.settings.expiresIn = HOUR;
      await connect(story.gateway);
      if (!rotates) {
        // By this refresh the gateway learns that the server does not rotate refresh tokens.
        endTokens();
        assert.equal(textIn(await call(story.gateway)), 'these are the notes of ada');
        await story.gateway.kill();
        await restart();
      }
      const first = watch.sent[0];
      for (let round = 0; round < ROUNDS; ++round) {
        const [moment, wait] = moments[round % moments.length];
        endTokens();
        const sentBefore = watch.sent.length;
        let called;
        const asking = new Promise((done) => (called = done));
        const moved = wait(asking);
        const calling = call(story.gateway).catch(() => undefined);
        void calling.then(called);
        await moved;
        await story.gateway.kill();
        await calling;
        await restart();
        const [{ state, last_error }] = await connectionsOf(story.gateway);
        const sent = watch.sent.length > sentBefore;
        if (rotates && state === 'needs sign-in') {
          assert.match(last_error, /refresh/);
          // A gateway that is killed at random may have recorded a refresh that it had not sent yet.
          if (moment !== 'before the request is seen') assert.ok(sent, `lost without a rotation, ${moment}`);
          assert.notEqual(moment, 'at the end');
          lost[moment] = (lost[moment] ?? 0) + 1;
          await connect(story.gateway);
        } else {
          assert.equal(state, 'connected', moment);
        }
        assert.deepEqual(known(first), [], moment);
      }
      const { state } = (await connectionsOf(story.gateway))[0];
      assert.equal(state, 'connected');
      await eventually('an answer', async () => textIn(await call(story.gateway)) === 'these are the notes of ada');
      assert.deepEqual(known(first), []);
      await story.gateway.stop();
      assert.deepEqual(watch.inTheClear(join(folder, 'data')), []);
      assert.ok(watch.secrets.size > 0);
      if (Object.keys(lost).length > 0) console.error(`needed a sign-in after being killed: ${JSON.stringify(lost)}`);
    });
  });
}
