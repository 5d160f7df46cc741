// Datasets as an outside client sees them: an agent connects what a person has ratified, and reads it.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { makeFolder } from './support/children.mjs';
import { CLIENTS, Session, textOf } from './support/clients.mjs';
import { startGateway } from './support/gateway.mjs';
import { hasPostgres, startPostgres } from './support/postgres.mjs';
import { eventually, program, root } from './support/programs.mjs';
import { stopAfter } from './support/programs_of_suite.mjs';

const CHANGED = 'notifications/tools/list_changed';
const QUICKSTART = join(root, 'examples/quickstart');
const MAPPING = join(QUICKSTART, 'acme.toml');
const COMPANY = join(QUICKSTART, 'company.py');
const SOURCES = ['SQLite', 'PostgreSQL'];

/** Runs `proteus dataset …`. */
function dataset(env, ...args) {
  return new Promise((done) => {
    execFile(program('proteus'), ['dataset', ...args], { env: { ...process.env, ...env }, timeout: 20_000 }, (error, stdout, stderr) =>
      done({ code: error?.code ?? 0, stdout, stderr })
    );
  });
}

/** A company in a database of this kind, and the environment in which `proteus` finds it. */
class Place {
  folder = makeFolder('datasets');
  mappings = join(this.folder, 'mappings');
  env = { PROTEUS_MAPPINGS: this.mappings, PROTEUS_PEPPER: 'the pepper of this test' };

  static async make(kind) {
    const place = new Place();
    if (kind === 'SQLite') {
      const file = join(place.folder, 'company.db');
      execFileSync('python3', [COMPANY, '--out', file]);
      place.env.ACME_DSN = `sqlite://${file}`;
    } else {
      place.postgres = await startPostgres(execFileSync('python3', [COMPANY, '--sql'], { maxBuffer: 64 << 20 }));
      place.env.ACME_DSN = place.postgres.dsn;
    }
    return place;
  }
  ratify() {
    return dataset(this.env, 'ratify', MAPPING, '--by', 'owner', '--ontology', join(QUICKSTART, 'ontology.toml'));
  }
  async stop() {
    await this.postgres?.stop();
  }
}

