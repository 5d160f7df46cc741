// Two successive versions serve side by side. The newer one is simulated: its migration is run in SQL.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { ask, done, doneEverywhere, startMember, tool, toolsOf } from './support/cluster.mjs';
import { hasPostgres, startPostgres } from './support/postgres.mjs';
import { eventually, stopAll } from './support/programs.mjs';
import { stopAfter } from './support/programs_of_suite.mjs';
import { openSession, sql } from './support/psql.mjs';
import { ScriptedUpstream } from './support/scripted_upstream.mjs';

// The advisory lock under which a schema is migrated.
const LOCK = '1349676916, 1';
// What the next release could add: columns that an older one does not write, and a table that it does not know.
const EXPAND = `
  ALTER TABLE proteus.upstreams ADD COLUMN note bytea NOT NULL DEFAULT '';
  ALTER TABLE proteus.tokens ADD COLUMN last_address bytea;
  ALTER TABLE proteus.snapshots ADD COLUMN digest bytea;
  ALTER TABLE proteus.feed ADD COLUMN writer bytea;
  CREATE TABLE proteus.notes (name bytea PRIMARY KEY, note bytea NOT NULL);
  UPDATE proteus.schema_version SET version = version + 1`;
const version = 'SELECT version, oldest_reader FROM proteus.schema_version';

describe('two versions side by side', { skip: !hasPostgres && 'PostgreSQL 15 is not installed' }, () => {
  let postgres;
  let older;
  let upstream;
  before(async () => {
    postgres = await startPostgres();
    upstream = await ScriptedUpstream.start([tool('pay')]);
    older = await startMember(postgres.dsn, 'older');
  });
  after(() => stopAll([postgres, upstream, older]));

  test('REP-07 an older process serves while the schema is expanded, and one that starts waits until it is done', async (context) => {
    const own = stopAfter(context);
    const [known] = sql(postgres.dsn, version).split('|').map(Number);
    let starting;
    own({ stop: async () => (await starting)?.stop() });
    const newer = own(openSession(postgres.dsn));
    await newer.say(`SELECT pg_advisory_lock(${LOCK})`);
    starting = startMember(postgres.dsn, 'another');
    let started = false;
    starting.then(() => (started = true), () => {});
    const waiting = `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`;
    await eventually('one waits for the migration', () => sql(postgres.dsn, waiting) === '1');
    // Writes before and after the migration.
    await done(older, 'POST', 'upstreams', { name: 'before', url: upstream.url });
    await newer.say(`BEGIN; ${EXPAND}; COMMIT`);
    const { json } = await done(older, 'POST', 'tokens', { name: 'agent' });
    await done(older, 'POST', 'upstreams', { name: 'after', url: upstream.url });
    assert.equal((await ask(older, 'tools/call', { name: 'before_pay', arguments: {} })).result.content[0].text, 'ran pay');
    assert.equal(started, false);
    await newer.say(`SELECT pg_advisory_unlock(${LOCK})`);
    const another = await starting;
    assert.deepEqual(sql(postgres.dsn, version).split('|').map(Number), [known + 1, 1], 'the schema is the newer one');
    for (const gateway of [older, another]) {
      await eventually('served', async () => (await toolsOf(gateway)).includes('after_pay'));
      assert.equal((await ask(gateway, 'tools/list', {}, json.token)).status, 200);
    }
    // Older processes serve the rows that the newer one wrote, and keep its columns when they change a row.
    sql(postgres.dsn, `UPDATE proteus.upstreams SET note = 'kept' WHERE name = 'after'`);
    assert.match((await done(another, 'PATCH', 'upstreams/after', { prefix: 'b_' })).applied, /^[12]\/2$/);
    await eventually('renamed', async () => (await toolsOf(older)).includes('b_pay'));
    assert.equal(sql(postgres.dsn, `SELECT convert_from(note, 'UTF8') FROM proteus.upstreams WHERE name = 'after'`), 'kept');
    await doneEverywhere(older, 'DELETE', 'tokens/agent');
    assert.equal((await ask(another, 'tools/list', {}, json.token)).status, 401);
  });

  test('REP-07 a version that is too old is refused, and told which one is not', async () => {
    // A later release removes what only the older one used.
    sql(postgres.dsn, `UPDATE proteus.schema_version SET version = version + 1, oldest_reader = version + 1, oldest_version = '9.1.0'`);
    await assert.rejects(startMember(postgres.dsn, 'too old'), (error) => {
      assert.match(error.message, /ended with \d+ before it was listening/);
      assert.match(error.message, /9\.1\.0/);
      return true;
    });
    // The attempt changed nothing, and the running process still serves.
    assert.equal(sql(postgres.dsn, 'SELECT count(*) FROM proteus.upstreams'), '2');
    assert.ok((await toolsOf(older)).includes('before_pay'));
  });
});
