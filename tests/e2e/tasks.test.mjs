// Tasks of 2025-11-25, with the official client and the reference server, and with two servers that use the same ids.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { CallToolResultSchema, ResultSchema } from '@modelcontextprotocol/sdk/types.js';

import { CLIENTS, OLD_CLIENT, Session, textOf } from './support/clients.mjs';
import { startGateway } from './support/gateway.mjs';
import { eventually, startScript } from './support/programs.mjs';
import { runningPrograms, stopAfter } from './support/programs_of_suite.mjs';

const [V1, , MODERN] = CLIENTS;
const EVERYTHING = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'));
const ANNOUNCE_PORT = import.meta.resolve('./support/announce_port.mjs');
const RELATED = 'io.modelcontextprotocol/related-task';
const TOKENS = { ADA_TOKEN: 'of-ada-and-nobody-else', BOB_TOKEN: 'of-bob-and-nobody-else' };

const TOOL = (support) => ({ name: support, inputSchema: { type: 'object' }, execution: { taskSupport: support } });

/** A legacy server that numbers its tasks from 1 and gives any client access to them. A task has its result at once. */
class CountingServer {
  static async start(name, { tasks = true } = {}) {
    const server = new this(name, tasks);
    await new Promise((listening) => server.http.listen(0, '127.0.0.1', listening));
    server.url = `http://127.0.0.1:${server.http.address().port}/mcp`;
    return server;
  }

  constructor(name, tasks) {
    this.name = name;
    this.tasks = new Map();
    this.capabilities = tasks ? { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } } : { tools: {} };
    this.http = createServer(async (request, response) => {
      let body = '';
      for await (const piece of request) body += piece;
      const message = JSON.parse(body || '{}');
      if (request.method !== 'POST') return response.writeHead(405).end();
      if (message.id === undefined) return response.writeHead(202).end();
      response.setHeader('content-type', 'application/json');
      if (message.method === 'initialize') response.setHeader('mcp-session-id', `${Math.random()}`);
      response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...this.answer(message) }));
    });
  }

  answer({ method, params }) {
    const info = { name: this.name, version: '1' };
    if (method === 'initialize') return { result: { protocolVersion: '2025-11-25', capabilities: this.capabilities, serverInfo: info } };
    if (method === 'tools/list') return { result: { tools: ['required', 'optional'].map(TOOL) } };
    if (method === 'tools/call') return params.task ? { result: { task: this.begin() } } : { result: { content: [{ type: 'text', text: 'at once' }] } };
    const task = this.tasks.get(params?.taskId);
    if (method?.startsWith('tasks/') && !task) return { error: { code: -32602, message: 'Task not found' } };
    if (method === 'tasks/get') return { result: task };
    if (method === 'tasks/cancel') return { result: Object.assign(task, { status: 'cancelled' }) };
    if (method === 'tasks/result') return { result: { content: [{ type: 'text', text: `task ${task.taskId} of ${this.name}` }], _meta: { [RELATED]: { taskId: task.taskId } } } };
    return { error: { code: -32601, message: `there is no ${method}` } };
  }

  begin() {
    const now = new Date().toISOString();
    const task = { taskId: `${this.tasks.size + 1}`, status: 'working', createdAt: now, lastUpdatedAt: now, ttl: 60_000, pollInterval: 5 };
    this.tasks.set(task.taskId, task);
    return task;
  }

  async stop() {
    this.http.closeAllConnections();
    await new Promise((closed) => this.http.close(closed));
  }
}

/** Begins a task and returns its id. */
async function begin(session, name) {
  const { task } = await session.client.request({ method: 'tools/call', params: { name, arguments: {}, task: { ttl: 60_000 } } }, ResultSchema);
  return task.taskId;
}

