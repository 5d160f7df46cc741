// What one process logs is seen by the others, and what a dead one leaves is cleaned up by them.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { done, SECRET, startMember, tool, toolsOf } from './support/cluster.mjs';
import { startInterviewer } from './support/interviewers.mjs';
import { hasPostgres, startPostgres } from './support/postgres.mjs';
import { eventually, stopAll } from './support/programs.mjs';
import { stopAfter } from './support/programs_of_suite.mjs';
import { sql } from './support/psql.mjs';
import { events, send } from './support/raw.mjs';
import { ScriptedUpstream } from './support/scripted_upstream.mjs';

/** Follows the change log as the page does; `seen` has the changes. */
async function follow(gateway, { since, last } = {}) {
  const abort = new AbortController();
  const headers = { 'x-admin-secret': SECRET, accept: 'text/event-stream', ...(last !== undefined ? { 'last-event-id': String(last) } : {}) };
  const response = await fetch(new URL(`/admin/changes${since === undefined ? '' : `?since=${since}`}`, gateway.url), { headers, signal: abort.signal });
  assert.equal(response.status, 200);
  const seen = [];
  const reading = (async () => {
    for await (const change of events(response)) seen.push(change);
  })().catch(() => {});
  return { seen, stop: () => (abort.abort(), reading) };
}

/** An upstream that also has a resource, and counts how often its tools are read. */
class FollowedUpstream extends ScriptedUpstream {
  static URI = 'memo://followed';
  readings = 0;

  answer(message) {
    const answer = super.answer(message);
    if (message.method === 'tools/list') ++this.readings;
    if (message.method === 'server/discover') return { result: { ...answer.result, capabilities: { tools: {}, resources: { subscribe: true } } } };
    const lists = { 'resources/list': { resources: [{ uri: FollowedUpstream.URI, name: 'followed' }] }, 'resources/templates/list': { resourceTemplates: [] } };
    if (lists[message.method]) return { result: { resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...lists[message.method] } };
    return answer;
  }
}

