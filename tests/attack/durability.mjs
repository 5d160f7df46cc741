// Acknowledged changes survive a crash, callers do not notice a reload, and the gateway reports exhausted resources.
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { makeFolder, run, spawnChild } from '../e2e/support/children.mjs';
import { startFakeUpstream } from '../e2e/support/fake_upstream.mjs';
import { startGateway } from '../e2e/support/gateway.mjs';
import { program } from '../e2e/support/programs.mjs';
import { ask } from '../e2e/support/raw.mjs';
import { Caller, queryTool, SECRET } from '../e2e/support/sessions.mjs';
import { assert, eventually, keptAlive, range } from './support.mjs';

export const title = 'Crashes, reloads and machines that have no more (PRX-17, OPS-08, OPS-12, SES-16, SES-22)';

const env = { PROTEUS_ADMIN_SECRET: SECRET };

/**
 * Registers and removes names until the gateway dies, and remembers which changes were acknowledged. A name whose last
 * change was not acknowledged is in neither set.
 */
class Ledger {
  constructor() {
    this.there = new Set();
    this.gone = new Set();
    this.attempts = 0;
  }

  async work(make, remove) {
    try {
      for (;;) {
        const name = `n${this.attempts++}`;
        await make(name);
        this.there.add(name);
        if (this.attempts % 4) continue;
        this.there.delete(name);
        await remove(name);
        this.gone.add(name);
      }
    } catch (error) {
      if (error.code === 'ERR_ASSERTION') throw error;
    }
  }

  check(found) {
    for (const name of this.there) assert.ok(found.has(name), `${name} was acknowledged and is lost`);
    for (const name of this.gone) assert.ok(!found.has(name), `${name} was removed and is back`);
  }
}

const KINDS = {
  upstreams: {
    make: async (caller, name) => assert.equal((await caller.admin('/admin/upstreams', { name, url: 'http://127.0.0.1:9/mcp' })).status, 201),
    remove: (caller, name) => caller.send('DELETE', `/admin/upstreams/${name}`, { 'x-admin-secret': SECRET }),
    found: async (caller) => new Set((await caller.admin('/admin/upstreams')).json.upstreams.map(({ name }) => name))
  },
  'session tools': {
    prepare: (caller) => caller.admin('/admin/session/init', { session_id: 's', user_token: 'token-of-s', user_id: 'u' }),
    make: async (caller, name) => assert.equal((await caller.admin('/admin/tools/register', { session_id: 's', tools: [queryTool(name, 'http://127.0.0.1:9/')] })).status, 200),
    remove: (caller, name) => caller.admin('/admin/tools/unregister', { session_id: 's', name }),
    found: async (caller) => new Set((await caller.admin('/admin/tools/list?session_id=s')).json.tools.map(({ name }) => name)),
    most: 200
  }
};

async function crash(kind, rounds, own) {
  const folder = makeFolder();
  const ledger = new Ledger();
  let gateway = await startGateway({ folder, env });
  let kills = 0;
  own({ stop: () => (gateway.signal('SIGKILL'), gateway.ended) });
  for (let round = 0; round < rounds; ++round) {
    const caller = new Caller(gateway.url, 4);
    await kind.prepare?.(caller);
    const before = ledger.there.size;
    const room = (kind.most ?? Infinity) - before;
    if (room <= 4) break;
    // Kills the gateway during the work, at a different moment each time, after something was acknowledged.
    const killed = (async () => {
      await eventually('something is acknowledged', () => ledger.there.size > before + Math.min(room - 4, round % 7));
      gateway.signal('SIGKILL');
    })();
    const lane = () => ledger.work((name) => kind.make(caller, name), (name) => kind.remove(caller, name));
    await Promise.all([lane(), lane(), lane(), killed]);
    assert.equal(await gateway.ended, 'SIGKILL');
    kills += 1;
    caller.close();
    gateway = await startGateway({ folder, env });
    const next = new Caller(gateway.url, 4);
    ledger.check(await kind.found(next));
    next.close();
  }
  return `${kills} kills, ${ledger.there.size} acknowledged, ${ledger.gone.size} removed`;
}

