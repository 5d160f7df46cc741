// Tool sessions that are changed through several processes at once.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { admin, done, doneEverywhere, startMember, toolsOf } from './support/cluster.mjs';
import { hasPostgres, startPostgres } from './support/postgres.mjs';
import { eventually, stopAll } from './support/programs.mjs';
import { startBackend } from './support/sessions.mjs';

const ROUNDS = 15;

describe('one tool session at two processes', { skip: !hasPostgres && 'PostgreSQL 15 is not installed' }, () => {
  let postgres;
  const gateways = [];
  let backend;
  before(async () => {
    postgres = await startPostgres();
    backend = await startBackend();
    for (const name of ['one', 'two']) gateways.push(await startMember(postgres.dsn, name));
  });
  after(() => stopAll([postgres, backend, ...gateways]));

  const definition = (name) => ({ name, description: 'Fetches.', inputSchema: { type: 'object' }, url: backend.url() });
  /** Retries until the request is accepted: of two that conflict, one gets 409. */
  const insist = async (gateway, path, body) => {
    for (;;) {
      const answer = await admin(gateway, 'POST', path, body);
      if (answer.status === 200 || answer.status === 201) return answer;
      assert.equal(answer.status, 409, JSON.stringify(answer.json));
    }
  };

  test('REP-02 SES-22 tools that both register at once are served by both, none is lost, none comes back', async () => {
    await done(gateways[0], 'POST', 'session/init', { session_id: 's', user_token: 'token-of-the-session', user_id: 7, catalog: 'session' });
    const wanted = new Set();
    for (let round = 0; round < ROUNDS; ++round) {
      await Promise.all(gateways.map((gateway, i) => insist(gateway, 'tools/register', { session_id: 's', tools: [definition(`tool_${i}_${round}`)] })));
      wanted.add(`tool_0_${round}`).add(`tool_1_${round}`);
      // Also removes a tool that the other process registered.
      if (round % 3 === 2) {
        await insist(gateways[0], 'tools/unregister', { session_id: 's', name: `tool_1_${round}` });
        wanted.delete(`tool_1_${round}`);
      }
    }
    for (const gateway of gateways) {
      await eventually('the same at both', async () => {
        const names = await toolsOf(gateway, 'token-of-the-session');
        return names.length === wanted.size && names.every((name) => wanted.has(name));
      });
    }
    await doneEverywhere(gateways[1], 'POST', 'session/cleanup', { session_id: 's' });
    for (const gateway of gateways) assert.deepEqual(await toolsOf(gateway, 'token-of-the-session'), []);
  });

  test('REP-02 sessions that are registered by many at once are there when their registration is answered', async () => {
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) => insist(gateways[i % 2], 'tools/register', { session_id: `many-${i}`, user_token: `token-of-many-${i}`, user_id: i, tools: [definition('fetch')] }))
    );
    for (const [i, { applied }] of answers.entries()) {
      if (applied !== '2/2') continue;
      assert.ok((await toolsOf(gateways[(i + 1) % 2], `token-of-many-${i}`)).includes('fetch'), `session ${i}`);
    }
    assert.ok(answers.some(({ applied }) => applied === '2/2'));
  });
});
