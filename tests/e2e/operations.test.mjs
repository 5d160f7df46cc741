// A gateway as its operator sees it: signals, files, crashes.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { makeFolder } from './support/children.mjs';
import { CLIENTS, Session, textOf } from './support/clients.mjs';
import { startFakeUpstream } from './support/fake_upstream.mjs';
import { configuration, startGateway } from './support/gateway.mjs';
import { eventually, isRunning, within } from './support/programs.mjs';
import { stopAfter } from './support/programs_of_suite.mjs';
import { events, send } from './support/raw.mjs';

const toolNames = async (url, options) => (await (await send(url, 'tools/list', {}, options)).json()).result.tools.map((tool) => tool.name);

function deferred() {
  let resolve;
  const promise = new Promise((done) => (resolve = done));
  return { promise, resolve };
}

/** Starts an upstream whose tool resolves `arrived` when a call arrives, and answers once `go` is resolved. */
async function startHolding() {
  const arrived = deferred();
  const go = deferred();
  const upstream = await startFakeUpstream(['hold'], async () => {
    arrived.resolve();
    await go.promise;
    return { content: [{ type: 'text', text: 'finished' }] };
  });
  return { upstream, arrived, go, stop: () => (go.resolve(), upstream.stop()) };
}

/** Whether an open file of a process has close-on-exec set; also true if the file is already closed. */
function closesOnExec(pid, fd) {
  try {
    return (parseInt(/flags:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'utf8'))[1], 8) & 0o2000000) !== 0;
  } catch {
    return true;
  }
}

/** Returns the open files of a process that its child would inherit, except the standard streams. */
function inheritable(pid) {
  return readdirSync(`/proc/${pid}/fd`)
    .filter((fd) => Number(fd) > 2 && !closesOnExec(pid, fd))
    .map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
}

describe('the programs that a gateway starts', () => {
  test('inherit none of its files and connections', async (context) => {
    const own = stopAfter(context);
    const upstream = own(await startFakeUpstream(['one']));
    const gateway = own(await startGateway({ upstreams: [{ name: 'up', url: upstream.url }, { name: 'cat', command: ['cat'], fail_fast_on_startup: false }] }));
    const listening = events(await send(gateway.url, 'subscriptions/listen', { notifications: { toolsListChanged: true } }));
    await listening.next();
    assert.deepEqual(await toolNames(gateway.url), ['up_one']);
    assert.ok(readdirSync(`/proc/${gateway.pid}/fd`).length > 10);
    const inherited = new Set(inheritable('self')); // by the gateway, from this process
    assert.deepEqual(inheritable(gateway.pid).filter((file) => !inherited.has(file)), []);
  });

  test('are ended with it, and so is what they started, however early it is told to end', async () => {
    const file = join(makeFolder(), 'ids');
    writeFileSync(file, '');
    // The program ends with its input, and leaves `sleep` behind.
    const command = ['sh', '-c', `sleep 60 & echo $$ $! >> ${file}; exec cat > /dev/null`];
    const upstreams = Array.from({ length: 10 }, (_, i) => ({ name: `program${i}`, command, fail_fast_on_startup: false }));
    const started = () => readFileSync(file, 'utf8').split(/\s/).filter(Boolean);
    for (let round = 0; round < 5; ++round) {
      const gateway = await startGateway({ upstreams });
      if (round >= 3) await eventually('one has started', () => started().length > 0);
      assert.equal(await gateway.stop(), 0, gateway.log());
    }
    await eventually('all have ended', () => !started().some(isRunning));
  });
});

describe('a gateway that is told to end', () => {
  // OPS-02, OPS-01, PRO-05
  test('lets running calls finish, ends streams with their results, takes no new work, and exits with 0', async (context) => {
    const own = stopAfter(context);
    const { upstream, arrived, go } = own(await startHolding());
    const gateway = own(await startGateway({ upstreams: [{ name: 'up', url: upstream.url }] }));
    const listening = events(await send(gateway.url, 'subscriptions/listen', { notifications: { toolsListChanged: true } }));
    assert.equal((await listening.next()).value.method, 'notifications/subscriptions/acknowledged');
    const call = send(gateway.url, 'tools/call', { name: 'up_hold', arguments: {} });
    await arrived.promise;

    gateway.signal('SIGTERM');
    assert.equal((await listening.next()).value.method, 'notifications/cancelled');
    assert.equal((await listening.next()).value.result.resultType, 'complete');
    assert.ok((await listening.next()).done);
    await eventually('new work is refused', () =>
      fetch(new URL('/readyz', gateway.url), { headers: { connection: 'close' } }).then((response) => response.status === 503, () => true)
    );
    assert.ok(gateway.running(), 'the call is still under way');
    go.resolve();
    assert.equal((await (await call).json()).result.content[0].text, 'finished');
    assert.equal(await gateway.ended, 0);
  });

  for (const client of CLIENTS) {
    // OPS-02
    test(`lets running calls of clients finish: ${client.name}`, async (context) => {
      const own = stopAfter(context);
      const { upstream, arrived, go } = own(await startHolding());
      const gateway = own(await startGateway({ upstreams: [{ name: 'up', url: upstream.url }] }));
      const session = own(await Session.open(client, { url: gateway.url }));
      const call = session.call('up_hold');
      await arrived.promise;
      gateway.signal('SIGTERM');
      await eventually('new work is refused', () =>
        fetch(new URL('/readyz', gateway.url), { headers: { connection: 'close' } }).then(() => false, () => true)
      );
      assert.ok(gateway.running(), 'the call is still under way');
      go.resolve();
      assert.equal(textOf(await call), 'finished');
      assert.equal(await gateway.ended, 0);
    });
  }

  // OPS-02
  test('waits no longer than the grace time', async (context) => {
    const own = stopAfter(context);
    const arrived = deferred();
    const upstream = own(await startFakeUpstream(['hold'], () => {
      arrived.resolve();
      return new Promise(() => {});
    }));
    const gateway = own(await startGateway({ upstreams: [{ name: 'up', url: upstream.url }], server: { grace: '300ms' } }));
    const call = send(gateway.url, 'tools/call', { name: 'up_hold', arguments: {} }).catch(() => 'cut off');
    await arrived.promise;
    gateway.signal('SIGTERM');
    // The default is 10 s.
    assert.equal(await within(5_000, 'the end', gateway.ended), 0);
    assert.equal(await call, 'cut off');
  });
});

