// Operators who change the same thing at once, at different processes (REP-03). PROTEUS_DRILL_WRITERS sets how often;
// 1000 is the full drill.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { admin, done, startMember, tool } from './support/cluster.mjs';
import { seeded } from './support/ledger.mjs';
import { hasPostgres, startPostgres } from './support/postgres.mjs';
import { eventually, stopAll } from './support/programs.mjs';
import { stopAfter } from './support/programs_of_suite.mjs';
import { ScriptedUpstream } from './support/scripted_upstream.mjs';

const ROUNDS = Number(process.env.PROTEUS_DRILL_WRITERS ?? 100);
const DECISIONS = 20;
const SEED = Number(process.env.PROTEUS_DRILL_SEED ?? Date.now() % 2 ** 32);

describe('two operators at two processes', { skip: !hasPostgres && 'PostgreSQL 15 is not installed' }, () => {
  let postgres;
  const processes = [];
  let upstream;
  before(async () => {
    postgres = await startPostgres();
    for (const name of ['one', 'two']) processes.push(await startMember(postgres.dsn, name));
    upstream = await ScriptedUpstream.start([tool('pay')]);
  });
  after(() => stopAll([postgres, ...processes, upstream]));

  const random = seeded(SEED);
  /** Sends the requests at once, or some a little later, and returns their answers. */
  const atOnce = (asks) =>
    Promise.all(
      asks.map(async ([process, ...request]) => {
        if (random() < 0.4) await pause(random() * 25);
        return admin(process, ...request);
      })
    );
  const settled = () =>
    eventually('all have applied everything', async () => (await done(processes[0], 'GET', 'processes')).json.processes.every(({ live, behind }) => !live || behind === 0));

  test(`REP-03 change one upstream ${ROUNDS} times: no update is lost, and each 409 is true`, { timeout: 600_000 }, async (context) => {
    const own = stopAfter(context);
    await done(processes[0], 'POST', 'upstreams', { name: 'shop', url: upstream.url, enabled: false });
    // Each operator has its own key, so that a lost update is seen, and both change a common key.
    const keys = ['circuit_failures', 'max_consecutive_failures'];
    const what = ({ json }) => Object.fromEntries(['display_name', ...keys].map((key) => [key, json[key]]));
    const counts = { accepted: 0, refused: 0, both: 0 };
    await settled();
    const expected = what(await done(processes[1], 'GET', 'upstreams/shop'));
    for (let round = 1; round <= ROUNDS; ++round) {
      const patches = processes.map((_, i) => ({ [keys[i]]: 100 + round, display_name: `${round} by ${i}` }));
      const answers = await atOnce(processes.map((process, i) => [process, 'PATCH', 'upstreams/shop', patches[i]]));
      const accepted = [0, 1].filter((i) => answers[i].status === 200);
      const refused = [0, 1].filter((i) => answers[i].status === 409);
      assert.equal(accepted.length + refused.length, 2, `round ${round}: ${JSON.stringify(answers)}`);
      // All have applied the earlier rounds, so a request can only conflict with the other one of this round.
      assert.ok(accepted.length > 0, `round ${round}: both were refused: ${JSON.stringify(answers)}`);
      for (const i of refused) assert.match(answers[i].json.detail, /changed by somebody else/, `round ${round}`);
      counts.accepted += accepted.length;
      counts.refused += refused.length;
      for (const i of accepted) expected[keys[i]] = patches[i][keys[i]];
      if (accepted.length === 2) {
        counts.both += 1;
        // If both were accepted, the second one had seen the first.
        const second = accepted.filter((i) => answers[i].json[keys[1 - i]] === patches[1 - i][keys[1 - i]]);
        assert.equal(second.length, 1, `round ${round}: ${JSON.stringify(answers.map(what))}`);
        expected.display_name = patches[second[0]].display_name;
      } else {
        expected.display_name = patches[accepted[0]].display_name;
      }
      await settled();
      for (const process of processes) assert.deepEqual(what(await done(process, 'GET', 'upstreams/shop')), expected, `round ${round}`);
    }
    context.diagnostic(`seed ${SEED}, ${ROUNDS} rounds: ${counts.accepted} changes accepted, ${counts.refused} refused with 409, both accepted in ${counts.both}`);
    // The store, too, has what was acknowledged last: a process that starts now reads it.
    const third = own(await startMember(postgres.dsn, 'third'));
    assert.deepEqual(what(await done(third, 'GET', 'upstreams/shop')), expected);
    let patches = 0;
    for (let page, before = ''; page?.length !== 0; before = `&before=${page.at(-1)?.number}`) {
      page = (await done(processes[1], 'GET', `audit?limit=1000${before}`)).json.audit;
      patches += page.filter(({ what }) => what === 'upstream.patch').length;
    }
    assert.equal(patches, counts.accepted);
    await done(processes[1], 'DELETE', 'upstreams/shop');
  });

  test('REP-03 PIN-05 decide about one proposal: one of two decisions holds, and the other one is told', async (context) => {
    await done(processes[0], 'POST', 'upstreams', { name: 'bank', url: upstream.url, trust: 'pin' });
    const outcomes = {};
    for (let round = 1; round <= DECISIONS; ++round) {
      upstream.tools = [tool(`pay${round}`)];
      await done(processes[round % 2], 'POST', 'upstreams/bank/refresh');
      const proposalsAt = async (process) => (await done(process, 'GET', 'proposals')).json.proposals;
      let id;
      for (const process of processes) await eventually('proposed', async () => (id = (await proposalsAt(process)).find(({ name }) => name === `pay${round}`)?.id));
      const answers = await atOnce(processes.map((process, i) => [process, 'POST', `proposals/${id}/${i === 0 ? 'ratify' : 'reject'}`, { by: `operator ${i}` }]));
      const statuses = answers.map(({ status }) => status);
      assert.ok(statuses.includes(200), JSON.stringify(answers));
      // A process that knows of the ratification has nothing left to reject; a rejected proposal may still be ratified.
      const other = statuses.find((status) => status !== 200);
      assert.ok(other === undefined || other === 409 || other === 404, JSON.stringify(answers));
      outcomes[other ?? 'both'] = (outcomes[other ?? 'both'] ?? 0) + 1;
      const ratified = answers[0].status === 200;
      for (const process of processes) {
        await eventually('decided', async () => !(await proposalsAt(process)).some((proposal) => proposal.id === id));
        await eventually('served if it was ratified', async () => {
          const { json } = await done(process, 'GET', 'catalog/tools');
          return json.tools.some(({ name }) => name === `bank_pay${round}`) === ratified;
        });
      }
    }
    context.diagnostic(`${DECISIONS} proposals with two decisions each: ${JSON.stringify(outcomes)}`);
    await done(processes[1], 'DELETE', 'upstreams/bank');
  });

  test('REP-03 SES-22 register one tool of a session: nobody overwrites what they have not seen', async (context) => {
    await done(processes[0], 'POST', 'session/init', { session_id: 's', user_token: 'the-token-of-s', user_id: 7 });
    await settled();
    const outcomes = {};
    for (let round = 1; round <= ROUNDS; ++round) {
      const definitions = processes.map((_, i) => ({ name: 'fetch', description: `${round} by ${i}`, inputSchema: { type: 'object' }, url: 'http://127.0.0.1:9/fetch' }));
      const answers = await atOnce(processes.map((process, i) => [process, 'POST', 'tools/register', { session_id: 's', tools: [definitions[i]] }]));
      const statuses = answers.map(({ status }) => status).sort();
      assert.ok(statuses[0] === 200 && (statuses[1] === 200 || statuses[1] === 409), JSON.stringify(answers));
      outcomes[statuses] = (outcomes[statuses] ?? 0) + 1;
      await settled();
      const shown = [];
      for (const process of processes) shown.push((await done(process, 'GET', 'tools/list?session_id=s')).json.tools[0].description);
      assert.equal(shown[0], shown[1], `round ${round}`);
      assert.ok(answers.some(({ status }, i) => status === 200 && definitions[i].description === shown[0]), `round ${round}: ${shown[0]} was refused`);
    }
    context.diagnostic(`${ROUNDS} rounds: ${JSON.stringify(outcomes)}`);
    assert.ok(outcomes['200,409'] > 0, 'nobody was ever told');
    await done(processes[1], 'POST', 'session/cleanup', { session_id: 's' });
  });
});
