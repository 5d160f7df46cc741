// Agents that search for tools instead of listing them: the official clients with a scripted agent, and third-party
// servers of both eras.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { makeFolder } from './support/children.mjs';
import { CLIENTS, Session, textOf } from './support/clients.mjs';
import { FOREIGN_SERVERS } from './support/foreign_servers.mjs';
import { startGateway } from './support/gateway.mjs';
import { eventually, program, root, stopAll } from './support/programs.mjs';
import { runningPrograms, stopAfter } from './support/programs_of_suite.mjs';
import { Caller, SECRET, startBackend } from './support/sessions.mjs';

const TOKEN = 'the-token-of-the-agent';
const SEARCH = ['call_read_tool', 'call_tool', 'describe_tool', 'search_tools'];

/** Does what a model would: searches for each step, reads the description of a hit, and calls it. */
class Agent {
  constructor(session) {
    this.session = session;
  }

  async find(query, limit = 10) {
    const result = await this.session.call('search_tools', { query, limit });
    assert.ok(!result.isError, textOf(result));
    return result.structuredContent.tools;
  }

  async perform({ query, name, args = {}, options }) {
    const hits = await this.find(query);
    const hit = hits.find((one) => one.name === name);
    assert.ok(hit, `${name} is not among ${hits.map((one) => one.name)}`);
    assert.ok(hit.signature.startsWith(`${name}(`), hit.signature);
    const { tools } = (await this.session.call('describe_tool', { names: [name] })).structuredContent;
    assert.deepEqual(tools.map((tool) => tool.name), [name]);
    for (const required of tools[0].inputSchema.required ?? []) assert.match(hit.signature, new RegExp(`[( ]${required}: `));
    return this.session.call('call_tool', { name, arguments: args }, options);
  }
}

/** Returns words that an agent might search for. */
const wordsOf = (name) => name.replace(/^trigger-/, '').replaceAll(/[-_]/g, ' ');

describe('an agent that searches', { concurrency: 3 }, () => {
  for (const server of FOREIGN_SERVERS.filter(({ briefly }) => !briefly)) {
    for (const client of CLIENTS) describe(`${client.name} to ${server.name}`, { concurrency: 1 }, () => pair(client, server));
  }
});

