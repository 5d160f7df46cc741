// Several processes that share a PostgreSQL serve as one (REP).
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { makeFolder } from './support/children.mjs';
import { CLIENTS, Session } from './support/clients.mjs';
import { admin, ask, done, doneEverywhere, PEPPER, startMember, tool, toolsOf } from './support/cluster.mjs';
import { hasPostgres, startPostgres } from './support/postgres.mjs';
import { eventually, program, root, stopAll } from './support/programs.mjs';
import { stopAfter } from './support/programs_of_suite.mjs';
import { ScriptedUpstream } from './support/scripted_upstream.mjs';
import { startBackend } from './support/sessions.mjs';

describe('two processes', { skip: !hasPostgres && 'PostgreSQL 15 is not installed' }, () => {
  let postgres;
  let one;
  let two;
  const start = (name, more) => startMember(postgres.dsn, name, more);
  const both = (what, holds) => eventually(what, async () => (await holds(one)) && (await holds(two)));

  before(async () => {
    postgres = await startPostgres();
    one = await start('one');
    two = await start('two');
  });
  after(() => stopAll([postgres, one, two]));

  test('REP-01 REP-17 know each other', async () => {
    const { json } = await done(two, 'GET', 'processes');
    assert.deepEqual(json.processes.map(({ name, live }) => [name, live]).sort(), [['one', true], ['two', true]]);
    assert.equal(new Set(json.processes.map(({ configuration }) => configuration)).size, 1);
    assert.match(await (await fetch(new URL('/metrics', one.url))).text(), /^proteus_cluster_behind_seconds \d/m);
    assert.deepEqual(json.processes.filter(({ self }) => self).map(({ name }) => name), ['two']);
  });

  for (const client of CLIENTS) {
    test(`REP-02 serve and announce what is registered at the other: ${client.name}`, async (context) => {
      const own = stopAfter(context);
      const upstream = own(await ScriptedUpstream.start([tool('pay')]));
      const session = own(await Session.open(client, { url: two.url }));
      const announced = session.notifications('notifications/tools/list_changed');
      await session.listenForChanges();
      assert.match((await doneEverywhere(one, 'POST', 'upstreams', { name: 'shop', url: upstream.url })).applied, /^[12]\/2$/);
      await announced.next();
      await both('listed', async (gateway) => (await toolsOf(gateway)).includes('shop_pay'));
      assert.equal((await ask(two, 'tools/call', { name: 'shop_pay', arguments: {} })).result.content[0].text, 'ran pay');
      await doneEverywhere(two, 'DELETE', 'upstreams/shop');
      assert.deepEqual(await toolsOf(one), []);
    });
  }

  test('REP-03 lose no update to each other, and say which one lost', async (context) => {
    const own = stopAfter(context);
    const upstream = own(await ScriptedUpstream.start([tool('pay')]));
    await done(one, 'POST', 'upstreams', { name: 'shop', url: upstream.url, enabled: false });
    const kept = {};
    for (let round = 1; round <= 20; ++round) {
      const changes = [
        [one, 'display_name', `Shop ${round}`],
        [two, 'call_timeout', `${round}s`]
      ];
      const answers = await Promise.all(changes.map(([gateway, key, value]) => admin(gateway, 'PATCH', 'upstreams/shop', { [key]: value })));
      answers.forEach(({ status, json }, i) => {
        assert.ok(status === 200 || status === 409, JSON.stringify(json));
        if (status === 200) kept[changes[i][1]] = changes[i][2];
        else assert.match(json.detail, /changed by somebody else/);
      });
      // The process that wrote last knows the newest state.
      assert.ok(answers.some(({ status }) => status === 200), `round ${round}: both were refused`);
    }
    assert.deepEqual(Object.keys(kept).sort(), ['call_timeout', 'display_name']);
    for (const gateway of [one, two]) {
      await eventually('the same at both', async () => {
        const { json } = await done(gateway, 'GET', 'upstreams/shop');
        return Object.entries(kept).every(([key, value]) => json[key] === value);
      });
    }
    await done(two, 'DELETE', 'upstreams/shop');
    const names = await Promise.all([one, two].map((gateway) => admin(gateway, 'POST', 'upstreams', { name: 'twice', url: upstream.url, enabled: false })));
    assert.deepEqual(names.map(({ status }) => status).sort(), [201, 409]);
    await eventually('gone', async () => (await admin(one, 'DELETE', 'upstreams/twice')).status < 300);
  });

  test('REP-02 OAU-14 know the tokens that the other made, and not those it revoked', async () => {
    const { json } = await doneEverywhere(one, 'POST', 'tokens', { name: 'agent' });
    assert.equal((await ask(two, 'tools/list', {}, json.token)).status, 200);
    const rotated = await doneEverywhere(two, 'POST', 'tokens/agent/rotate', { overlap: '0s' });
    assert.equal((await ask(one, 'tools/list', {}, json.token)).status, 401);
    assert.equal((await ask(one, 'tools/list', {}, rotated.json.token)).status, 200);
    await doneEverywhere(two, 'DELETE', 'tokens/agent');
    assert.equal((await ask(one, 'tools/list', {}, rotated.json.token)).status, 401);
  });

  test('REP-02 SES-22 serve the tool sessions of the other, and their tools', async (context) => {
    const own = stopAfter(context);
    const backend = own(await startBackend());
    await doneEverywhere(one, 'POST', 'session/init', { session_id: 's', user_token: 'token-of-the-session', user_id: 7, catalog: 'session' });
    const definition = { name: 'fetch', description: 'Fetches.', inputSchema: { type: 'object' }, url: backend.url() };
    await doneEverywhere(two, 'POST', 'tools/register', { session_id: 's', tools: [definition] });
    assert.deepEqual(await toolsOf(one, 'token-of-the-session'), ['fetch']);
    await doneEverywhere(two, 'POST', 'session/cleanup', { session_id: 's' });
    assert.equal((await ask(one, 'tools/list', {}, 'token-of-the-session')).status, 401);
  });

  test('REP-04 PIN-03 PIN-05 propose and ratify at either, whoever watches the upstream', async (context) => {
    const own = stopAfter(context);
    const upstream = own(await ScriptedUpstream.start([tool('pay')]));
    await done(one, 'POST', 'upstreams', { name: 'bank', url: upstream.url, trust: 'pin' });
    const call = (gateway) => ask(gateway, 'tools/call', { name: 'bank_pay', arguments: {} });
    const ratifyAt = async (gateway) => {
      await both('proposed at both', async (each) => (await done(each, 'GET', 'proposals')).json.proposals.length === 1);
      const [{ id }] = (await done(gateway, 'GET', 'proposals')).json.proposals;
      await done(gateway, 'POST', `proposals/${id}/ratify`, { by: 'an operator' });
      await both('decided at both', async (each) => (await done(each, 'GET', 'proposals')).json.proposals.length === 0);
    };
    await ratifyAt(two);
    await both('served at both', async (each) => (await toolsOf(each)).includes('bank_pay'));
    // Callers that know the old schema would send wrong arguments, so the tool is blocked everywhere.
    upstream.tools = [tool('pay', 'number')];
    await done(one, 'POST', 'upstreams/bank/refresh');
    await both('blocked at both', async (each) => (await call(each)).result?.content?.[0].text !== 'ran pay');
    upstream.called.length = 0;
    for (const gateway of [one, two]) await call(gateway);
    assert.deepEqual(upstream.called, []);
    await ratifyAt(one);
    await both('called again', async (each) => (await call(each)).result?.content?.[0].text === 'ran pay');
    await done(two, 'DELETE', 'upstreams/bank');
  });

  test('REP-04 read an upstream by one of them, and by the other when that one dies', async (context) => {
    const own = stopAfter(context);
    const upstreams = [];
    for (let i = 0; i < 4; ++i) upstreams.push(own(await ScriptedUpstream.start([tool(`tool${i}`)])));
    const third = own(await start('third'));
    for (const [i, { url }] of upstreams.entries()) await done(third, 'POST', 'upstreams', { name: `up${i}`, url, auto_refresh: true, refresh_interval: '200ms' });
    await eventually('shared out', async () => {
      const { processes } = (await done(one, 'GET', 'processes')).json;
      return processes.filter(({ live }) => live).every(({ watches }) => watches >= 1 && watches <= 2);
    });
    await third.kill();
    upstreams.forEach((upstream, i) => (upstream.tools = [tool(`tool${i}`), tool(`more${i}`)]));
    await both('taken over', async (gateway) => (await toolsOf(gateway)).filter((name) => name.includes('more')).length === 4);
    for (let i = 0; i < 4; ++i) await done(two, 'DELETE', `upstreams/up${i}`);
  });

  test('REP-01 REP-02 DAT-02 connect datasets for all, and withdraw them for nobody else', async (context) => {
    const own = stopAfter(context);
    const folder = makeFolder();
    const quickstart = join(root, 'examples/quickstart');
    const database = join(folder, 'company.db');
    execFileSync('python3', [join(quickstart, 'company.py'), '--out', database]);
    const env = { ACME_DSN: `sqlite://${database}`, PROTEUS_PEPPER: PEPPER };
    const at = (name) => ({ ...env, PROTEUS_MAPPINGS: join(folder, name) });
    const args = ['dataset', 'ratify', join(quickstart, 'acme.toml'), '--by', 'owner', '--ontology', join(quickstart, 'ontology.toml')];
    execFileSync(program('proteus'), args, { env: { ...process.env, ...at('a') }, stdio: 'ignore' });
    cpSync(join(folder, 'a'), join(folder, 'b'), { recursive: true });
    const left = own(await start('left', { env: at('a') }));
    const right = own(await start('right', { env: at('b') }));
    const without = own(await start('without', { env: at('nothing') }));
    const connected = await ask(left, 'tools/call', { name: 'connect_dataset', arguments: { name: 'acme' } });
    assert.equal(connected.result.structuredContent.tool, 'workup_acme', JSON.stringify(connected));
    await eventually('connected at both', async () => (await toolsOf(left)).includes('workup_acme') && (await toolsOf(right)).includes('workup_acme'));
    assert.ok(!(await toolsOf(without)).includes('workup_acme'));
    const found = await ask(right, 'tools/call', { name: 'workup_acme', arguments: { entity: 'Amber Anchor' } });
    assert.equal(found.result.structuredContent.status, 'found');
    // A process without the file changes nothing for the others, not even when it stops.
    await without.stop();
    assert.ok((await toolsOf(right)).includes('workup_acme'));
    await done(right, 'POST', 'datasets/acme/disconnect');
    await eventually('disconnected at both', async () => !(await toolsOf(left)).includes('workup_acme') && !(await toolsOf(right)).includes('workup_acme'));
  });

  test('REP-05 go on with a list that the other began', async (context) => {
    const own = stopAfter(context);
    const upstream = own(await ScriptedUpstream.start(['a', 'b', 'c'].map((name) => tool(name))));
    const small = { server: { page_size: 1 } };
    const left = own(await start('left', small));
    const right = own(await start('right', small));
    // An upstream that was added and removed before a process started leaves no trace there.
    await done(left, 'POST', 'upstreams', { name: 'gone', url: upstream.url });
    await done(left, 'POST', 'upstreams', { name: 'shop', url: upstream.url });
    await done(left, 'DELETE', 'upstreams/gone');
    const last = own(await start('last', small));
    await eventually('listed', async () => (await toolsOf(last)).length === 1 && (await toolsOf(right)).length === 1);
    const names = [];
    let cursor;
    for (const gateway of [left, last, right]) {
      const { result } = await ask(gateway, 'tools/list', cursor ? { cursor } : {});
      names.push(...result.tools.map(({ name }) => name));
      cursor = result.nextCursor;
    }
    assert.deepEqual(names, ['shop_a', 'shop_b', 'shop_c']);
    await done(last, 'DELETE', 'upstreams/shop');
  });

  test('REP-06 go on without PostgreSQL, and heal by themselves', async (context) => {
    const own = stopAfter(context);
    const upstream = own(await ScriptedUpstream.start([tool('pay')]));
    await done(one, 'POST', 'upstreams', { name: 'shop', url: upstream.url });
    await both('listed', async (gateway) => (await toolsOf(gateway)).includes('shop_pay'));
    await postgres.halt();
    for (const gateway of [one, two]) {
      assert.deepEqual(await toolsOf(gateway), ['shop_pay']);
      assert.equal((await ask(gateway, 'tools/call', { name: 'shop_pay', arguments: {} })).result.content[0].text, 'ran pay');
      const refused = await admin(gateway, 'POST', 'upstreams', { name: 'more', url: upstream.url });
      assert.equal(refused.status, 503, JSON.stringify(refused.json));
      assert.equal((await fetch(new URL('/readyz', gateway.url))).status, 200);
    }
    await eventually('known to be away', async () => (await (await fetch(new URL('/readyz', one.url))).json()).store === 'away');
    await postgres.resume();
    await eventually('healed', async () => (await admin(two, 'POST', 'upstreams', { name: 'more', url: upstream.url })).status === 201);
    await both('listed again', async (gateway) => (await toolsOf(gateway)).includes('more_pay'));
    await both('known again', async (gateway) => (await admin(gateway, 'GET', 'upstreams/more')).status === 200);
    await eventually('healed at the other, too', async () => (await admin(one, 'DELETE', 'upstreams/more')).status < 300);
    await done(one, 'DELETE', 'upstreams/shop');
  });
});
