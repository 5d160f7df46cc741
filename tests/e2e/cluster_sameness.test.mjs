// Processes with different configurations say so, and harm nobody.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { makeFolder } from './support/children.mjs';
import { ask, done, PEPPER, startMember, tool, toolsOf } from './support/cluster.mjs';
import { hasPostgres, startPostgres } from './support/postgres.mjs';
import { eventually, program, root, stopAll } from './support/programs.mjs';
import { stopAfter } from './support/programs_of_suite.mjs';
import { ScriptedUpstream } from './support/scripted_upstream.mjs';

const ready = async (gateway) => (await fetch(new URL('/readyz', gateway.url))).json();
const differing = async (gateway) => Object.fromEntries((await done(gateway, 'GET', 'processes')).json.processes.filter(({ live }) => live).map(({ name, differs }) => [name, differs]));
const warnings = (gateway, name) => gateway.log().split('\n').filter((line) => new RegExp(`process ${name}-[0-9a-f]{8} has other `).test(line));

describe('processes that differ', { skip: !hasPostgres && 'PostgreSQL 15 is not installed' }, () => {
  let postgres;
  let upstream;
  before(async () => {
    postgres = await startPostgres();
    upstream = await ScriptedUpstream.start([tool('pay')]);
  });
  after(() => stopAll([postgres, upstream]));

  test('REP-01 in their configuration say so, in the log, at /readyz and in /admin/processes, until they are alike', async (context) => {
    const own = stopAfter(context);
    const contexts = { desk: { include: ['shop_*'] } };
    const one = own(await startMember(postgres.dsn, 'one', { contexts }));
    const two = own(await startMember(postgres.dsn, 'two', { contexts }));
    await done(one, 'POST', 'upstreams', { name: 'shop', url: upstream.url });
    // Addresses, names and numbers of threads may differ.
    for (const gateway of [one, two]) {
      await eventually('compared', async () => Object.keys(await differing(gateway)).length === 2);
      assert.deepEqual(await differing(gateway), { one: [], two: [] });
      assert.deepEqual(await ready(gateway), { status: 'ready', store: 'there', configuration: 'same', mappings: 'same' });
      assert.equal(gateway.log().includes(' has other '), false);
    }
    // Differs in one key of a context.
    two.reconfigure({ contexts: { desk: { include: ['shop_*'], instructions: 'Ask first.' } } });
    for (const [gateway, other] of [[one, 'two'], [two, 'one']]) {
      await eventually('noticed', async () => (await ready(gateway)).configuration === 'differs');
      assert.equal((await ready(gateway)).mappings, 'same');
      assert.equal((await ready(gateway)).status, 'ready');
      assert.deepEqual((await differing(gateway))[other], ['configuration']);
      assert.equal(warnings(gateway, other).length, 1, gateway.log());
      assert.match(warnings(gateway, other)[0], /configuration/);
      // Callers are unaffected.
      assert.deepEqual(await toolsOf(gateway), ['shop_pay']);
      assert.equal((await ask(gateway, 'tools/call', { name: 'shop_pay', arguments: {} })).result.content[0].text, 'ran pay');
    }
    assert.match((await done(two, 'PATCH', 'upstreams/shop', { display_name: 'Shop' })).applied, /^[12]\/2$/);
    one.reconfigure({ contexts: { desk: { include: ['shop_*'], instructions: 'Ask first.' } } });
    for (const gateway of [one, two]) await eventually('alike again', async () => (await ready(gateway)).configuration === 'same');
    assert.match(one.log(), /process two-[0-9a-f]{8} no longer differs from this one/);
    await done(two, 'DELETE', 'upstreams/shop');
  });

  test('REP-01 DAT-02 in their mappings say so, and one that lacks a file withdraws it for nobody else', async (context) => {
    const own = stopAfter(context);
    const folder = makeFolder();
    const quickstart = join(root, 'examples/quickstart');
    const database = join(folder, 'company.db');
    execFileSync('python3', [join(quickstart, 'company.py'), '--out', database]);
    const at = (name) => ({ ACME_DSN: `sqlite://${database}`, PROTEUS_PEPPER: PEPPER, PROTEUS_MAPPINGS: join(folder, name) });
    const ratify = ['dataset', 'ratify', join(quickstart, 'acme.toml'), '--by', 'owner', '--ontology', join(quickstart, 'ontology.toml')];
    execFileSync(program('proteus'), ratify, { env: { ...process.env, ...at('complete') }, stdio: 'ignore' });
    mkdirSync(join(folder, 'lacking'));
    const complete = own(await startMember(postgres.dsn, 'complete', { env: at('complete') }));
    const lacking = own(await startMember(postgres.dsn, 'lacking', { env: at('lacking') }));
    const serves = async (gateway) => (await toolsOf(gateway)).includes('workup_acme');
    await done(complete, 'POST', 'datasets/acme/connect');
    for (const gateway of [complete, lacking]) await eventually('noticed', async () => (await ready(gateway)).mappings === 'differs');
    assert.deepEqual(await differing(complete), { complete: [], lacking: ['mappings'] });
    assert.match(warnings(lacking, 'complete')[0], /mappings/);
    assert.deepEqual([await serves(complete), await serves(lacking)], [true, false]);
    // The process gets the files.
    cpSync(join(folder, 'complete'), join(folder, 'lacking'), { recursive: true });
    await eventually('served at both', () => serves(lacking));
    for (const gateway of [complete, lacking]) await eventually('alike', async () => (await ready(gateway)).mappings === 'same');
    // It loses the files again, and another process starts without them.
    rmSync(join(folder, 'lacking'), { recursive: true });
    await eventually('withdrawn there', async () => !(await serves(lacking)));
    await eventually('noticed again', async () => (await ready(complete)).mappings === 'differs');
    await lacking.stop();
    const anew = own(await startMember(postgres.dsn, 'anew', { env: at('lacking') }));
    await eventually('noticed by the new one', async () => (await ready(anew)).mappings === 'differs');
    await anew.stop();
    assert.ok(await serves(complete));
    const found = await ask(complete, 'tools/call', { name: 'workup_acme', arguments: { entity: 'Amber Anchor' } });
    assert.equal(found.result.structuredContent.status, 'found');
  });
});
