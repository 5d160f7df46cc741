// Processes that cannot reach PostgreSQL, or are frozen, for a while: what they must not do, and what the others do.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { admin, ask, done, startMember, tool, toolsOf } from './support/cluster.mjs';
import { hasPostgres, startPostgres } from './support/postgres.mjs';
import { PostgresProxy } from './support/postgres_proxy.mjs';
import { eventually, stopAll } from './support/programs.mjs';
import { stopAfter } from './support/programs_of_suite.mjs';
import { ScriptedUpstream } from './support/scripted_upstream.mjs';

const BLIND = process.env.PROTEUS_DRILL_BLIND === '1';  // a test that takes a minute

/** Answers a list with the tools at the time of the request. If `held`, delays the next answer until `release`. */
class HeldUpstream extends ScriptedUpstream {
  held = false;
  waiting = [];

  async receive(request, response) {
    let body = '';
    for await (const piece of request) body += piece;
    const message = JSON.parse(body || '{}');
    const answer = this.answer(message);
    if (this.held && message.method === 'tools/list') {
      this.held = false;
      await new Promise((release) => this.waiting.push(release));
    }
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id ?? null, ...answer }));
  }

  release() {
    for (const answer of this.waiting.splice(0)) answer();
  }
}

describe('a process apart', { skip: !hasPostgres && 'PostgreSQL 15 is not installed' }, () => {
  let postgres;
  let network;
  let one;  // reaches PostgreSQL through `network`
  let two;
  before(async () => {
    postgres = await startPostgres();
    network = await PostgresProxy.start(postgres.socket);
    one = await startMember(network.dsn(), 'one');
    two = await startMember(postgres.dsn, 'two');
  });
  after(() => {
    network?.heal();
    return stopAll([postgres, network, one, two]);
  });

  const both = (what, holds) => eventually(what, async () => (await holds(one)) && (await holds(two)), 30_000);
  const settled = () => both('all have applied everything', async (gateway) => (await done(gateway, 'GET', 'processes')).json.processes.every(({ live, behind }) => !live || behind === 0));
  const statusOf = async (gateway, token) => (await ask(gateway, 'tools/list', {}, token)).status;

  test('REP-06 REP-04 refuses changes, and its upstreams are taken over', async (context) => {
    const own = stopAfter(context);
    const upstreams = [];
    for (let i = 0; i < 4; ++i) upstreams.push(own(await ScriptedUpstream.start([tool(`tool${i}`)])));
    for (const [i, { url }] of upstreams.entries()) await done(two, 'POST', 'upstreams', { name: `up${i}`, url, auto_refresh: true, refresh_interval: '200ms' });
    await eventually('shared out', async () => (await done(two, 'GET', 'processes')).json.processes.every(({ live, watches }) => !live || watches === 2));
    network.cut();
    const refused = await admin(one, 'POST', 'upstreams', { name: 'more', url: upstreams[0].url });
    assert.equal(refused.status, 503, JSON.stringify(refused.json));
    assert.equal((await ask(one, 'tools/call', { name: 'up0_tool0', arguments: {} })).result.content[0].text, 'ran tool0');
    await eventually('taken over', async () => (await done(two, 'GET', 'processes')).json.processes.some(({ name, watches }) => name === 'two' && watches === 4), 30_000);
    // Only the other process can store these changes.
    upstreams.forEach((upstream, i) => (upstream.tools = [tool(`more${i}`)]));
    await eventually('read by the other', async () => (await toolsOf(two)).filter((name) => name.includes('more')).length === 4);
    network.heal();
    await both('the same at both', async (gateway) => (await toolsOf(gateway)).filter((name) => name.includes('more')).length === 4);
    // The process reads PostgreSQL again, and will soon write.
    await eventually('written', async () => (await admin(one, 'POST', 'upstreams', { name: 'more', url: upstreams[0].url })).status === 201);
    for (const name of ['more', 'up0', 'up1', 'up2', 'up3']) await done(two, 'DELETE', `upstreams/${name}`);
  });

  test('REP-03 REP-06 takes away what it was told to, and nothing that another made of that name since', async () => {
    const session = (gateway, token) => done(gateway, 'POST', 'session/init', { session_id: 's', user_token: token, user_id: 7 });
    const first = (await done(one, 'POST', 'tokens', { name: 'agent' })).json.token;
    await session(one, 'the-first-token');
    await settled();
    network.cut();
    assert.equal((await done(one, 'DELETE', 'tokens/agent')).json.durable, false);
    assert.equal((await done(one, 'POST', 'session/cleanup', { session_id: 's' })).json.durable, false);
    assert.deepEqual([await statusOf(one, first), await statusOf(one, 'the-first-token')], [401, 401]);
    // Meanwhile an operator does the same at the other process, and makes new ones.
    await done(two, 'DELETE', 'tokens/agent');
    await done(two, 'POST', 'session/cleanup', { session_id: 's' });
    const second = (await done(two, 'POST', 'tokens', { name: 'agent' })).json.token;
    await session(two, 'the-second-token');
    network.heal();
    await eventually('what waited is written', () => ['the token agent was revoked', 'the removal of session s'].every((what) => one.log().includes(`the store has recorded that ${what}`) || one.log().includes(`the store has recorded ${what}`)), 30_000);
    await settled();
    for (const gateway of [one, two]) {
      assert.deepEqual([await statusOf(gateway, first), await statusOf(gateway, 'the-first-token')], [401, 401], 'what was taken away');
      assert.deepEqual([await statusOf(gateway, second), await statusOf(gateway, 'the-second-token')], [200, 200], 'what was made since');
    }
    await done(one, 'DELETE', 'tokens/agent');
    await done(one, 'POST', 'session/cleanup', { session_id: 's' });
  });

  test('REP-04 that stood still for longer than its lease stores nothing when it wakes', async (context) => {
    const own = stopAfter(context);
    const upstream = own(await HeldUpstream.start([tool('first')]));
    await done(one, 'POST', 'upstreams', { name: 'shop', url: upstream.url, auto_refresh: true, refresh_interval: '200ms' });
    await both('listed', async (gateway) => (await toolsOf(gateway)).includes('shop_first'));
    const watches = async (gateway) => (await done(gateway, 'GET', 'upstreams/shop')).json.watch !== 'elsewhere';
    const [owner, other] = (await watches(one)) ? [one, two] : [two, one];
    // The owner has requested the list, and is answered while it is frozen.
    upstream.tools = [tool('second')];
    upstream.held = true;
    await eventually('asked', () => upstream.waiting.length > 0);
    await owner.freeze();
    try {
      upstream.release();
      upstream.tools = [tool('third')];
      await eventually('taken over', async () => (await toolsOf(other)).includes('shop_third'), 30_000);
    } finally {
      owner.signal('SIGCONT');
    }
    await both('the newest at both', async (gateway) => (await toolsOf(gateway)).includes('shop_third'));
    const stored = () => postgres.query(`SELECT convert_from(entries, 'UTF8') FROM proteus.snapshots WHERE upstream = 'shop' AND kind = 'tools'`);
    await eventually('stored', () => stored().includes('third'), 30_000);
    await settled();
    assert.match(stored(), /third/);
    await done(other, 'DELETE', 'upstreams/shop');
  });

  test('REP-04 that lost a lease and got it back stores nothing that it read before', async (context) => {
    const own = stopAfter(context);
    const upstream = own(await HeldUpstream.start([tool('first')]));
    postgres.query(`
      CREATE TABLE public.stored (number bigserial, entries text);
      CREATE FUNCTION public.note_stored() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO public.stored (entries) SELECT convert_from(NEW.entries, 'UTF8') WHERE NEW.kind = 'tools';
        RETURN NEW;
      END $$;
      CREATE TRIGGER note_stored AFTER INSERT OR UPDATE ON proteus.snapshots FOR EACH ROW EXECUTE FUNCTION public.note_stored();`);
    await done(one, 'POST', 'upstreams', { name: 'shop', url: upstream.url, auto_refresh: true, refresh_interval: '200ms' });
    await done(one, 'POST', 'upstreams/shop/refresh');
    await both('listed', async (gateway) => (await toolsOf(gateway)).includes('shop_first'));
    const ownerIs = (name) => postgres.query(`SELECT convert_from(owner, 'UTF8') FROM proteus.leases WHERE name = 'upstream shop'`).startsWith(`${name}-`);
    await eventually('read by the first', () => ownerIs('one'));
    upstream.tools = [tool('second')];
    upstream.held = true;
    await eventually('asked', () => upstream.waiting.length > 0);
    // The answer is delayed. Meanwhile an operator refreshes at the other process, and then at this one.
    upstream.tools = [tool('third')];
    await done(two, 'POST', 'upstreams/shop/refresh');
    await eventually('stored by the other', () => postgres.query('SELECT entries FROM public.stored ORDER BY number DESC LIMIT 1').includes('third'));
    const wanted = done(one, 'POST', 'upstreams/shop/refresh');
    await eventually('taken back', () => ownerIs('one'));
    upstream.release();
    await wanted;
    await both('the newest at both', async (gateway) => (await toolsOf(gateway)).includes('shop_third'));
    await settled();
    const stored = postgres.query('SELECT entries FROM public.stored ORDER BY number').split('\n').map((entries) => /first|second|third/.exec(entries)?.[0]);
    assert.ok(!stored.includes('second'), `${stored}`);
    assert.equal(stored.at(-1), 'third');
    await done(two, 'DELETE', 'upstreams/shop');
  });

  test('REP-17 lets its share of a limit pass', async () => {
    const PER_MINUTE = 60;
    const { token } = (await done(one, 'POST', 'tokens', { name: 'limited', requests_per_minute: PER_MINUTE })).json;
    const passed = async (gateway) => {
      const statuses = await Promise.all(Array.from({ length: 2 * PER_MINUTE }, () => statusOf(gateway, token)));
      return statuses.filter((status) => status === 200).length;
    };
    const counts = [await passed(one), await passed(two)];
    // The limit refills a little while the requests run.
    for (const count of counts) assert.ok(count >= PER_MINUTE / 2 && count < PER_MINUTE / 2 + 10, `${counts} of ${PER_MINUTE}`);
    await done(one, 'DELETE', 'tokens/limited');
  });

  if (BLIND) test('REP-06 refuses tokens made at runtime after a minute without news, and only those', { timeout: 180_000 }, async () => {
    const { token } = (await done(two, 'POST', 'tokens', { name: 'agent' })).json;
    await done(two, 'POST', 'session/init', { session_id: 's', user_token: 'the-token-of-s', user_id: 7 });
    await settled();
    const began = Date.now();
    network.silence();
    await eventually('both are refused', async () => (await statusOf(one, token)) === 401 && (await statusOf(one, 'the-token-of-s')) === 401, 120_000);
    const took = Date.now() - began;
    assert.ok(took >= 50_000, `already after ${took} ms`);
    assert.deepEqual([await statusOf(one), await statusOf(two, token), await statusOf(two, 'the-token-of-s')], [200, 200, 200]);
    network.heal();
    await eventually('it is served again', async () => (await statusOf(one, token)) === 200 && (await statusOf(one, 'the-token-of-s')) === 200, 60_000);
    await done(one, 'DELETE', 'tokens/agent');
    await done(one, 'POST', 'session/cleanup', { session_id: 's' });
  });
});
