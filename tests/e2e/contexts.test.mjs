// Contexts as the official clients see them: the same tools, with descriptions for each context.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { CLIENTS, isRefusedWith, Session } from './support/clients.mjs';
import { startGateway } from './support/gateway.mjs';
import { eventually, program, residentKib, root, startServer, within } from './support/programs.mjs';
import { runningPrograms, stopAfter } from './support/programs_of_suite.mjs';
import { ask, send } from './support/raw.mjs';

const GUIDANCE = 'Facts carry dimensions; filter them.';
const CHANGED = 'notifications/tools/list_changed';
const LISTS = Number(process.env.PROTEUS_DRILL_LISTS ?? 10_000);
const CONTEXTS = {
  sec: {
    display_name: 'SEC filings',
    sibling_subgraphs: ['sec_historical', 'not_served'],
    schemas: ['roboledger'],
    exclude: ['test_error_handling', 'bank_transfer_money'],
    tool_supplements: { test_simple_text: 'Ask for revenue.', nobody_has_this: 'Never shown.' }
  },
  sec_historical: { parent: 'sec', display_name: 'SEC filings, before 2009' },
  custom: {}
};
const SCHEMAS = { roboledger: { tools: ['test_*'], guidance: GUIDANCE } };

/** Runs `proteus …` to its end. */
function proteus(...args) {
  return new Promise((done) => {
    execFile(program('proteus'), args, { timeout: 20_000 }, (error, stdout, stderr) =>
      done({ code: error ? error.code : 0, stdout, stderr })
    );
  });
}

