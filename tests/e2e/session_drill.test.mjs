// Many sessions at once, and a gateway that is killed meanwhile. PROTEUS_DRILL_SESSIONS lowers the number for slow
// builds; memory is checked only at the full size.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { makeFolder } from './support/children.mjs';
import { eventually, program, residentKib, startServer } from './support/programs.mjs';
import { stopAfter } from './support/programs_of_suite.mjs';
import { Caller, queryTool, SECRET, startBackend } from './support/sessions.mjs';

const FULL = 5000;
const SESSIONS = Number(process.env.PROTEUS_DRILL_SESSIONS ?? FULL);
const KILLED_AFTER = 50;
const AT_ONCE = 64;
const TOOLS = 5;
const MEMORY_BACK_WITHIN = 1.1;  // of the memory after the first requests
const GROWTH_WITHIN = 1.1;  // of a second round, relative to the first

const token = (id) => `tok_${id}`;
const toolNames = (id) => Array.from({ length: TOOLS }, (_, i) => `tool_${i}_${id.length % 3}`);

/** Returns a fault if a call reached a tool of another session, or carried the token of another session. */
function check({ authorization, body }) {
  if (authorization !== `Bearer ${token(body.session)}`) return `${body.session} was asked with ${authorization}`;
  if (body.query !== body.session) return `${body.session} was asked by ${body.query}`;
  return undefined;
}

describe('many tool sessions', () => {
  const folder = makeFolder();
  let backend;
  const start = () =>
    startServer('proteus', ['serve', '--listen', '127.0.0.1:0', '--data', join(folder, 'data')], {
      env: { PROTEUS_ADMIN_SECRET: SECRET }
    });

  before(async () => {
    program('proteus');
    backend = await startBackend(check);
  });
  after(() => backend?.stop());

  const tools = (id) => toolNames(id).map((name) => queryTool(name, backend.url(`/${id}`), { fixed_params: { session: id } }));
  const expectOk = ({ status, json }) => {
    assert.equal(status, 200, JSON.stringify(json));
    return json;
  };
  const add = async (caller, id) => {
    expectOk(await caller.admin('/admin/session/init', { session_id: id, user_token: token(id), user_id: id }));
    expectOk(await caller.admin('/admin/tools/register', { session_id: id, tools: tools(id) }));
  };
  const use = async (caller, id) => {
    const listed = expectOk(await caller.mcp(token(id), 'tools/list')).result.tools.map((tool) => tool.name);
    assert.deepEqual(listed, toolNames(id));
    const name = toolNames(id)[0];
    const called = expectOk(await caller.mcp(token(id), 'tools/call', { name, arguments: { query: id } }));
    assert.equal(called.result.structuredContent?.path, `/${id}`, JSON.stringify(called));
  };
  const leave = async (caller, id) => {
    const left = expectOk(await caller.admin('/admin/session/cleanup', { session_id: id }));
    assert.equal(left.removed, TOOLS);
  };
  /** Calls `act` for each id, AT_ONCE at a time. */
  const forEach = async (ids, act) => {
    let next = 0;
    const work = async () => {
      while (next < ids.length) await act(ids[next++]);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  };

  // SES-24
  test(`${SESSIONS} sessions register, list, call and leave, ${AT_ONCE} at a time`, { timeout: 600_000 }, async (context) => {
    const own = stopAfter(context);
    const gateway = own(await start());
    const caller = own(new Caller(gateway.url, AT_ONCE));
    const round = async (prefix, count) => {
      const ids = Array.from({ length: count }, (_, i) => `${prefix}-${i}`);
      await forEach(ids, async (id) => {
        await add(caller, id);
        await use(caller, id);
      });
      const most = residentKib(gateway.pid);
      await forEach(ids, (id) => leave(caller, id));
      await forEach(ids.slice(0, 50), async (id) => assert.equal((await caller.mcp(token(id), 'tools/list')).status, 401));
      return most;
    };
    // Warms up: all connections, and the work of one session on each.
    await round('warm', AT_ONCE);
    const before = residentKib(gateway.pid);
    const once = await round('first', SESSIONS);
    const most = await round('second', SESSIONS);
    const left = residentKib(gateway.pid);
    // Compared with all sessions present, because the share of memory that is released afterwards varies.
    if (SESSIONS >= FULL) assert.ok(most < once * GROWTH_WITHIN, `${most} KiB after ${once} KiB`);
    // Unused memory is released within seconds, not at once.
    const isBack = () => residentKib(gateway.pid) < before * MEMORY_BACK_WITHIN;
    if (SESSIONS >= FULL) await eventually(`of ${before} KiB at first, ${most} at most and ${left} now are given back`, isBack, 180_000);
    context.diagnostic(`resident: ${before} KiB before, ${most} with all sessions, ${left} when they had left, ${residentKib(gateway.pid)} in the end`);
    assert.deepEqual(backend.faults, []);
    assert.equal(gateway.running(), true);
  });

  // SES-22
  test('what was acknowledged survives kill -9, and what was removed stays away', { timeout: 600_000 }, async (context) => {
    const own = stopAfter(context);
    const kept = new Set();
    const removed = new Set();
    for (let round = 0; round < 3; ++round) {
      const gateway = own(await start());
      const caller = own(new Caller(gateway.url, AT_ONCE));
      await forEach([...kept], (id) => use(caller, id));
      await forEach([...removed].slice(-200), async (id) => {
        assert.equal((await caller.mcp(token(id), 'tools/list')).status, 401, id);
      });
      let alive = true;
      let count = 0;
      const killAt = KILLED_AFTER * (round + 1);
      const work = async (worker) => {
        for (let i = 0; alive; ++i) {
          const id = `r${round}-${worker}-${i}`;
          try {
            await add(caller, id);
            kept.add(id);
            if (i % 2 === 0) {
              kept.delete(id);
              await leave(caller, id);
              removed.add(id);
            }
          } catch (error) {
            if (alive) throw error;
            return;
          }
          // While the other workers are busy.
          if (++count === killAt) {
            alive = false;
            gateway.signal('SIGKILL');
          }
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, (_, worker) => work(worker)));
      caller.close();
      assert.equal(await gateway.ended, 'SIGKILL');
    }
    const gateway = own(await start());
    const caller = own(new Caller(gateway.url, AT_ONCE));
    await forEach([...kept], (id) => use(caller, id));
    await forEach([...removed], async (id) => {
      assert.equal((await caller.mcp(token(id), 'tools/list')).status, 401, id);
      assert.equal((await caller.admin(`/admin/tools/list?session_id=${id}`)).status, 404, id);
    });
    assert.deepEqual(backend.faults, []);
    assert.ok(kept.size > 0 && removed.size > 0);
  });
});