/** Blocks all writes to the store of a gateway until `stop`, as a full disk would. */
async function blockStore(folder) {
  const [file] = readdirSync(join(folder, 'data')).filter((name) => name.endsWith('.db'));
  const hold = 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); c.execute("BEGIN IMMEDIATE"); print("held", flush=True); sys.stdin.read()';
  const child = spawnChild('python3', ['-c', hold, join(folder, 'data', file)], { stdio: ['pipe', 'pipe', 'inherit'] });
  await Promise.race([once(child.stdout, 'data'), child.closed.then(() => assert.fail('the store could not be blocked'))]);
  return { stop: () => (child.stdin.end(), child.closed) };
}

export const cases = (full) => [
  ...Object.entries(KINDS).map(([what, kind]) => ({
    tried: `kill -9 in the middle of registering ${what}, over and over: none that was acknowledged is lost`,
    run: ({ own }) => crash(kind, full ? 30 : 4, own)
  })),
  {
    tried: 'reloads in a row under load: no call fails, nobody is let in or out by mistake',
    run: async ({ own }) => {
      const upstream = own(await startFakeUpstream(['one'], () => ({ content: [{ type: 'text', text: 'x' }] })));
      const upstreams = [{ name: 'up', url: upstream.url }];
      const tokens = [{ name: 'ann', token_env: 'ANN' }];
      const gateway = own(await startGateway({ upstreams, tokens, env: { ...env, ANN: 'token-of-ann' } }));
      const { agent } = own(keptAlive(8));
      const reloads = full ? 200 : 30;
      let going = true;
      let calls = 0;
      const load = range(4).map(async () => {
        while (going) {
          const answer = await ask(agent, gateway.url, 'tools/call', { name: 'up_one', arguments: {} });
          assert.ok(answer.result && !answer.result.isError, JSON.stringify(answer).slice(0, 300));
          calls += 1;
        }
      });
      const ended = Promise.all(load);
      const reloading = (async () => {
        for (let i = 0; i < reloads; ++i) {
          const limits = { calls_per_principal: 200 + i };
          gateway.reconfigure({ upstreams: i % 2 ? upstreams : [...upstreams, { name: `more${i}`, url: upstream.url }], limits, contexts: { [`c${i}`]: {} } });
          const before = calls;
          await eventually('calls go on', () => calls > before + 5);
        }
      })();
      await Promise.race([reloading, ended]);
      going = false;
      await ended;
      return `${reloads} reloads, ${calls} calls, none failed`;
    }
  },
  {
    tried: 'a session is removed while nothing can be written: its token ends at once, and the answer says what is not durable',
    run: async ({ own }) => {
      const folder = makeFolder();
      const gateway = own(await startGateway({ folder, env }));
      const caller = new Caller(gateway.url, 4);
      own({ stop: () => caller.close() });
      const isServed = async () => (await caller.mcp('token-of-s', 'tools/list')).status === 200;
      const removed = () => caller.admin('/admin/session/cleanup', { session_id: 's' });
      await caller.admin('/admin/session/init', { session_id: 's', user_token: 'token-of-s', user_id: 'u' });
      assert.ok(await isServed());
      const blocked = own(await blockStore(folder));
      const { status, json } = await removed();
      assert.equal(status, 200, JSON.stringify(json));
      assert.equal(json.durable, false);
      assert.ok(!(await isServed()), 'the token is good for more');
      await blocked.stop();
      await eventually('it is durable', async () => (await removed()).json.durable !== false);
      assert.ok(!(await isServed()));
    }
  },
  {
    tried: 'too little memory to begin with: it is said, and nothing is begun',
    run: async ({ own }) => {
      const folder = makeFolder();
      const limits = [200_000, 400_000];
      for (const kib of limits) {
        const command = `ulimit -c 0; ulimit -v ${kib}; exec "$0" serve --listen 127.0.0.1:0 --data "$1"`;
        const { code, stderr } = await run('sh', ['-c', command, program('proteus'), folder]);
        assert.ok(Number.isInteger(code) && code !== 0, `it ended with ${code}: ${stderr}`);
        assert.match(stderr, /address space is limited to \d+ MiB/, `with ${kib} KiB`);
      }
      return `${limits.length} limits`;
    }
  }
];
