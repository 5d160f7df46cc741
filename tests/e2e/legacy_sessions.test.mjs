// Who shares a session at a legacy upstream, and how long the programs of sessions run.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { CLIENTS, Session, textOf } from './support/clients.mjs';
import { startGateway } from './support/gateway.mjs';
import { root } from './support/programs.mjs';
import { runningPrograms } from './support/programs_of_suite.mjs';
import { ask, send } from './support/raw.mjs';

const FIXTURE = join(root, 'tests/fixtures/stdio_server.py');
const UPSTREAM = { name: 'python', command: ['python3', FIXTURE, '--era', 'legacy'] };

function childrenOf(pid) {
  const threads = readdirSync(`/proc/${pid}/task`);
  const ids = threads.flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' '));
  return ids.filter(Boolean).map(Number);
}

async function until(done) {
  while (!done()) await nextTurn();
}

/** Returns how many calls the program that gave this answer has seen. */
async function callsSeen(answer) {
  const journal = JSON.parse(textOf((await answer).result));
  return journal.filter(({ method }) => method === 'tools/call').length;
}

/** Opens a session, makes a call, and leaves without notice. */
async function abandonedSession(url) {
  const post = (message, headers = {}) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', ...message })
    });
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'gone', version: '1' } };
  const hello = await post({ id: 1, method: 'initialize', params });
  await hello.text();
  const session = { 'mcp-session-id': hello.headers.get('mcp-session-id') };
  const called = await post({ id: 2, method: 'tools/call', params: { name: 'python_echo', arguments: {} } }, session);
  assert.equal(called.status, 200);
  await called.text();
}

describe('sessions at a legacy upstream', () => {
  let gateway;
  runningPrograms(async (programs) => {
    gateway = await startGateway({
      upstreams: [{ ...UPSTREAM, program_idle: '1s' }],
      tokens: [
        { name: 'ada', token_env: 'ADA_TOKEN' },
        { name: 'bob', token_env: 'BOB_TOKEN' }
      ],
      auth: { anonymous: 'always' },
      server: { threads: 3 },
      env: { ADA_TOKEN: 'of-ada-and-nobody-else', BOB_TOKEN: 'of-bob-and-nobody-else' }
    });
    programs.push(gateway);
  });
  const journal = async (token) => {
    // A new connection each time, so that any thread may get the request.
    const response = await send(gateway.url, 'tools/call', { name: 'python_journal', arguments: {} }, { token, headers: { connection: 'close' } });
    return response.json();
  };

  test('BRG-11 the calls of one principal meet in one session, whichever thread they reach', async () => {
    for (let expected = 1; expected <= 8; ++expected) assert.equal(await callsSeen(journal('of-ada-and-nobody-else')), expected);
    assert.equal(await callsSeen(journal('of-bob-and-nobody-else')), 1);
  });

  test('BRG-11 anonymous callers find nothing that another has left', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let i = 0; i < 3; ++i) {
      assert.equal(await callsSeen(ask(agent, gateway.url, 'tools/call', { name: 'python_journal', arguments: {} })), 1);
      assert.equal(await callsSeen(journal()), 1);
    }
    agent.destroy();
  });

  test('SES-26 the programs of clients that are gone end', async () => {
    await Promise.all(Array.from({ length: 12 }, () => abandonedSession(gateway.url)));
    assert.ok(childrenOf(gateway.pid).length > 12);
    await until(() => childrenOf(gateway.pid).length === 1);
  });

  test('SES-26 a client that is there keeps its program', async () => {
    const session = await Session.open(CLIENTS[0], { url: gateway.url });
    await session.call('python_echo');
    await session.listenForChanges();
    await abandonedSession(gateway.url);
    await until(() => childrenOf(gateway.pid).length === 2);
    const seen = JSON.parse(textOf(await session.call('python_journal'))).filter(({ method }) => method === 'tools/call');
    assert.equal(seen.length, 2);
    await session.close();
  });
});

describe('a tool that a call adds in its own session', () => {
  let gateway;
  runningPrograms(async (programs) => {
    gateway = await startGateway({ upstreams: [UPSTREAM] });
    programs.push(gateway);
  });
  for (const client of CLIENTS.filter(({ era }) => era === 'legacy')) {
    test(`BRG-07 ${client.name}: is in the very next list, and can be called`, async () => {
      const session = await Session.open(client, { url: gateway.url });
      await session.listenForChanges();
      await session.call('python_change');
      assert.ok((await session.toolNames()).includes('python_new'));
      assert.match(textOf(await session.call('python_new')), /new/);
      await session.close();
    });
  }
});