for (const kind of SOURCES) {
  describe(`datasets on ${kind}`, { skip: kind === 'PostgreSQL' && !hasPostgres && 'PostgreSQL is not installed' }, () => {
    let place;
    before(async () => (place = await Place.make(kind)));
    after(() => place?.stop());

    for (const client of CLIENTS) {
      test(`DAT-02 DAT-03 DAT-18 ${client.name}: connect, hear of it, list it, call it`, async (context) => {
        const own = stopAfter(context);
        const gateway = own(await startGateway({ upstreams: [], env: place.env }));
        const session = own(await Session.open(client, gateway));
        const changes = session.notifications(CHANGED);
        await session.listenForChanges();
        assert.deepEqual(await session.toolNames(), ['connect_dataset', 'list_datasets', 'workup']);
        assert.equal((await place.ratify()).code, 0);
        const [listed] = (await session.call('list_datasets')).structuredContent.datasets;
        assert.equal(listed.name, 'acme');
        assert.equal(listed.connected, false);
        assert.equal(listed.access, 'read-only');

        const connected = await session.call('connect_dataset', { name: 'acme' });
        assert.equal(connected.structuredContent.tool, 'workup_acme');
        await changes.next();
        assert.ok((await session.toolNames()).includes('workup_acme'));
        const found = await session.call('workup_acme', { entity: 'Amber Anchor' });
        assert.equal(found.structuredContent.status, 'found');
        assert.equal(found.structuredContent.entity.ref, 'projects/1');
        assert.match(textOf(found), /Amber Anchor \(project, projects\/1\), found by name \[p1\]/);
        const same = await session.call('workup', { entity: 'Amber Anchor', dataset: 'acme' });
        assert.deepEqual(same.structuredContent, found.structuredContent);

        const again = await session.call('connect_dataset', { name: 'acme' });
        assert.equal(again.structuredContent.status, 'already_connected');
        const refused = await session.call('connect_dataset', { name: '../acme' });
        assert.equal(refused.isError, true);

        // DAT-21: a revoked dataset is withdrawn automatically.
        assert.equal((await dataset(place.env, 'revoke', 'acme', '--by', 'owner')).code, 0);
        await changes.next();
        assert.ok(!(await session.toolNames()).includes('workup_acme'));
        assert.equal(changes.seen.length, 2);
      });
    }

    test('the same facts, whatever the source', async (context) => {
      const own = stopAfter(context);
      const gateway = own(await startGateway({ upstreams: [], env: place.env }));
      await place.ratify();
      const session = own(await Session.open(CLIENTS[2], gateway));
      await session.call('connect_dataset', { name: 'acme' });
      const team = await session.call('workup_acme', { entity: 'T001' });
      assert.equal(team.structuredContent.resolution, 'alias');
      assert.equal(team.structuredContent.entity.name, 'Platform Amber');
      const members = team.structuredContent.relationships.filter((one) => one.type === 'MEMBER_OF');
      assert.equal(members.length, 25);
      assert.ok(members.every((one) => one.direction === 'incoming' && one.peer.type === 'person'));
      const document = await session.call('workup_acme', { entity: 'documents/200' });
      assert.deepEqual(document.structuredContent.gaps.map((gap) => gap.kind), ['dangling']);
      assert.equal((await session.call('workup_acme', { entity: 'nobody at all' })).structuredContent.status, 'not_found');
      const ambiguous = await session.call('workup_acme', { entity: '7' });
      assert.equal(ambiguous.structuredContent.candidates.length, 4);
    });

    // CTX-18, CTX-02
    test('CTX-18 a context names the types of the dataset it is bound to, on its tools and others, live', async (context) => {
      const own = stopAfter(context);
      await place.ratify();
      await dataset(place.env, 'revoke', 'acme', '--by', 'owner');
      const guidance = 'There are {entity_types}, linked by {relationship_types}.';
      const gateway = own(await startGateway({
        env: place.env,
        contexts: { firm: { dataset: 'acme', schemas: ['graph'], tool_supplements: { workup_acme: 'Ask for people by name.' } }, other: {} },
        schemas: { graph: { tools: ['workup*'], guidance } }
      }));
      const session = own(await Session.open(CLIENTS[2], { url: `${gateway.url}/firm` }));
      const other = own(await Session.open(CLIENTS[0], { url: `${gateway.url}/other` }));
      const described = async (from, name) => (await from.client.listTools()).tools.find((tool) => tool.name === name)?.description;
      const changes = session.notifications(CHANGED);
      await session.listenForChanges();
      assert.doesNotMatch(await described(session, 'workup'), /There are/, 'no types are known yet');

      assert.equal((await place.ratify()).code, 0);
      await changes.next();
      const text =
        'There are person, team, project, document, linked by MEMBER_OF, REPORTS_TO, OWNED_BY, LED_BY, WORKS_ON, WRITTEN_BY, BELONGS_TO.';
      assert.ok((await described(session, 'workup')).endsWith(`\n\n${text}`), await described(session, 'workup'));

      assert.equal((await session.call('connect_dataset', { name: 'acme' })).structuredContent.tool, 'workup_acme');
      const base = await described(other, 'workup_acme');
      assert.equal(await described(session, 'workup_acme'), `${base}\n\n${text}\n\nAsk for people by name.`);
      assert.doesNotMatch(base, /linked by/);
      assert.equal((await session.call('workup_acme', { entity: 'Amber Anchor' })).structuredContent.status, 'found');

      await dataset(place.env, 'revoke', 'acme', '--by', 'owner');
      await eventually('the types are gone', async () => !(await described(session, 'workup')).includes('There are'));
      assert.equal(await described(session, 'workup_acme'), undefined);
    });

    // DAT-09, OPS-09
    test('DAT-09 an operator disconnects on the command line, beside the gateway', async (context) => {
      const own = stopAfter(context);
      await place.ratify();
      const env = { ...place.env, PROTEUS_ADMIN_SECRET: 'of the test' };
      const gateway = own(await startGateway({ upstreams: [], env }));
      const session = own(await Session.open(CLIENTS[2], gateway));
      const disconnect = (...args) => dataset(env, 'disconnect', 'acme', '--server', gateway.url, ...args);
      const changes = session.notifications(CHANGED);
      await session.listenForChanges();
      await session.call('connect_dataset', { name: 'acme' });
      await changes.next();
      const done = await disconnect();
      assert.equal(done.code, 0, done.stderr);
      assert.match(done.stdout, /^acme is disconnected/);
      await changes.next();
      assert.ok(!(await session.toolNames()).includes('workup_acme'));
      const again = await disconnect('--json');
      assert.equal(again.code, 1);
      assert.match(JSON.parse(again.stdout).error, /nothing is connected to the dataset acme/);
      assert.equal((await session.call('connect_dataset', { name: 'acme' })).structuredContent.tool, 'workup_acme');
      assert.deepEqual(JSON.parse((await disconnect('--json')).stdout), { ok: true, name: 'acme', connected: false });

      assert.equal((await dataset(env, 'disconnect', '../acme', '--server', gateway.url)).code, 2);
      const stranger = await dataset({ ...env, PROTEUS_ADMIN_SECRET: 'another' }, 'disconnect', 'acme', '--server', gateway.url);
      assert.equal(stranger.code, 1);
      assert.ok(!stranger.stderr.includes('another'));
    });

    // DAT-06, and must-show 4: a change of one byte
    test('DAT-06 a byte that changes withdraws a connection', async (context) => {
      const own = stopAfter(context);
      await place.ratify();
      const gateway = own(await startGateway({ upstreams: [], env: { ...place.env, PROTEUS_ADMIN_SECRET: 'of the test' } }));
      const session = own(await Session.open(CLIENTS[2], gateway));
      const changes = session.notifications(CHANGED);
      await session.listenForChanges();
      await session.call('connect_dataset', { name: 'acme' });
      await changes.next();
      appendFileSync(join(place.mappings, 'acme.toml'), '\n');
      await changes.next();
      assert.ok(!(await session.toolNames()).includes('workup_acme'));
      assert.match(textOf(await session.call('connect_dataset', { name: 'acme' })), /changed since it was ratified/);
      const url = new URL('/admin/datasets', gateway.url);
      const shown = await (await fetch(url, { headers: { 'x-admin-secret': 'of the test' } })).json();
      assert.equal(shown.datasets[0].status, 'changed');
      assert.match(shown.datasets[0].withdrawn.reason, /changed since it was ratified/);
    });

    // DAT-19, DAT-20, DAT-21
    test('DAT-19 DAT-20 DAT-21 the way of a mapping: propose, validate, ratify, list, revoke', async () => {
      const draft = join(place.folder, 'drafts/firm.toml');
      const proposed = await dataset(place.env, 'propose', '--name', 'firm', '--dsn-env', 'ACME_DSN', '--out', draft, '--json');
      assert.equal(proposed.code, 0, proposed.stderr);
      assert.equal(JSON.parse(proposed.stdout).entities, 4);
      const text = readFileSync(draft, 'utf8');
      assert.match(text, /table = "people"/);
      const again = (...more) => dataset(place.env, 'propose', '--name', 'firm', '--dsn-env', 'ACME_DSN', '--out', draft, ...more);
      assert.equal((await again()).code, 0, 'the same draft may be written again');
      appendFileSync(draft, '# edited\n');
      const kept = await again();
      assert.equal(kept.code, 1);
      assert.match(kept.stderr, /exists and differs from this draft; .*--force/);
      assert.equal(readFileSync(draft, 'utf8'), `${text}# edited\n`);
      assert.equal((await again('--force')).code, 0);
      assert.equal(readFileSync(draft, 'utf8'), text);
      assert.equal((await dataset(place.env, 'list', '--json')).stdout.includes('firm'), false);
      assert.equal((await dataset(place.env, 'validate', draft)).code, 0);
      appendFileSync(draft, '\n[[entities]]\ntable = "peopel"\ntype = "person"\nid_column = "id"\n');
      const wrong = await dataset(place.env, 'validate', draft, '--json');
      assert.equal(wrong.code, 1);
      assert.equal(JSON.parse(wrong.stdout).problems[0].kind, 'unknown_table');
      const refused = await dataset(place.env, 'ratify', draft, '--by', 'owner');
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /did you mean people\?/);
      assert.equal((await dataset(place.env, 'ratify', draft)).code, 2);
      assert.equal((await dataset({ ...place.env, ACME_DSN: '' }, 'validate', MAPPING)).code, 1);
      await place.ratify();
      const listed = JSON.parse((await dataset(place.env, 'list', '--json')).stdout);
      assert.equal(listed.datasets[0].status, 'ratified');
      assert.equal(listed.datasets[0].by, 'owner');
      assert.equal(JSON.parse((await dataset({ ...place.env, PROTEUS_PEPPER: 'another' }, 'list', '--json')).stdout).datasets[0].status, 'forged');
      assert.equal((await dataset(place.env, 'revoke', 'nothing', '--by', 'owner')).code, 1);
    });
  });
}