describe('contexts', () => {
  let gateway;
  const at = (context) => ({ url: `${gateway.url}/${context}`, token: 'all' });
  runningPrograms(async (programs) => {
    const everything = await startServer('everything-server', ['--port', '0']);
    programs.push(everything);
    const bank = await startServer('bank-server', ['--port', '0']);
    programs.push(bank);
    gateway = await startGateway({
      upstreams: [
        { name: 'all', url: everything.url },
        { name: 'bank', url: bank.url, refresh_strategy: 'direct_proxy' }
      ],
      tokens: [
        { name: 'all', token_env: 'ALL_TOKEN' },
        { name: 'few', token_env: 'FEW_TOKEN', contexts: ['sec'] }
      ],
      contexts: CONTEXTS,
      schemas: SCHEMAS,
      env: { ALL_TOKEN: 'all', FEW_TOKEN: 'few', PROTEUS_ADMIN_SECRET: 'of the operator' }
    });
    programs.push(gateway);
  });

  const count = (text) => gateway.log().split(text).length - 1;
  const reported = async (text, times) => {
    while (count(text) < times) await new Promise((next) => setTimeout(next, 5));
  };

  for (const client of CLIENTS) {
    const tools = async (target) => {
      const session = await Session.open(client, target);
      try {
        const { tools: listed } = await session.client.listTools();
        return new Map(listed.map((tool) => [tool.name, tool]));
      } finally {
        await session.close();
      }
    };

    test(`CTX-02 CTX-03 CTX-04 CTX-05 CTX-07 CTX-10 ${client.name}: descriptions are of the context`, async () => {
      const [plain, sec, historical, custom] = await Promise.all(
        [{ url: gateway.url, token: 'all' }, at('sec'), at('sec_historical'), at('custom')].map(tools)
      );
      const name = 'all_test_simple_text';
      const base = plain.get(name).description;
      const { description, ...rest } = sec.get(name);
      const { description: _, ...unchanged } = plain.get(name);
      assert.deepEqual(rest, unchanged);
      assert.ok(description.startsWith(`${base}\n\n${GUIDANCE}\n\nAsk for revenue.\n\n`), description);
      assert.match(description, /sec_historical/);
      assert.doesNotMatch(description, /not_served/);
      assert.match(historical.get(name).description, /\/mcp\/sec\b/);
      assert.doesNotMatch(historical.get(name).description, /\/mcp\/sec_historical/);
      assert.deepEqual(custom, plain);
      assert.doesNotMatch(JSON.stringify([...custom]), /SEC|Facts carry/);
      // Each upstream, also a direct one, says it once: on the tool with a supplement, or else on the first.
      const mentioning = [...sec.values()].filter((tool) => tool.description.includes('/mcp/sec_historical'));
      assert.deepEqual(mentioning.map((tool) => tool.name), [name, 'bank_agent_handoff']);
    });

    test(`CTX-16 ${client.name}: what is excluded is neither listed nor called`, async (context) => {
      const own = stopAfter(context);
      const session = own(await Session.open(client, at('sec')));
      assert.ok(!(await session.toolNames()).includes('all_test_error_handling'));
      for (const name of ['all_test_error_handling', 'bank_transfer_money']) {
        await assert.rejects(session.call(name), (error) => error.code === -32602);
      }
    });

    test(`CTX-14 CTX-19 ${client.name}: a context says what it is`, async (context) => {
      const own = stopAfter(context);
      const session = own(await Session.open(client, at('sec')));
      assert.match(session.client.getInstructions(), /SEC filings/);
      const { contents } = await session.client.readResource({ uri: 'context://sec' });
      const about = JSON.parse(contents[0].text);
      assert.equal(about.display_name, 'SEC filings');
      assert.deepEqual(about.siblings.map((sibling) => sibling.name), ['sec_historical']);
      assert.deepEqual(about.schemas, ['roboledger']);
    });

    test(`CTX-17 ${client.name}: an unknown context, or one that may not be entered, is not there`, async () => {
      const few = (context) => ({ ...at(context), token: 'few' });
      for (const target of [at('none'), few('sec_historical'), few('custom')]) {
        assert.equal((await send(target.url, 'tools/list', {}, { token: target.token })).status, 404);
        await assert.rejects(tools(target), client.era === 'modern' ? { code: 'ERA_NEGOTIATION_FAILED' } : isRefusedWith(404));
      }
      const seen = (await tools(few('sec'))).get('all_test_simple_text').description;
      assert.doesNotMatch(seen, /sec_historical/);
    });

    test(`CTX-11 CTX-13 ${client.name}: a manifest is reloaded, and a broken one is not`, async (context) => {
      const own = stopAfter(context);
      const session = own(await Session.open(client, at('custom')));
      const changes = session.notifications(CHANGED);
      await session.listenForChanges();
      const read = async () => (await session.client.listTools()).tools[0].description;
      const before = await read();
      const broken = count('custom: its manifest is broken');
      const word = `Since now, for ${client.name}.`;
      gateway.reconfigure({ contexts: { ...CONTEXTS, custom: { tool_supplements: { 'all_test_audio_content': word } } } });
      await changes.next();
      const { tools: listed } = await session.client.listTools();
      assert.ok(listed.find((tool) => tool.name === 'all_test_audio_content').description.endsWith(word));
      gateway.reconfigure({ contexts: { ...CONTEXTS, custom: { unknown_key: true, sibling_subgraphs: ['sec'] } } });
      await within(15_000, 'the report', reported(`custom: its manifest is broken`, broken + 1));
      const { tools: kept } = await session.client.listTools();
      assert.ok(kept.find((tool) => tool.name === 'all_test_audio_content').description.endsWith(word));
      gateway.reconfigure({});
      await changes.next();
      assert.equal(await read(), before);
    });
  }

  test('CTX-09 a supplement for a tool nobody has is reported where an operator looks', async () => {
    assert.match(gateway.log(), /context sec: there is a supplement for nobody_has_this/);
    const listed = await proteus('tools', 'list', '--context', 'sec', '--explain', '--server', gateway.url, '--config', join(gateway.folder, 'proteus.toml'), '--data', join(gateway.folder, 'data'));
    assert.notEqual(listed.code, 0, 'the secret of the data directory is not the one in use');
    process.env.PROTEUS_ADMIN_SECRET = 'of the operator';
    const args = ['--server', gateway.url, '--config', join(gateway.folder, 'proteus.toml')];
    const { code, stdout, stderr } = await proteus('tools', 'list', '--context', 'sec', '--explain', ...args);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /nobody_has_this/);
    assert.match(stdout, /all_test_simple_text {2}all\n {2}base\n {4}.*\n {2}schema roboledger\n {4}Facts carry/);
    assert.match(stdout, /supplement test_simple_text\n {4}Ask for revenue/);
    assert.match(stdout, /bank_pin_authentication/);
    const json = await proteus('tools', 'list', '--json', ...args);
    assert.ok(JSON.parse(json.stdout).tools.some((tool) => tool.name === 'all_test_simple_text'));
    assert.equal((await proteus('tools', 'list', '--context', 'nowhere', ...args)).code, 1);
  });

  test('GET /v1/graphs/{context}/mcp/tools answers as the MCP endpoint does', async () => {
    const url = (context) => gateway.url.replace('/mcp', `/v1/graphs/${context}/mcp/tools`);
    const get = (context, token) => fetch(url(context), { headers: { authorization: `Bearer ${token}` } });
    const answer = await get('sec', 'all');
    const { tools: listed } = await answer.json();
    const one = listed.find((tool) => tool.name === 'all_test_simple_text');
    assert.deepEqual(Object.keys(one), ['name', 'description', 'inputSchema']);
    assert.match(one.description, /Ask for revenue/);
    assert.ok(listed.some((tool) => tool.name === 'bank_pin_authentication'));
    assert.equal((await get('custom', 'few')).status, 404);
    assert.equal((await get('sec', 'nobody')).status, 401);
  });
});

