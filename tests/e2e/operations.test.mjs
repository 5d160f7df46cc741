// A gateway as its operator meets it: signals, files, crashes.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { describe, test } from 'node:test';

import { CLIENTS, Session, textOf } from './support/clients.mjs';
import { startFakeUpstream } from './support/fake_upstream.mjs';
import { configuration, makeFolder, startGateway } from './support/gateway.mjs';
import { eventually } from './support/programs.mjs';
import { events, send } from './support/raw.mjs';

const toolNames = async (url, options) => (await (await send(url, 'tools/list', {}, options)).json()).result.tools.map((tool) => tool.name);

function deferred() {
  let resolve;
  const promise = new Promise((done) => (resolve = done));
  return { promise, resolve };
}

/** An upstream whose tool says that a call `arrived`, and answers when it may `go`. */
async function startHolding() {
  const arrived = deferred();
  const go = deferred();
  const upstream = await startFakeUpstream(['hold'], async () => {
    arrived.resolve();
    await go.promise;
    return { content: [{ type: 'text', text: 'finished' }] };
  });
  return { upstream, arrived, go };
}

/** Whether an open file of a process is closed when that starts a program; one that is closed already counts. */
function closesOnExec(pid, fd) {
  try {
    return (parseInt(/flags:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'utf8'))[1], 8) & 0o2000000) !== 0;
  } catch {
    return true;
  }
}

/** The open files of a process that a program it starts would inherit, other than its standard streams. */
function inheritable(pid) {
  return readdirSync(`/proc/${pid}/fd`)
    .filter((fd) => Number(fd) > 2 && !closesOnExec(pid, fd))
    .map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
}

describe('the programs that a gateway starts', () => {
  test('inherit none of its files and connections', async () => {
    const upstream = await startFakeUpstream(['one']);
    const gateway = await startGateway({ upstreams: [{ name: 'up', url: upstream.url }, { name: 'cat', command: ['cat'], fail_fast_on_startup: false }] });
    try {
      const listening = events(await send(gateway.url, 'subscriptions/listen', { notifications: { toolsListChanged: true } }));
      await listening.next();
      assert.deepEqual(await toolNames(gateway.url), ['up_one']);
      assert.ok(readdirSync(`/proc/${gateway.pid}/fd`).length > 10);
      const inherited = new Set(inheritable('self')); // by the gateway, from us
      assert.deepEqual(inheritable(gateway.pid).filter((file) => !inherited.has(file)), []);
    } finally {
      await gateway.stop();
      await upstream.stop();
    }
  });

  test('are ended with it, however early it is told to end', async () => {
    const upstreams = Array.from({ length: 10 }, (_, i) => ({ name: `cat${i}`, command: ['cat'], fail_fast_on_startup: false }));
    for (let round = 0; round < 5; ++round) {
      const gateway = await startGateway({ upstreams });
      assert.equal(await gateway.stop(), 0, gateway.log());
    }
  });
});

describe('a gateway that is told to end', () => {
  // OPS-02, OPS-01, PRO-05
  test('lets running calls finish, ends streams with their results, takes no new work, and exits with 0', async () => {
    const { upstream, arrived, go } = await startHolding();
    const gateway = await startGateway({ upstreams: [{ name: 'up', url: upstream.url }] });
    try {
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
    } finally {
      go.resolve();
      await gateway.stop();
      await upstream.stop();
    }
  });

  for (const client of CLIENTS) {
    // OPS-02
    test(`lets running calls of clients finish: ${client.name}`, async () => {
      const { upstream, arrived, go } = await startHolding();
      const gateway = await startGateway({ upstreams: [{ name: 'up', url: upstream.url }] });
      const session = await Session.open(client, { url: gateway.url });
      try {
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
      } finally {
        go.resolve();
        await session.close();
        await gateway.stop();
        await upstream.stop();
      }
    });
  }

  // OPS-02
  test('waits no longer than the grace time', async () => {
    const arrived = deferred();
    const upstream = await startFakeUpstream(['hold'], () => {
      arrived.resolve();
      return new Promise(() => {});
    });
    const gateway = await startGateway({ upstreams: [{ name: 'up', url: upstream.url }], server: { grace: '300ms' } });
    const call = send(gateway.url, 'tools/call', { name: 'up_hold', arguments: {} }).catch(() => 'cut off');
    await arrived.promise;
    gateway.signal('SIGTERM');
    assert.equal(await gateway.ended, 0);
    await call;
    await gateway.stop();
    await upstream.stop();
  });
});

describe('a gateway whose file changes', () => {
  // OPS-03, AUT-04
  test('takes over a good one on SIGHUP and by itself, and refuses a bad one whole', async () => {
    const one = await startFakeUpstream(['a']);
    const two = await startFakeUpstream(['b']);
    const env = { ADA: 'ada-token', BOB: 'bob-token' };
    const ada = { name: 'ada', token_env: 'ADA' };
    const bob = { name: 'bob', token_env: 'BOB' };
    const upstreams = [{ name: 'one', url: one.url }];
    const gateway = await startGateway({ upstreams, tokens: [ada], env });
    const sees = (token, names) => async () => {
      const response = await send(gateway.url, 'tools/list', {}, { token });
      if (response.status !== 200) return names === undefined;
      return (await response.json()).result.tools.map((tool) => tool.name).join() === names;
    };
    try {
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
    } finally {
      await gateway.stop();
      await one.stop();
      await two.stop();
    }
  });
});

describe('a gateway that is killed', () => {
  // PRX-17, OPS-08
  test('has every upstream whose registration it acknowledged, and none by half', { timeout: 110_000 }, async () => {
    const secret = 'the-admin-secret-of-this-test';
    const upstream = await startFakeUpstream(['a']);
    const { folder, forget } = makeFolder();
    const headers = { 'x-admin-secret': secret, 'content-type': 'application/json' };
    const acknowledged = new Map();
    const removed = new Set();
    let attempts = 0;
    let state = 20261116;
    const chance = () => (state = (state * 48271) % 2147483647) / 2147483647; // the same delays in every run
    const start = () => startGateway({ folder, env: { PROTEUS_ADMIN_SECRET: secret } });
    let gateway = await start();
    try {
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
    } finally {
      gateway.signal('SIGKILL');
      await gateway.ended;
      forget();
      await upstream.stop();
    }
  });
});