function pair(client, server) {
  let gateway;
  let started;
  runningPrograms(async (programs) => {
    started = await server.start(programs);
    gateway = await startGateway({
      upstreams: [{ name: 'foreign', prefix: '', ...started.upstream, tools: [{ match: [server.echo.name], confirm: 'always' }] }],
      tokens: [
        { name: 'agent', token_env: 'AGENT_TOKEN', disclosure: 'search' },
        { name: 'other', token_env: 'OTHER_TOKEN' }
      ],
      contexts: { found: { disclosure: 'search', always: [server.progress.name] } },
      env: { AGENT_TOKEN: TOKEN, OTHER_TOKEN: `${TOKEN}-2` }
    });
    programs.push(gateway);
  });

  const it = (name, body, target = () => ({ url: gateway.url, token: TOKEN })) =>
    test(name, async (context) => {
      const own = stopAfter(context);
      const session = own(await Session.open(client, target()));
      session.answer('roots/list', () => ({ roots: [] }));
      await body(new Agent(session), session);
    });

  it('SRC-01 is listed what it takes to search, and told how', async (_, session) => {
    assert.deepEqual(await session.toolNames(), SEARCH);
    assert.match(session.client.getInstructions(), /search_tools/);
    assert.ok((await session.promptNames()).includes(server.prompt.name), 'prompts are listed as ever');
  });

  it(
    'SRC-01 a context lists what it always lists',
    async (_, session) => assert.deepEqual(await session.toolNames(), [...SEARCH, server.progress.name].sort()),
    () => ({ url: `${gateway.url}/found`, token: `${TOKEN}-2` })
  );

  it('SRC-04 a call is confirmed by the user first', async (agent, session) => {
    const messages = [];
    session.answer('elicitation/create', ({ message }) => {
      messages.push(message);
      return { action: 'accept', content: { confirmed: true } };
    });
    const { name, arguments: args, text } = server.echo;
    assert.equal(textOf(await agent.perform({ query: wordsOf(name), name, args })), text);
    assert.equal(messages.length, 1);
    assert.match(messages[0], new RegExp(name));
    session.answer('elicitation/create', () => ({ action: 'decline' }));
    assert.match(textOf(await session.call('call_tool', { name, arguments: args })), /cancelled by user/);
  });

  it('SRC-04 progress arrives before the answer', async (agent, session) => {
    const { name, arguments: args, text } = server.progress;
    assert.match(textOf(await agent.perform({ query: wordsOf(name), name, args, options: { onprogress: () => {} } })), text);
    const updates = session.received.filter((message) => message.method === 'notifications/progress');
    assert.deepEqual(updates.map(({ params }) => [params.progress, params.total]), [[1, 3], [2, 3], [3, 3]]);
  });

  it('SRC-04 a call in flight that is cancelled is never answered, and the server is told', async (_, session) => {
    const before = started.cancelled?.();
    const abort = new AbortController();
    const { name, arguments: args, after = 1 } = server.endless;
    let heard = 0;
    const onprogress = () => ++heard === after && abort.abort(new Error('changed my mind'));
    const call = session.call('call_tool', { name, arguments: args }, { signal: abort.signal, onprogress });
    await assert.rejects(call, /changed my mind/);
    const cancelled = session.lastSent('tools/call');
    if (started.cancelled) await eventually('the server is told', () => started.cancelled() === before + 1);
    assert.deepEqual(await session.toolNames(), SEARCH, 'the connection goes on');
    assert.equal(session.answerTo(cancelled), undefined);
  });

  it('SRC-04 an elicitation in the middle of it is answered', async (agent, session) => {
    const { name, accepted } = server.elicitation;
    let asked = 0;
    session.answer('elicitation/create', () => {
      asked += 1;
      return { action: 'accept', content: { name: 'Ada' } };
    });
    assert.match(textOf(await agent.perform({ query: wordsOf(name), name })), accepted);
    assert.equal(asked, 1);
  });

  it('SRC-04 a sampling request in the middle of it is answered', async (agent, session) => {
    session.answer('sampling/createMessage', () => ({ role: 'assistant', model: 'a-model', content: { type: 'text', text: 'Paris it is' } }));
    const { name, arguments: args } = server.sampling;
    assert.match(textOf(await agent.perform({ query: wordsOf(name), name, args })), /Paris it is/);
  });

  it('SRC-04 a tool that does not declare to read is not called as one that does', async (_, session) => {
    const result = await session.call('call_read_tool', { name: server.elicitation.name, arguments: {} });
    assert.equal(result.isError, true);
    assert.match(textOf(result), /readOnlyHint/);
  });

  it('SRC-05 what is not listed can be called by its name', async (_, session) => {
    const { name, arguments: args, text } = server.progress;
    assert.match(textOf(await session.call(name, args)), text);
  });

  it('SRC-09 mistakes are answered with what to do', async (_, session) => {
    const mistyped = `${server.progress.name}s`;
    const result = await session.call('call_tool', { name: mistyped, arguments: {} });
    assert.equal(result.isError, true);
    assert.ok(textOf(result).includes(server.progress.name), textOf(result));
    for (const args of [{}, { query: '' }, { query: 'x'.repeat(1 << 20) }, { query: 1 }]) {
      assert.equal((await session.call('search_tools', args)).isError, true);
    }
    const names = Array.from({ length: 1000 }, (_, i) => `tool_${i}`);
    assert.equal((await session.call('describe_tool', { names })).isError, true);
    for (const query of ['文件', 'ملف', '📁', '\u0000\u001b[31m', 'the of and', '{"query":1}']) {
      assert.ok((await session.call('search_tools', { query })).content.length > 0, query);
    }
  });

  it(
    'SRC-01 whoever does not search lists everything',
    async (_, session) => {
      const names = await session.toolNames();
      for (const name of server.tools) assert.ok(names.includes(name), name);
      for (const name of SEARCH) assert.ok(!names.includes(name), name);
    },
    () => ({ url: gateway.url, token: `${TOKEN}-2` })
  );
}

