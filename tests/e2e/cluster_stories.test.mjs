// What agents do with a gateway, with each request at another process (REP-09, REP-11).
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { ALL_TOOLS, Customer, OPEN_TOOLS, withCustomers } from './support/bank.mjs';
import { makeFolder } from './support/children.mjs';
import { CLIENTS, Session, textOf } from './support/clients.mjs';
import { done, PEPPER } from './support/cluster.mjs';
import { knowsPeers, startPeer } from './support/peers.mjs';
import { hasPostgres, startPostgres } from './support/postgres.mjs';
import { eventually, program, root, startServer } from './support/programs.mjs';
import { runningPrograms, stopAfter } from './support/programs_of_suite.mjs';
import { startRoundRobin } from './support/round_robin.mjs';
import { queryTool, startBackend } from './support/sessions.mjs';

const CHANGED = 'notifications/tools/list_changed';
const USERS = ['alice', 'bob'];
const QUICKSTART = join(root, 'examples/quickstart');

describe('three processes', { skip: !hasPostgres && 'PostgreSQL 15 is not installed' }, () => {
  let processes;
  let balancer;
  let backend;
  runningPrograms(async (programs) => {
    const started = (one) => (programs.push(one), one);
    const postgres = started(await startPostgres());
    const folder = makeFolder();
    const mappings = { PROTEUS_MAPPINGS: join(folder, 'mappings'), ACME_DSN: `sqlite://${join(folder, 'company.db')}`, PROTEUS_PEPPER: PEPPER };
    execFileSync('python3', [join(QUICKSTART, 'company.py'), '--out', join(folder, 'company.db')]);
    const ratify = ['dataset', 'ratify', join(QUICKSTART, 'acme.toml'), '--by', 'owner', '--ontology', join(QUICKSTART, 'ontology.toml')];
    execFileSync(program('proteus'), ratify, { env: { ...process.env, ...mappings }, stdio: 'ignore' });
    backend = started(await startBackend());
    const bankTokens = USERS.map((user) => `${user}=at-the-bank-${user}`).join(',');
    const bank = started(await startServer('bank-server', ['--port', '0', '--era', 'modern'], { env: { BANK_TOKENS: bankTokens } }));
    const everything = started(await startServer('everything-server', ['--port', '0']));
    const settings = {
      tokens: [...USERS.map((user) => ({ name: user, token_env: `GATEWAY_${user}`, upstreams: [`bank_${user}`] })), { name: 'agent', token_env: 'GATEWAY_agent' }],
      upstreams: [
        ...USERS.map((user) => ({ name: `bank_${user}`, url: bank.url, prefix: '', refresh_strategy: 'direct_proxy', authentication: { type: 'bearer', token_env: `BANK_${user}` } })),
        { name: 'all', url: everything.url }
      ],
      contexts: { work: { display_name: 'Work', tool_supplements: { all_test_simple_text: 'For work only.' } } },
      env: { ...mappings, GATEWAY_agent: 'of-the-agent', ...Object.fromEntries(USERS.flatMap((user) => [[`GATEWAY_${user}`, `at-the-gateway-${user}`], [`BANK_${user}`, `at-the-bank-${user}`]])) }
    };
    processes = [];
    for (const name of ['one', 'two', 'three']) processes.push(started(await startPeer(postgres, name, settings)));
    for (const each of processes) await knowsPeers(each, 3);
    balancer = started(await startRoundRobin(processes.map(({ url }) => url)));
  });

  for (const [index, client] of CLIENTS.entries()) {
    test(`REP-09 PRX-05 PRX-06 ${client.name}: a customer of the bank enters a PIN, and sees the tools of the account`, async () => {
      const enter = (user) => Customer.enter(client, { url: balancer.url, token: `at-the-gateway-${user}` });
      await withCustomers([enter('alice'), enter('bob')], async (alice, bob) => {
        const heard = alice.session.notifications(CHANGED);
        await alice.session.listenForChanges();
        for (const customer of [alice, bob]) assert.deepEqual(await customer.tools(), OPEN_TOOLS);
        assert.equal((await alice.enterPin())._meta.refresh_capabilities, true);
        for (let i = 0; i < 3; ++i) assert.deepEqual(await alice.tools(), ALL_TOOLS);
        assert.deepEqual(await bob.tools(), OPEN_TOOLS);
        assert.equal((await alice.balance()).customer, 'alice');
        if (client.era === 'legacy') await heard.next();
        await alice.call('sign_out');
        for (const customer of [alice, bob]) assert.deepEqual(await customer.tools(), OPEN_TOOLS);
      });
    });

    test(`REP-11 SES-11 SES-12 ${client.name}: the user of a tool session is asked before a destructive tool runs once`, async (context) => {
      const own = stopAfter(context);
      const tool = queryTool('drop_table', backend.url('/drop'), { annotations: { destructiveHint: true } });
      const token = `token-of-session-${index}`;
      await done(processes[0], 'POST', 'session/init', { session_id: token, user_token: token, user_id: 3, catalog: 'session' });
      await done(processes[1], 'POST', 'tools/register', { session_id: token, tools: [tool] });
      const session = own(await Session.open(client, { url: balancer.url, token }));
      const drops = () => backend.asked.filter(({ path }) => path === '/drop').length;
      const before = drops();
      const answers = [{ action: 'accept', content: { confirmed: true } }, { action: 'decline' }, { action: 'accept', content: { confirmed: true } }];
      let asked = 0;
      session.answer('elicitation/create', () => answers[asked++]);
      assert.equal((await session.call('drop_table', { query: 'first' })).structuredContent.query, 'first');
      assert.equal(textOf(await session.call('drop_table', { query: 'second' })), 'Command execution cancelled by user.');
      assert.equal((await session.call('drop_table', { query: 'third' })).structuredContent.query, 'third');
      assert.deepEqual([drops() - before, asked], [2, 3]);
      await done(processes[2], 'POST', 'session/cleanup', { session_id: token });
    });

    test(`REP-09 DAT-02 ${client.name}: a dataset is connected, and read`, async (context) => {
      const own = stopAfter(context);
      const session = own(await Session.open(client, { url: balancer.url, token: 'of-the-agent' }));
      await session.call('connect_dataset', { name: 'acme' });
      await eventually('connected everywhere', async () => (await session.toolNames()).includes('workup_acme'));
      for (let i = 0; i < 3; ++i) assert.equal((await session.call('workup_acme', { entity: 'Amber Anchor' })).structuredContent.status, 'found');
    });

    test(`REP-09 ${client.name}: a context is the same at every process, and a session belongs to it`, async (context) => {
      const own = stopAfter(context);
      const session = own(await Session.open(client, { url: `${balancer.url}/work`, token: 'of-the-agent' }));
      for (let i = 0; i < 3; ++i) {
        const { tools } = await session.client.listTools();
        assert.match(tools.find(({ name }) => name === 'all_test_simple_text').description, /For work only\./);
      }
      if (client.era === 'legacy') {
        for (const { url } of processes) {
          const elsewhere = await fetch(url, { method: 'DELETE', headers: { authorization: 'Bearer of-the-agent', 'mcp-session-id': session.transport.sessionId } });
          assert.equal(elsewhere.status, 404);
        }
      }
    });
  }
});