describe('a gateway whose file changes', () => {
  // OPS-03, AUT-04
  test('takes over a good one on SIGHUP and by itself, and refuses a bad one whole', async (context) => {
    const own = stopAfter(context);
    const one = own(await startFakeUpstream(['a']));
    const two = own(await startFakeUpstream(['b']));
    const env = { ADA: 'ada-token', BOB: 'bob-token' };
    const ada = { name: 'ada', token_env: 'ADA' };
    const bob = { name: 'bob', token_env: 'BOB' };
    const upstreams = [{ name: 'one', url: one.url }];
    const gateway = own(await startGateway({ upstreams, tokens: [ada], env }));
    const sees = (token, names) => async () => {
      const response = await send(gateway.url, 'tools/list', {}, { token });
      if (response.status !== 200) return names === undefined;
      return (await response.json()).result.tools.map((tool) => tool.name).join() === names;
    };
    assert.deepEqual(await toolNames(gateway.url, { token: env.ADA }), ['one_a']);

    gateway.write(`${configuration({ upstreams: [{ name: 'two', url: two.url }], tokens: [bob] })}\nnonsense = 1\n[limit]\n`);
    gateway.signal('SIGHUP');
    await eventually('it says so', () => /the old one stays/.test(gateway.log()));
    assert.match(gateway.log(), /nonsense/);
    assert.deepEqual(await toolNames(gateway.url, { token: env.ADA }), ['one_a']);
    assert.equal((await send(gateway.url, 'tools/list', {}, { token: env.BOB })).status, 401);

    gateway.write(configuration({ upstreams: [...upstreams, { name: 'two', url: two.url }], tokens: [bob] }));
    gateway.signal('SIGHUP');
    await eventually('the new one is taken over', sees(env.BOB, 'one_a,two_b'));
    assert.equal((await send(gateway.url, 'tools/list', {}, { token: env.ADA })).status, 401);

    gateway.write(configuration({ upstreams, tokens: [ada, bob] }));
    await eventually('a changed file is noticed', sees(env.ADA, 'one_a'));
    for (const secret of Object.values(env)) assert.ok(!gateway.log().includes(secret));
  });
});

describe('a gateway that is killed', () => {
  // PRX-17, OPS-08
  test('has every upstream whose registration it acknowledged, and none by half', { timeout: 110_000 }, async (context) => {
    const own = stopAfter(context);
    const secret = 'the-admin-secret-of-this-test';
    const upstream = own(await startFakeUpstream(['a']));
    const folder = makeFolder();
    const headers = { 'x-admin-secret': secret, 'content-type': 'application/json' };
    const acknowledged = new Map();
    const removed = new Set();
    let attempts = 0;
    let state = 20261116;
    const chance = () => (state = (state * 48271) % 2147483647) / 2147483647; // the same delays in every run
    const start = async () => own(await startGateway({ folder, env: { PROTEUS_ADMIN_SECRET: secret } }));
    let gateway = await start();
    for (let round = 0; round < 12; ++round) {
      const admin = new URL('/admin/upstreams', gateway.url);
      const killed = new Promise((done) => setTimeout(() => done(gateway.signal('SIGKILL')), 5 + 60 * chance()));
      const work = async (lane) => {
        for (;;) {
          const name = `u${round}-${lane}-${attempts++}`;
          const prefix = `${name}_`;
          const made = await fetch(admin, { method: 'POST', headers, body: JSON.stringify({ name, url: upstream.url, prefix }) });
          assert.equal(made.status, 201, await made.text());
          acknowledged.set(name, prefix);
          if (attempts % 3) continue;
          acknowledged.delete(name);
          const gone = await fetch(`${admin}/${name}`, { method: 'DELETE', headers });
          if (gone.ok) removed.add(name);
        }
      };
      const cut = (error) => {
        if (error.code === 'ERR_ASSERTION') throw error;
      };
      await Promise.all([work('x').catch(cut), work('y').catch(cut), killed]);
      assert.equal(await gateway.ended, 'SIGKILL');
      gateway = await start();
      const response = await fetch(new URL('/admin/upstreams', gateway.url), { headers });
      const listed = await response.json();
      const found = new Map((listed.upstreams ?? listed).map((entry) => [entry.name, entry]));
      for (const [name, prefix] of acknowledged) {
        assert.ok(found.has(name), `${name} was acknowledged`);
        assert.equal(found.get(name).prefix, prefix);
      }
      for (const name of removed) assert.ok(!found.has(name), `${name} was removed`);
      for (const entry of found.values()) assert.equal(entry.url, upstream.url);
    }
    assert.ok(acknowledged.size > 0);
  });
});