describe('what other processes did', { skip: !hasPostgres && 'PostgreSQL 15 is not installed' }, () => {
  let postgres;
  let one;
  let two;
  before(async () => {
    postgres = await startPostgres();
    one = await startMember(postgres.dsn, 'one');
    two = await startMember(postgres.dsn, 'two');
  });
  after(() => stopAll([postgres, one, two]));

  test('REP-02 REF-21 /admin/changes as a stream tells what either process logged, in order, each once', async (context) => {
    const own = stopAfter(context);
    const upstreams = [];
    for (const i of [0, 1, 2, 3]) upstreams.push(own(await ScriptedUpstream.start([tool(`tool${i}`)])));
    const streams = [own(await follow(one)), own(await follow(two))];
    // Registered, refreshed and removed through both processes.
    for (const [i, { url }] of upstreams.entries()) await done([one, two][i % 2], 'POST', 'upstreams', { name: `up${i}`, url });
    for (const gateway of [one, two]) await eventually('listed', async () => (await toolsOf(gateway)).length === 4);
    for (const [i, upstream] of upstreams.entries()) {
      upstream.tools = [tool(`tool${i}`), tool(`more${i}`)];
      await done([two, one][i % 2], 'POST', `upstreams/up${i}/refresh`);
    }
    for (const i of [0, 1, 2, 3]) await done([one, two][i % 2], 'DELETE', `upstreams/up${i}`);
    const kinds = (changes, i) => changes.filter(({ upstream }) => upstream === `up${i}`).map(({ change }) => Object.keys(change.tools ?? {}).filter((key) => change.tools[key].length > 0).join());
    for (const { seen } of streams) {
      // Pushed at once, and not found at the next poll of an idle stream.
      await eventually('all of them', () => seen.length >= 12, 8_000);
      assert.deepEqual(seen.map(({ number }) => number), seen.map((_, i) => i + 1), 'in order, each once, none missing');
      for (const i of [0, 1, 2, 3]) assert.deepEqual(kinds(seen, i), ['added', 'added', 'removed'], JSON.stringify(seen));
    }
    assert.deepEqual(streams[0].seen, streams[1].seen);
    // A client that comes back, at another process, continues where it was.
    const resumed = own(await follow(two, { last: 5 }));
    await eventually('the rest', () => resumed.seen.length >= 7);
    assert.deepEqual(resumed.seen.map(({ number }) => number), [6, 7, 8, 9, 10, 11, 12]);
  });

  test('REP-04 REF-21 a change that both processes read is logged by the one that watches', async (context) => {
    const own = stopAfter(context);
    const upstream = own(await FollowedUpstream.start([tool('first')]));
    const stream = own(await follow(one, { since: 0 }));
    const listening = new AbortController();
    own({ stop: () => listening.abort() });
    await done(one, 'POST', 'upstreams', { name: 'followed', url: upstream.url, auto_refresh: true, refresh_interval: '100ms' });
    for (const gateway of [one, two]) {
      await eventually('listed', async () => (await toolsOf(gateway)).includes('followed_first'));
      // A process whose clients follow a resource reads the lists, too.
      const response = await send(gateway.url, 'subscriptions/listen', { notifications: { resourceSubscriptions: [FollowedUpstream.URI] } }, { signal: listening.signal });
      assert.equal(response.status, 200);
    }
    const watches = async (gateway) => (await done(gateway, 'GET', 'upstreams')).json.upstreams.find(({ name }) => name === 'followed').watch !== 'elsewhere';
    for (const gateway of [one, two]) await eventually('read', () => watches(gateway));
    upstream.tools = [tool('first'), tool('second')];
    const read = upstream.readings;
    await eventually('read by both', () => upstream.readings >= read + 8);
    await done(one, 'DELETE', 'upstreams/followed');
    const logged = () => stream.seen.filter(({ upstream }) => upstream === 'followed').map(({ change }) => change.tools);
    await eventually('logged', () => logged().some(({ removed }) => removed.length > 0));
    assert.deepEqual(logged().map(({ added }) => added), [['followed_first'], ['followed_second'], []]);
  });

  test('REP-04 REP-17 BRG-06 sessions in which calls waited end at their upstreams when their process is gone, and only those', async (context) => {
    const own = stopAfter(context);
    const upstream = own(await startInterviewer('legacy'));
    const dead = own(await startMember(postgres.dsn, 'dead'));
    await done(one, 'POST', 'upstreams', { name: 'desk', url: upstream.url });
    for (const gateway of [one, dead]) await eventually('listed', async () => (await toolsOf(gateway)).includes('desk_interview'));
    const capabilities = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } };
    const interview = async (gateway, token, more = {}) => {
      const response = await send(gateway.url, 'tools/call', { name: 'desk_interview', arguments: { token, rounds: 1 }, _meta: capabilities, ...more });
      if (!response.headers.get('content-type').startsWith('text/event-stream')) return response.json();
      for await (const message of events(response)) if (message.id !== undefined) return message;
      throw new Error('no answer');
    };
    const { result } = await interview(one, 'of the living');
    assert.equal(result.resultType, 'input_required', JSON.stringify(result));
    assert.equal((await interview(dead, 'of the dead')).result.resultType, 'input_required');
    const kept = () => Number(sql(postgres.dsn, `SELECT count(*) FROM proteus.settings WHERE convert_from(key, 'UTF8') LIKE 'parked_sessions.%'`));
    await eventually('both are kept', () => kept() === 2);
    await dead.kill();
    // The process lost its leases, but might only be frozen.
    await eventually('taken for dead', async () => (await done(one, 'GET', 'processes')).json.processes.some(({ name, live }) => name === 'dead' && !live));
    assert.equal(upstream.counts.givenUp.get('of the dead'), undefined);
    // As if a minute had passed.
    sql(postgres.dsn, `UPDATE proteus.members SET seen_at = seen_at - 60000000 WHERE convert_from(name, 'UTF8') LIKE 'dead-%'`);
    await eventually('ended at the upstream', () => upstream.counts.givenUp.get('of the dead') === 1);
    await eventually('forgotten', () => kept() === 1);
    assert.equal(upstream.counts.givenUp.get('of the living'), undefined);
    // The call that waits at a living process is answered.
    const [[key]] = Object.entries(result.inputRequests);
    const answered = await interview(one, 'of the living', { requestState: result.requestState, inputResponses: { [key]: { action: 'accept', content: { answer: 'by hand' } } } });
    assert.match(JSON.stringify(answered.result), /by hand/);
    await done(two, 'DELETE', 'upstreams/desk');
    // As if a day had passed, after which the dead process is forgotten.
    sql(postgres.dsn, `UPDATE proteus.members SET seen_at = seen_at - 86400000000 WHERE convert_from(name, 'UTF8') LIKE 'dead-%'`);
    await eventually('not listed', async () => (await done(one, 'GET', 'processes')).json.processes.every(({ name }) => name !== 'dead'));
  });
});
