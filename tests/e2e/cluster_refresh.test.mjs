// A user's token that expires while several processes use it: one of them refreshes it. PROTEUS_DRILL_REFRESHES sets
// how often one is killed meanwhile.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { PEPPER } from './support/cluster.mjs';
import { seeded } from './support/ledger.mjs';
import { Person } from './support/person.mjs';
import { hasPostgres, startPostgres } from './support/postgres.mjs';
import { eventually } from './support/programs.mjs';
import { runningPrograms } from './support/programs_of_suite.mjs';
import { send } from './support/raw.mjs';
import { RefreshWatch } from './support/refresh_watch.mjs';
import { connectionsOf, disconnectAll, linkIn, startStory, TOKENS } from './support/sign_in_story.mjs';

const ROUNDS = Number(process.env.PROTEUS_DRILL_REFRESHES ?? 4);
const SEED = Number(process.env.PROTEUS_DRILL_SEED ?? Date.now() % 2 ** 32);
const AT_ONCE = 100;
const LIFE = 2;  // lifetime of a token in seconds
const HOUR = 3600;
const NOTES = 'these are the notes of ada';

const call = async (gateway) => {
  const response = await send(gateway.url, 'tools/call', { name: 'notes_whoami', arguments: {} }, { token: TOKENS.ada });
  const { result, error } = await response.json();
  return result?.content?.[0]?.text ?? JSON.stringify(error);
};

for (const rotates of [true, false]) {
  describe(`a token of two processes, at a server that ${rotates ? 'rotates' : 'keeps'} refresh tokens`, { skip: !hasPostgres && 'PostgreSQL 15 is not installed' }, () => {
    const random = seeded(SEED);
    let story;
    let watch;
    let programs;
    let launch;
    const gateways = [];
    runningPrograms(async (all) => {
      programs = all;
      const postgres = await startPostgres();
      all.push(postgres);
      const env = { PROTEUS_STORE: postgres.dsn, PROTEUS_PEPPER: PEPPER };
      const limits = { calls_per_principal: 10 * AT_ONCE, calls_per_upstream: 10 * AT_ONCE, requests_per_minute: 0 };
      launch = async (i) => (story = await startStory(programs, { cluster: { name: `process-${i}` }, env, limits, provider: { rotates }, parts: story })) && (gateways[i] = story.gateway);
      for (const i of [0, 1]) await launch(i);
      watch = new RefreshWatch(story.provider);
    });

    /** Ada signs in at one process; waits until both know. */
    async function connect(gateway, given) {
      const link = given ?? linkIn(await call(gateway));
      assert.ok(link, 'there is no link to sign in by');
      await new Person('ada', { token: TOKENS.ada }).connect(link);
      for (const each of gateways) await eventually('known at both', async () => (await connectionsOf(each)).some(({ state }) => state === 'connected'));
    }
    // Waits until the token has expired, so that the next call needs a new one.
    const endOfToken = async () => {
      const [{ expires_at }] = await connectionsOf(gateways[0]);
      await eventually('the end of a token', () => Date.now() > Date.parse(expires_at));
    };
    const repeated = () => (rotates ? watch.repeated() : []);

    test(`UPC-08 REP-02 is refreshed by one of them for ${AT_ONCE} calls at each, and no call fails`, async () => {
      for (let round = 0; round < 3; ++round) {
        story.provider.settings.expiresIn = LIFE;
        await disconnectAll(gateways[0]);
        await connect(gateways[0]);
        story.provider.settings.expiresIn = HOUR;
        await endOfToken();
        const before = watch.sent.length;
        const answers = await Promise.all(gateways.flatMap((gateway) => Array.from({ length: AT_ONCE }, () => call(gateway))));
        assert.deepEqual([...new Set(answers)], [NOTES]);
        assert.equal(watch.sent.length - before, 1, 'refreshes');
        assert.deepEqual(repeated(), []);
      }
    });

    // A server that does not rotate accepts the same refresh token again.
    if (!rotates) return;
    test(`UPC-08 REP-04 is never refreshed twice when one of them is killed meanwhile: ${ROUNDS} times`, { timeout: 3_600_000 }, async (context) => {
      const moments = Object.entries(watch.moments());
      let lost = 0;
      story.provider.settings.expiresIn = LIFE;
      await disconnectAll(gateways[0]);
      await connect(gateways[0]);
      for (let round = 0; round < ROUNDS; ++round) {
        const victim = Math.floor(random() * 2);
        await endOfToken();
        const before = watch.sent.length;
        let called;
        const moved = moments[round % moments.length][1](new Promise((end) => (called = end)));
        const calls = gateways.map((gateway) => call(gateway).catch(() => undefined));
        void Promise.all(calls).then(called);
        await Promise.race([moved, Promise.all(calls)]);
        await gateways[victim].kill();
        await launch(victim);
        // The killed process may have received the only valid refresh token.
        const link = linkIn(await call(gateways[victim]));
        if (link) {
          assert.ok(watch.sent.length > before, `round ${round}: lost without a refresh`);
          lost += 1;
          await connect(gateways[victim], link);
        }
        await Promise.all(calls);
        for (const gateway of gateways) await eventually('both can call', async () => (await call(gateway)) === NOTES);
        assert.deepEqual(repeated(), [], `round ${round}`);
      }
      context.diagnostic(`seed ${SEED}: ${ROUNDS} kills, ${watch.sent.length} refreshes in all, ${lost} times a sign-in was needed`);
    });
  });
}
