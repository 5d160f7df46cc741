// Clients of 2024-11-05 over each transport, and newer ones over the transport of that revision.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { makeFolder } from './support/children.mjs';
import { CLIENTS, OLD_CLIENT, Session, textOf } from './support/clients.mjs';
import { configuration, startGateway } from './support/gateway.mjs';
import { eventually, program, startServer } from './support/programs.mjs';
import { runningPrograms, stopAfter } from './support/programs_of_suite.mjs';

const ADA = 'token-of-ada';
const EVE = 'token-of-eve';

describe('clients of 2024-11-05', () => {
  let gateway;
  let stdio;
  runningPrograms(async (programs) => {
    const server = await startServer('everything-server', ['--port', '0', '--era', 'both']);
    programs.push(server);
    const settings = {
      upstreams: [{ name: 'all', url: server.url, prefix: '' }],
      contexts: { small: { include: ['test_simple_text'] } },
      tokens: [
        { name: 'ada', token_env: 'ADA_TOKEN' },
        { name: 'eve', token_env: 'EVE_TOKEN' }
      ],
      auth: { anonymous: 'never' },
      server: { old_sse: true }
    };
    gateway = await startGateway({ ...settings, env: { ADA_TOKEN: ADA, EVE_TOKEN: EVE } });
    programs.push(gateway);
    const folder = makeFolder();
    writeFileSync(join(folder, 'proteus.toml'), configuration({ upstreams: settings.upstreams }));
    stdio = { command: program('proteus'), args: ['stdio', '--config', join(folder, 'proteus.toml'), '--data', join(folder, 'data')] };
  });
  const sse = (context = '') => gateway.url.replace(/\/mcp$/, `/sse${context}`);

  async function using(client, target, body) {
    const session = await Session.open(client, target);
    try {
      return await body(session);
    } finally {
      await session.close();
    }
  }

  async function works(session) {
    assert.ok((await session.toolNames()).includes('test_simple_text'));
    assert.ok((await session.promptNames()).length > 0);
    assert.match(textOf(await session.call('test_simple_text')), /simple text/);
    const seen = [];
    await session.call('test_tool_with_progress', {}, { onprogress: (update) => seen.push(update.progress) });
    assert.deepEqual(seen.slice(0, 2), [0, 50]);
    session.answer('sampling/createMessage', () => ({
      role: 'assistant',
      model: 'a-model',
      content: { type: 'text', text: 'Paris it is' }
    }));
    assert.match(textOf(await session.call('test_sampling', { prompt: 'Which city?' })), /Paris it is/);
    await assert.rejects(session.call('no_such_tool'), (error) => error.code === -32602);
    const changes = session.notifications('notifications/tools/list_changed');
    await session.call('test_trigger_tool_change');
    await changes.next();
  }

  const TRANSPORTS = [
    { name: 'Streamable HTTP', target: () => ({ url: gateway.url, token: ADA }) },
    { name: 'stdio', target: () => stdio },
    { name: 'HTTP+SSE', target: () => ({ sse: sse(), token: ADA }) }
  ];
  for (const transport of TRANSPORTS) {
    test(`PRO-22 are answered with it over ${transport.name}, list, call, are asked and hear of changes`, () =>
      using(OLD_CLIENT, transport.target(), async (session) => {
        // The client does not connect to a server that answers with another revision.
        if (transport.name === 'Streamable HTTP') await session.listenForChanges();
        await works(session);
        // The client's schemas do not know audio, and would reject the whole result.
        assert.match(textOf(await session.call('test_audio_content')), /^Audio \(audio\/wav\)/);
      }));
  }

  test('PRO-22 HTTP+SSE serves newer clients, too', () =>
    using(CLIENTS[0], { sse: sse(), token: ADA }, async (session) => {
      assert.equal(session.answerTo(session.lastSent('initialize')).result.protocolVersion, '2025-11-25');
      await works(session);
    }));

  test('PRO-22 HTTP+SSE knows contexts and tokens as the other transports do', async () => {
    await using(OLD_CLIENT, { sse: sse('/small'), token: EVE }, async (session) => {
      assert.deepEqual(await session.toolNames(), ['test_simple_text']);
    });
    await assert.rejects(Session.open(OLD_CLIENT, { sse: sse(), token: 'a-guess' }), /401/);
    await assert.rejects(Session.open(OLD_CLIENT, { sse: sse('/none'), token: ADA }), /404/);
  });

  test('PRO-22 SEC-05 the URL of a stream is of use to nobody else', async () => {
    const stream = await fetch(sse(), { headers: { authorization: `Bearer ${ADA}`, accept: 'text/event-stream' } });
    const reader = stream.body.pipeThrough(new TextDecoderStream()).getReader();
    const [, path] = /^event: endpoint\ndata: (\S+)\n\n/.exec((await reader.read()).value);
    const url = new URL(path, gateway.url);
    const post = (token) =>
      fetch(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
      });
    assert.equal((await post(EVE)).status, 404);
    assert.equal((await post(ADA)).status, 202);
    assert.match((await reader.read()).value, /"id":1,"result":\{\}/);
    await reader.cancel();
    await eventually('the stream is gone', async () => (await post(ADA)).status === 404);
  });
});

test('PRO-22 HTTP+SSE is off unless it is switched on, and says so', async (context) => {
  const own = stopAfter(context);
  const gateway = own(await startGateway({}));
  const answer = await fetch(gateway.url.replace(/\/mcp$/, '/sse'));
  assert.equal(answer.status, 404);
  assert.match(await answer.text(), /old_sse/);
});