test('SRC-02 an operator sees what a caller finds', async (context) => {
  const programs = [];
  context.after(() => stopAll(programs));
  const started = await FOREIGN_SERVERS[0].start(programs);
  const gateway = await startGateway({
    upstreams: [{ name: 'foreign', prefix: '', ...started.upstream }],
    tokens: [
      { name: 'agent', token_env: 'AGENT_TOKEN', disclosure: 'search' },
      { name: 'clerk', token_env: 'CLERK_TOKEN', deny: ['echo'] }
    ],
    env: { AGENT_TOKEN: TOKEN, CLERK_TOKEN: `${TOKEN}-2`, PROTEUS_ADMIN_SECRET: 'the-admin-secret' }
  });
  programs.push(gateway);
  const find = async (query) => {
    const url = new URL('/admin/search', gateway.url);
    url.search = new URLSearchParams(query);
    const response = await fetch(url, { headers: { 'x-admin-secret': 'the-admin-secret' } });
    return { status: response.status, ...(await response.json()) };
  };
  const names = ({ tools }) => tools.map((tool) => tool.name);
  assert.ok(names(await find({ q: 'echo a message', as: 'agent' })).includes('echo'));
  assert.ok(!names(await find({ q: 'echo a message', as: 'clerk' })).includes('echo'));
  assert.ok((await find({ q: 'echo' })).tools[0].score > 0);
  assert.equal((await find({ q: 'echo', as: 'nobody' })).status, 404);
  assert.equal((await find({ as: 'agent' })).status, 400);
});

for (const client of CLIENTS) {
  test(`SRC-02 ${client.name} finds the tools of its own session, and of no other`, async (context) => {
    const own = stopAfter(context);
    const backend = own(await startBackend());
    const gateway = own(await startGateway({ upstreams: [], contexts: { found: { disclosure: 'search' } }, env: { PROTEUS_ADMIN_SECRET: SECRET } }));
    const caller = own(new Caller(gateway.url.replace('/mcp', '')));
    for (const [id, thing] of [['one', 'kite'], ['two', 'boat']]) {
      assert.equal((await caller.admin('/admin/session/init', { session_id: id, user_token: `token-${id}`, user_id: 1, context: 'found' })).status, 200);
      const tool = { name: `build_${thing}`, description: `Builds a ${thing}`, url: backend.url(), inputSchema: { type: 'object', properties: { size: { type: 'integer' } } } };
      assert.equal((await caller.admin('/admin/tools/register', { session_id: id, tools: [tool] })).status, 200);
    }
    const session = own(await Session.open(client, { url: gateway.url, token: 'token-one' }));
    assert.deepEqual(await session.toolNames(), SEARCH);
    const agent = new Agent(session);
    assert.deepEqual((await agent.find('build something')).map((hit) => hit.name), ['build_kite']);
    assert.deepEqual(await agent.find('boat'), []);
    const result = await agent.perform({ query: 'kite', name: 'build_kite', args: { size: 3 } });
    assert.equal(result.structuredContent.size, 3);
    assert.equal((await session.call('call_tool', { name: 'build_kite', arguments: { size: 'x' } })).isError, true);
    assert.equal((await session.call('call_tool', { name: 'build_boat', arguments: {} })).isError, true);
  });
}

test('SRC-12 datasets are found by what they are about', async (context) => {
  const own = stopAfter(context);
  const folder = makeFolder();
  const quickstart = join(root, 'examples/quickstart');
  const file = join(folder, 'company.db');
  const env = { PROTEUS_MAPPINGS: join(folder, 'mappings'), PROTEUS_PEPPER: 'the pepper of this test', ACME_DSN: `sqlite://${file}` };
  execFileSync('python3', [join(quickstart, 'company.py'), '--out', file]);
  const owner = ['--by', 'owner', '--ontology', join(quickstart, 'ontology.toml')];
  execFileSync(program('proteus'), ['dataset', 'ratify', join(quickstart, 'acme.toml'), ...owner], { env: { ...process.env, ...env } });
  const gateway = own(await startGateway({ upstreams: [], contexts: { found: { disclosure: 'search' } }, env }));
  const session = own(await Session.open(CLIENTS[2], { url: `${gateway.url}/found` }));
  const agent = new Agent(session);
  const names = async (query) => (await agent.find(query)).map((hit) => hit.name);
  assert.ok((await names('which datasets are there')).includes('list_datasets'));
  assert.ok((await names('look up a project')).includes('workup'));
  assert.equal((await session.call('call_tool', { name: 'connect_dataset', arguments: { name: 'acme' } })).structuredContent.tool, 'workup_acme');
  assert.ok((await names('project')).includes('workup_acme'), 'from the next search on');
  const found = await session.call('call_read_tool', { name: 'workup_acme', arguments: { entity: 'Amber Anchor' } });
  assert.equal(found.structuredContent.status, 'found');
});
