// Operators who change the same thing at once, at different processes (REP-03). PROTEUS_DRILL_WRITERS says how often; 1000 is the full drill.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { admin, done, startMember, tool } from './support/cluster.mjs';
import { seeded } from './support/ledger.mjs';
import { hasPostgres, startPostgres } from './support/postgres.mjs';
import { eventually } from './support/programs.mjs';
import { ScriptedUpstream } from './support/scripted_upstream.mjs';

const ROUNDS = Number(process.env.PROTEUS_DRILL_WRITERS ?? 100);
const DECISIONS = 20;
const SEED = Number(process.env.PROTEUS_DRILL_SEED ?? Date.now() % 2 ** 32);

describe('two operators at two processes', { skip: !hasPostgres && 'PostgreSQL 15 is not installed' }, () => {
  let postgres;
  let processes = [];
  let upstream;
  before(async () => {
    postgres = startPostgres();
    processes = [await startMember(postgres.dsn, 'one'), await startMember(postgres.dsn, 'two')];
    upstream = await ScriptedUpstream.start([tool('pay')]);
  });
  after(async () => {
    await upstream?.stop();
    for (const process of processes.reverse()) await process.stop();
    await postgres?.stop();
  });

  const random = seeded(SEED);
  /** Both at once, or one a little later: what each asks for, and what it gets. */
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
    await done(processes[0], 'POST', 'upstreams', { name: 'shop', url: upstream.url, enabled: false });
    // Each has a key of its own, so that one who overwrites the other is seen, and both have a key in common.
    const own = ['circuit_failures', 'max_consecutive_failures'];
    const what = ({ json }) => Object.fromEntries(['display_name', ...own].map((key) => [key, json[key]]));
    const counts = { accepted: 0, refused: 0, both: 0 };
    await settled();
    const expected = what(await done(processes[1], 'GET', 'upstreams/shop'));
    for (let round = 1; round <= ROUNDS; ++round) {
      const patches = processes.map((_, i) => ({ [own[i]]: 100 + round, display_name: `${round} by ${i}` }));
      const answers = await atOnce(processes.map((process, i) => [process, 'PATCH', 'upstreams/shop', patches[i]]));
      const accepted = [0, 1].filter((i) => answers[i].status === 200);
      const refused = [0, 1].filter((i) => answers[i].status === 409);
      assert.equal(accepted.length + refused.length, 2, `round ${round}: ${JSON.stringify(answers)}`);
      // All have applied what was written in the rounds before: whoever loses, loses to the other one of this round.
      assert.ok(accepted.length > 0, `round ${round}: both were refused: ${JSON.stringify(answers)}`);
      for (const i of refused) assert.match(answers[i].json.detail, /changed by somebody else/, `round ${round}`);
      counts.accepted += accepted.length;
      counts.refused += refused.length;
      for (const i of accepted) expected[own[i]] = patches[i][own[i]];
      if (accepted.length === 2) {
        counts.both += 1;
        // The second of two that were accepted had seen the first.
        const second = accepted.filter((i) => answers[i].json[own[1 - i]] === patches[1 - i][own[1 - i]]);
        assert.equal(second.length, 1, `round ${round}: ${JSON.stringify(answers.map(what))}`);
        expected.display_name = patches[second[0]].display_name;
      } else {
        expected.display_name = patches[accepted[0]].display_name;
      }
      await settled();
      for (const process of processes) assert.deepEqual(what(await done(process, 'GET', 'upstreams/shop')), expected, `round ${round}`);
    }
    context.diagnostic(`seed ${SEED}, ${ROUNDS} rounds: ${counts.accepted} changes accepted, ${counts.refused} refused with 409, both accepted in ${counts.both}`);
    // What the store has is what was acknowledged last, too: somebody who starts now reads it.
    const third = await startMember(postgres.dsn, 'third');
    assert.deepEqual(what(await done(third, 'GET', 'upstreams/shop')), expected);
    await third.stop();
    const { json } = await done(processes[1], 'GET', 'audit?limit=1000');
    if (counts.accepted < 1000) assert.equal(json.audit.filter((entry) => entry.what === 'upstream.patch').length, counts.accepted);
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
      // Where the other's decision is known already there is nothing left to reject, but somebody may ratify what was rejected.
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