// CTX-06, CTX-13
test(`CTX-06 two clients in two contexts list ${LISTS} times while manifests are reloaded: nothing is mixed, nothing grows`, { timeout: 280_000 }, async (context) => {
  const own = stopAfter(context);
  const everything = own(await startServer('everything-server', ['--port', '0']));
  const manifests = (round) => ({
    contexts: { one: { schemas: ['s'] }, two: { schemas: ['t'] } },
    schemas: { s: { guidance: `Guidance one, ${round % 2}.` }, t: { guidance: `Guidance two, ${round % 2}.` } }
  });
  const gateway = own(await startGateway({ upstreams: [{ name: 'all', url: everything.url }], ...manifests(0) }));
  const agent = new Agent({ keepAlive: true });
  own({ stop: () => agent.destroy() });
  let running = 2;
  const list = async (name, times) => {
    const seen = new Set();
    for (let i = 0; i < times; ++i) {
      const { tools } = (await ask(agent, `${gateway.url}/${name}`, 'tools/list')).result;
      const tails = new Set(tools.map((tool) => tool.description.slice(tool.description.indexOf('Guidance'))));
      assert.equal(tails.size, 1, [...tails].join(' and '));
      for (const tail of tails) seen.add(tail);
    }
    for (const tail of seen) assert.match(tail, new RegExp(`^Guidance ${name}, [01]\\.$`));
    return seen;
  };
  const reload = async () => {
    const taken = () => gateway.log().split('the new configuration is in use').length;
    for (let round = 1; running > 0; ++round) {
      const before = taken();
      gateway.reconfigure(manifests(round));
      await eventually('it is taken over', () => taken() > before);
    }
  };
  const listAll = async (times) => {
    running = 2;
    const [one, two] = await Promise.all([...['one', 'two'].map((name) => list(name, times).finally(() => --running)), reload()]);
    return [one, two];
  };
  await listAll(LISTS / 10);
  const before = residentKib(gateway.pid);
  const seen = await listAll(LISTS);
  const after = residentKib(gateway.pid);
  context.diagnostic(`resident: ${before} KiB before, ${after} KiB after`);
  for (const texts of seen) assert.equal(texts.size, 2, 'both manifests were seen');
  assert.ok(after < before * 1.1, `${after} KiB after ${before} KiB`);
});

test('CTX-15 no context is named in the code', () => {
  const sources = readdirSync(join(root, 'src'), { recursive: true }).filter((name) => /\.(cpp|hpp)$/.test(name));
  for (const name of sources) {
    const text = readFileSync(join(root, 'src', name), 'utf8');
    assert.doesNotMatch(text, /\b(sec|sec_historical|roboledger)\b/, name);
  }
});