describe('TSK-01 tasks of two upstreams that give the same ids', () => {
  let gateway;
  let first;
  runningPrograms(async (programs) => {
    first = await CountingServer.start('first');
    programs.push(first);
    const second = await CountingServer.start('second');
    programs.push(second);
    const taskless = await CountingServer.start('taskless', { tasks: false });
    programs.push(taskless);
    gateway = await startGateway({
      upstreams: [
        { name: 'first', url: first.url, era: 'legacy' },
        { name: 'second', url: second.url, era: 'legacy' },
        { name: 'taskless', url: taskless.url, era: 'legacy' }
      ],
      tokens: [
        { name: 'ada', token_env: 'ADA_TOKEN' },
        { name: 'bob', token_env: 'BOB_TOKEN' }
      ],
      env: { ...TOKENS, PROTEUS_ADMIN_SECRET: 'of the operator' }
    });
    programs.push(gateway);
  });
  const open = (client, token) => Session.open(client, { url: gateway.url, token });

  test('each goes to the upstream that runs it', async () => {
    const ada = await open(V1, TOKENS.ADA_TOKEN);
    const ids = [await begin(ada, 'first_required'), await begin(ada, 'second_required')];
    assert.equal(new Set(ids).size, 2);
    const tasks = ada.client.experimental.tasks;
    assert.equal((await tasks.getTask(ids[1])).taskId, ids[1]);
    const result = await tasks.getTaskResult(ids[1], CallToolResultSchema);
    assert.equal(textOf(result), 'task 1 of second');
    assert.equal(result._meta[RELATED].taskId, ids[1]);
    assert.deepEqual((await tasks.listTasks()).tasks.map(({ taskId }) => taskId), ids);
    assert.equal((await tasks.cancelTask(ids[0])).status, 'cancelled');
    await ada.close();
  });

  test('a caller cannot reach the task of another', async () => {
    const ada = await open(V1, TOKENS.ADA_TOKEN);
    const bob = await open(V1, TOKENS.BOB_TOKEN);
    const id = await begin(ada, 'first_required');
    const tasks = bob.client.experimental.tasks;
    await assert.rejects(tasks.getTask(id), /Task not found/);
    await assert.rejects(tasks.getTaskResult(id, CallToolResultSchema), /Task not found/);
    await assert.rejects(tasks.cancelTask(id), /Task not found/);
    await assert.rejects(tasks.getTask(`${first.tasks.size}`), /Task not found/);
    assert.deepEqual((await tasks.listTasks()).tasks, []);
    assert.equal(first.tasks.get(`${first.tasks.size}`).status, 'working');
    await ada.close();
    await bob.close();
  });

  test('a tool that needs them is listed where both sides have them', async () => {
    const expected = ['first_optional', 'first_required', 'second_optional', 'second_required', 'taskless_optional'];
    for (const [client, names] of [
      [V1, expected],
      [MODERN, expected.filter((name) => !name.endsWith('required'))],
      [OLD_CLIENT, expected.filter((name) => !name.endsWith('required'))]
    ]) {
      const session = await open(client, TOKENS.ADA_TOKEN);
      assert.deepEqual(await session.toolNames(), names, client.name);
      assert.equal(textOf(await session.call('first_optional')), 'at once', client.name);
      await session.close();
    }
    const shown = await fetch(gateway.url.replace('/mcp', '/admin/upstreams/taskless'), { headers: { 'x-admin-secret': 'of the operator' } });
    const { omissions } = await shown.json();
    assert.match(omissions.find(({ name }) => name === 'required').reason, /only as a task/);
  });
});

test('TSK-01 the reference server runs a task that asks, over HTTP and as a program', async (context) => {
  const own = stopAfter(context);
  const server = own(await startScript('server-everything', ['--import', ANNOUNCE_PORT, EVERYTHING, 'streamableHttp'], { env: { PORT: '0' } }));
  const gateway = own(await startGateway({
    upstreams: [
      { name: 'http', url: server.url },
      { name: 'stdio', command: [process.execPath, EVERYTHING, 'stdio'] }
    ]
  }));
  for (const upstream of ['http', 'stdio']) {
    const session = await Session.open(V1, { url: gateway.url });
    const asked = [];
    session.answer('elicitation/create', (params) => {
      asked.push(params);
      return { action: 'accept', content: { interpretation: 'snake' } };
    });
    const name = `${upstream}_simulate-research-query`;
    await eventually('the tool is listed', async () => (await session.toolNames()).includes(name));
    const seen = [];
    for await (const message of session.client.experimental.tasks.callToolStream({ name, arguments: { topic: 'python', ambiguous: true } })) seen.push(message);
    const { task } = seen.find(({ type }) => type === 'taskCreated');
    const last = seen.at(-1);
    assert.equal(last.type, 'result', JSON.stringify(last));
    assert.match(textOf(last.result), /python \(snake\)/);
    assert.equal(asked.length, 1);
    assert.equal(asked[0]._meta[RELATED].taskId, task.taskId);
    await session.close();
  }
});