describe('the tools of datasets', () => {
  const TOOLS = ['connect_dataset', 'list_datasets', 'workup'];

  // DAT-01, DAT-03
  test('DAT-01 are there with a directory of mappings, whether it was named, found, or made later', async (context) => {
    const own = stopAfter(context);
    const place = own(await Place.make('SQLite'));
    const named = own(await startGateway({ env: { PROTEUS_MAPPINGS: join(place.folder, 'not there yet') } }));
    const later = own(await startGateway({}));
    const of = async (gateway) => {
      const session = own(await Session.open(CLIENTS[0], gateway));
      return { session, changes: session.notifications(CHANGED) };
    };
    const { session: first } = await of(named);
    const { session: second, changes } = await of(later);
    assert.deepEqual(await first.toolNames(), TOOLS);
    assert.deepEqual((await first.call('list_datasets')).structuredContent.datasets, []);
    assert.deepEqual(await second.toolNames(), [], 'a gateway without datasets is not cluttered');
    await second.listenForChanges();
    const ratified = await dataset(
      { ACME_DSN: place.env.ACME_DSN },
      ...['ratify', MAPPING, '--by', 'owner', '--config', join(later.folder, 'proteus.toml'), '--data', join(later.folder, 'data')]
    );
    assert.equal(ratified.code, 0, ratified.stderr);
    await changes.next();
    assert.deepEqual(await second.toolNames(), TOOLS);
    const [listed] = (await second.call('list_datasets')).structuredContent.datasets;
    assert.deepEqual([listed.name, listed.connected, listed.access], ['acme', false, 'read-only']);
    assert.ok(listed.entity_types.includes('person'));
  });
});
