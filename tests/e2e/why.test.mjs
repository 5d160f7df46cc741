// Compares what an operator is told that a caller sees with what the caller gets, in random setups.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startGateway } from './support/gateway.mjs';
import { stopAfter } from './support/programs_of_suite.mjs';
import { send } from './support/raw.mjs';
import { ScriptedUpstream } from './support/scripted_upstream.mjs';

const NAMES = ['log', 'create', 'hub_log', 'hub_create', 'git_log'];
const PREFIXES = ['', 'git_', 'git_hub_', 'g'];
const PATTERNS = ['*', 'git_*', '*log', '*_hub_*', 'create', 'g?t_*', 'nothing'];
const SECRET = 'of the operator';

const tool = (name, readOnly) => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object' }, annotations: { readOnlyHint: readOnly } });

function randomly(seed) {
  const below = (bound) => (seed = (seed * 48271) % 2147483647) % bound;
  const some = (all) => all.filter(() => below(2) === 0);
  return { below, some, one: (all) => all[below(all.length)] };
}

const visibilities = new Set();

for (const seed of [1, 2, 3, 4, 5, 6]) {
  test(`OBS-06 OBS-07 why and see-as agree with what is served, world ${seed}`, async (context) => {
    const own = stopAfter(context);
    const random = randomly(seed);
    const settings = [];
    for (let i = 0; i < 3; i += 1) {
      const upstream = own(await ScriptedUpstream.start(random.some(NAMES).map((name) => tool(name, random.below(2) === 0))));
      settings.push({ name: `up${i}`, url: upstream.url, prefix: random.one(PREFIXES), refresh_strategy: random.below(3) === 0 ? 'direct_proxy' : 'cached' });
    }
    const direct = settings.filter((one) => one.refresh_strategy === 'direct_proxy').map((one) => one.name);
    const rules = () => ({ tools: [random.one(PATTERNS), random.one(PATTERNS)], deny: random.below(2) ? [random.one(PATTERNS.slice(1))] : [], read_only: random.below(4) === 0 });
    const gateway = own(await startGateway({
      upstreams: settings,
      tokens: [{ name: 'all', token_env: 'ALL' }, ...['one', 'two'].map((name) => ({ name, token_env: name.toUpperCase(), ...rules() }))],
      contexts: { c: { include: [random.one(PATTERNS), random.one(PATTERNS)], exclude: random.below(2) ? [random.one(PATTERNS.slice(1))] : [] } },
      env: { PROTEUS_ADMIN_SECRET: SECRET, ALL: 'token of all', ONE: 'token of one', TWO: 'token of two' }
    }));
    const { origin } = new URL(gateway.url);
    const admin = async (path) => {
      const response = await fetch(`${origin}/admin/${path}`, { headers: { 'x-admin-secret': SECRET } });
      const answer = await response.json();
      assert.equal(response.status, 200, `${path}: ${JSON.stringify(answer)}`);
      return answer;
    };
    const listed = async (name, context) => {
      const answer = await send(`${origin}/mcp${context && `/${context}`}`, 'tools/list', {}, { token: `token of ${name}` });
      assert.equal(answer.status, 200);
      return new Set((await answer.json()).result.tools.map((one) => one.name));
    };
    for (const principal of ['all', 'one', 'two']) {
      for (const context of ['', 'c']) {
        const where = `as=${principal}${context && `&context=${context}`}`;
        const served = await listed(principal, context);
        const seen = await admin(`view?${where}`);
        for (const entry of seen.entries) assert.ok(served.has(entry.name), `${entry.name} is not served ${where}`);
        if (direct.length === 0) assert.equal(seen.entries.length, served.size, where);
        for (const name of new Set(PREFIXES.flatMap((prefix) => NAMES.map((own) => prefix + own)))) {
          const why = await admin(`why?${where}&name=${name}`);
          const told = `${name} ${where}: ${JSON.stringify(why)}`;
          visibilities.add(why.visibility);
          if (why.visibility === 'seen') assert.ok(served.has(name), told);
          if (why.visibility === 'not_seen') assert.ok(!served.has(name), told);
          if (why.visibility === 'upstream_knows') assert.ok(direct.includes(why.upstream), told);
          assert.ok(why.detail.length > 0, told);
        }
      }
    }
  });
}

test('OBS-06 the worlds have everything that why can say', () => {
  assert.deepEqual([...visibilities].sort(), ['not_seen', 'seen', 'upstream_knows']);
});
