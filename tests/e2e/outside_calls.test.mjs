// Notifications and requests of legacy servers outside of a call's own stream, and notifications of clients to them.
import assert from 'node:assert/strict';
import { realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { makeFolder } from './support/children.mjs';
import { CLIENTS, Session, textOf } from './support/clients.mjs';
import { configuration, startGateway } from './support/gateway.mjs';
import { eventually, program, root, startScript } from './support/programs.mjs';
import { runningPrograms, stopAfter } from './support/programs_of_suite.mjs';
import { events, send } from './support/raw.mjs';

const TALKER = join(root, 'tests/e2e/servers/talker.mjs');
const EVERYTHING = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'));
const FILESYSTEM = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-filesystem/dist/index.js'));
const FASTMCP = join(root, 'tests/e2e/servers/fastmcp_logger.mjs');
const PROJECT = { roots: [{ uri: 'file:///srv/project', name: 'project' }] };
const [v1Legacy, , v2Modern] = CLIENTS;

const log = (data, level = 'warning') => ({ method: 'notifications/message', params: { level, data } });
const custom = (data) => ({ method: 'notifications/of/nobody', params: { data } });

/** Runs `body` with a connected session, which answers requests for roots at any time. */
async function using(client, gateway, body, { token, roots = () => PROJECT } = {}) {
  const session = new Session(client.sdk, client.era, { url: gateway.url, token });
  session.answer('roots/list', roots);
  try {
    await session.client.connect(session.transport);
    await session.standingStream;
    return await body(session);
  } finally {
    await session.close();
  }
}

/** Returns the data of the notifications of `method` that have arrived. */
const arrived = (session, method) => session.received.filter((message) => message.method === method).map(({ params }) => params.data);

const logLevel = (client, level = 'debug') => (client.era === 'modern' ? { _meta: { 'io.modelcontextprotocol/logLevel': level } } : {});
const report = async (session) => JSON.parse(textOf(await session.call('talker_report')));

for (const transport of ['stdio', 'http']) {
  for (const client of [v1Legacy, v2Modern]) {
    describe(`${client.name} to a legacy server over ${transport}`, () => {
      const token = 'a-token-of-ada-0123456789abcdef';
      let gateway;
      runningPrograms(async (programs) => {
        const upstream = { name: 'talker' };
        if (transport === 'stdio') {
          upstream.command = [process.execPath, TALKER, 'stdio'];
        } else {
          const server = await startScript('talker', [TALKER, 'http']);
          programs.push(server);
          upstream.url = server.url;
        }
        gateway = await startGateway({ upstreams: [upstream], tokens: [{ name: 'ada', token_env: 'ADA' }], env: { ADA: token }, server: { threads: 1 } });
        programs.push(gateway);
      });
      const it = (name, body) => test(name, () => using(client, gateway, body, { token }));
      const call = (session, name, messages, options) =>
        session.callWith({ name: `talker_${name}`, arguments: { messages }, ...logLevel(client) }, options);

      for (const where of ['inside', 'beside']) {
        it(`PRO-21 log messages and unknown notifications sent ${where} a call arrive, in order`, async (session) => {
          if (client.era === 'legacy') await session.client.setLoggingLevel('debug');
          await call(session, where, [log('first'), custom('second'), log('third', 'debug')]);
          await eventually('the log', () => arrived(session, 'notifications/message').length === 2);
          assert.deepEqual(arrived(session, 'notifications/message'), ['first', 'third']);
          await eventually('the other', () => arrived(session, 'notifications/of/nobody').length === 1);
        });

        it(`PRO-21 BRG-09 log messages sent ${where} a call are of the level that is wanted`, async (session) => {
          if (client.era === 'legacy') await session.client.setLoggingLevel('warning');
          const messages = [log('too much', 'info'), log('enough', 'warning'), custom('end')];
          await session.callWith({ name: `talker_${where}`, arguments: { messages }, ...logLevel(client, 'warning') });
          await eventually('the end', () => arrived(session, 'notifications/of/nobody').length === 1);
          assert.deepEqual(arrived(session, 'notifications/message'), ['enough']);
        });
      }

      it('PRO-08 progress arrives at its call', async (session) => {
        const seen = [];
        await call(session, 'inside', [], { onprogress: ({ progress }) => seen.push(progress) });
        assert.deepEqual(seen, [1]);
      });

      it('BRG-13 a call finds the roots of its client, also the first one', async (session) => {
        const [first, second] = await Promise.all([report(session), report(session)]);
        // Over HTTP, a request that the server sends before it has a stream is lost.
        if (transport === 'stdio') assert.deepEqual([first.roots, second.roots], [PROJECT.roots, PROJECT.roots]);
        await call(session, 'ask_later', [{ method: 'roots/list' }]);
        await eventually('the answer', async () => (await report(session)).answers['roots/list'] !== undefined);
        assert.deepEqual((await report(session)).answers['roots/list'].roots, PROJECT.roots);
      });

      it('PRO-08 a ping outside of calls is answered', async (session) => {
        await call(session, 'ask_later', [{ method: 'ping' }]);
        await eventually('the answer', async () => (await report(session)).answers.ping !== undefined);
        assert.deepEqual((await report(session)).answers.ping, {});
      });

      // Over HTTP, a modern client that does not listen has no stream at the upstream for such a request.
      if (transport === 'stdio') {
        it('PRO-08 BRG-01 a question that may be of either of two calls is answered, also when the other one ends first', async (session) => {
          const again = Promise.withResolvers();
          let asked = 0;
          let accompanying;
          // If the question went with the call that ends first, the client is asked again.
          session.answer('elicitation/create', async () => {
            if (++asked === 1) await Promise.race([again.promise, accompanying]);
            else again.resolve();
            return { action: 'accept', content: { name: 'Ada' } };
          });
          const form = { message: 'Name?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } };
          const asking = call(session, 'ask', [{ method: 'elicitation/create', params: form }]);
          accompanying = call(session, 'accompany', []);
          const [answer] = await Promise.all([asking, accompanying]);
          assert.deepEqual(JSON.parse(textOf(answer)).content, { name: 'Ada' });
        });
      }

      // Without a session, only a call can reach the client.
      if (client.era === 'modern') return;

      it('BRG-04 progress of a client on what it is asked reaches the server that asked', async (session) => {
        const answer = { role: 'assistant', model: 'none', content: { type: 'text', text: 'at last' } };
        session.answer('sampling/createMessage', async ({ _meta: { progressToken } }) => {
          await session.client.notification({ method: 'notifications/progress', params: { progressToken, progress: 7 } });
          await eventually('the server heard it', () => arrived(session, 'notifications/of/nobody').length === 1);
          return answer;
        });
        assert.deepEqual(JSON.parse(textOf(await call(session, 'sample', []))), answer);
        assert.deepEqual(arrived(session, 'notifications/of/nobody'), [7]);
      });

      it('PRO-21 what is sent when no call runs arrives on the standing stream, by the level of the session', async (session) => {
        await call(session, 'later', [log('too much', 'debug'), log('enough'), custom('other')]);
        await eventually('both', () => session.received.some(({ method }) => method === 'notifications/of/nobody'));
        assert.deepEqual(arrived(session, 'notifications/message'), ['enough']);
        assert.deepEqual(arrived(session, 'notifications/of/nobody'), ['other']);
      });

      for (const where of ['inside', 'beside', 'later']) {
        it(`PRO-08 the end of an elicitation by URL arrives, sent ${where} a call`, async (session) => {
          await call(session, where, [{ method: 'notifications/elicitation/complete', params: { elicitationId: 'e', data: 'done' } }]);
          await eventually('it', () => arrived(session, 'notifications/elicitation/complete').length === 1);
        });
      }

      it('PRO-09 a question outside of calls that the server takes back is taken back at the client', async (session) => {
        let asked = 0;
        session.answer('elicitation/create', () => (++asked, new Promise(() => {})));
        const form = { message: 'Name?', requestedSchema: { type: 'object', properties: {} } };
        await call(session, 'ask_later', [{ method: 'elicitation/create', params: form }]);
        await eventually('the question', () => asked === 1);
        await call(session, 'take_back', []);
        const question = session.received.find(({ method }) => method === 'elicitation/create');
        await eventually('that', () =>
          session.received.some(({ method, params }) => method === 'notifications/cancelled' && params.requestId === question.id)
        );
      });

      it('PRO-08 sampling and elicitation outside of calls are asked of the client', async (session) => {
        let asked = 0;
        const answering = (method, answer) => session.answer(method, () => (++asked, answer));
        answering('sampling/createMessage', { role: 'assistant', model: 'm', content: { type: 'text', text: 'Hello!' } });
        answering('elicitation/create', { action: 'decline' });
        const params = { messages: [{ role: 'user', content: { type: 'text', text: 'Hello?' } }], maxTokens: 9 };
        const form = { message: 'Name?', requestedSchema: { type: 'object', properties: {} } };
        const questions = [
          { method: 'sampling/createMessage', params },
          { method: 'elicitation/create', params: form }
        ];
        await call(session, 'ask_later', questions);
        // Waits first: a call that runs at that time would count as the cause of the questions.
        await eventually('the questions', () => asked === 2);
        await eventually('the answers', async () => Object.keys((await report(session)).answers).length === 2);
        const { answers } = await report(session);
        assert.equal(answers['sampling/createMessage'].content.text, 'Hello!');
        assert.equal(answers['elicitation/create'].action, 'decline');
      });

      it('BRG-13 the server is told that the roots have changed, and the next call finds them', async (session) => {
        await report(session);
        for (const name of ['other', 'third']) {
          const roots = [{ uri: `file:///srv/${name}` }];
          session.answer('roots/list', () => ({ roots }));
          await session.client.sendRootsListChanged();
          assert.deepEqual((await report(session)).roots, roots);
        }
      });

      it('PRO-08 what the client tells reaches the server in its session, whatever it is', async (session) => {
        await report(session);
        await session.client.notification(custom('from the client'));
        await eventually('it', async () => (await report(session)).heard.length === 1);
        assert.equal((await report(session)).heard[0].params.data, 'from the client');
        await using(client, gateway, async (other) => assert.deepEqual((await report(other)).heard, []), { token });
      });
    });
  }
}

describe('real servers', () => {
  const folders = ['own', 'allowed', 'other'].map((name) => realpathSync(makeFolder(name)));
  const [own, allowed, other] = folders;
  const rootsAt = (folder) => ({ roots: [{ uri: pathToFileURL(folder).href }] });
  let gateway;
  runningPrograms(async (programs) => {
    gateway = await startGateway({
      upstreams: [
        { name: 'files', prefix: '', command: [process.execPath, FILESYSTEM, own] },
        { name: 'everything', prefix: '', command: [process.execPath, EVERYTHING, 'stdio'] },
        { name: 'fast', prefix: '', command: [process.execPath, FASTMCP] }
      ]
    });
    programs.push(gateway);
  });
  const directories = async (session) => textOf(await session.call('list_allowed_directories')).split('\n').slice(1);

  for (const client of CLIENTS) {
    test(`BRG-13 server-filesystem keeps to the roots of a client (${client.name})`, async () => {
      for (let time = 0; time < 3; ++time) {
        await using(client, gateway, async (session) => assert.deepEqual(await directories(session), [allowed]), { roots: () => rootsAt(allowed) });
      }
    });

    test(`PRO-21 what a tool of FastMCP logs arrives (${client.name})`, () =>
      using(client, gateway, async (session) => {
        await session.callWith({ name: 'log_twice', arguments: {}, ...logLevel(client, 'info') });
        await eventually('both', () => arrived(session, 'notifications/message').length === 2);
      }));
  }

  test('BRG-05 a modern client without roots gets what the tool says, also where the session asks for roots', async () => {
    for (let time = 0; time < 2; ++time) {
      const response = await send(gateway.url, 'tools/call', { name: 'read_text_file', arguments: { path: join(own, 'missing') } });
      const { result } = await response.json();
      assert.equal(result?.isError, true);
      assert.match(textOf(result), /ENOENT|not exist/);
    }
  });

  test('BRG-13 server-filesystem follows the roots of a client', () => {
    let roots = rootsAt(allowed);
    return using(
      v1Legacy,
      gateway,
      async (session) => {
        assert.deepEqual(await directories(session), [allowed]);
        roots = rootsAt(other);
        await session.client.sendRootsListChanged();
        assert.deepEqual(await directories(session), [other]);
      },
      { roots: () => roots }
    );
  });

  test('PRO-21 server-everything logs by itself, at the level of the session', () =>
    using(v1Legacy, gateway, async (session) => {
      await session.client.setLoggingLevel('debug');
      await session.call('toggle-simulated-logging');
      await eventually('a message', () => arrived(session, 'notifications/message').length > 0);
      await session.call('toggle-simulated-logging');
    }));
});

test('PRO-21 BRG-13 on standard output arrives what belongs to no call, and roots are asked for', async (context) => {
  const own = stopAfter(context);
  const folder = makeFolder();
  const upstreams = [{ name: 'talker', command: [process.execPath, TALKER, 'stdio'] }];
  writeFileSync(join(folder, 'proteus.toml'), configuration({ upstreams }));
  const args = ['stdio', '--config', join(folder, 'proteus.toml'), '--data', join(folder, 'data')];
  const session = own(await Session.open(v1Legacy, { command: program('proteus'), args }));
  session.answer('roots/list', () => PROJECT);
  await eventually('its tools', async () => (await session.toolNames()).length > 0);
  assert.deepEqual((await report(session)).roots, PROJECT.roots);
  await session.callWith({ name: 'talker_later', arguments: { messages: [log('later'), custom('other')] } });
  await eventually('both', () => arrived(session, 'notifications/of/nobody').length === 1);
  assert.deepEqual(arrived(session, 'notifications/message'), ['later']);
});

/** Opens a legacy session without a standing stream, and returns a function that posts a message to it. */
async function streamless(url) {
  const post = (message, id) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...(id ? { 'mcp-session-id': id } : {}) },
      body: JSON.stringify({ jsonrpc: '2.0', ...message })
    });
  const params = { protocolVersion: '2025-06-18', capabilities: { roots: {} }, clientInfo: { name: 'raw', version: '1' } };
  const opened = await post({ id: 0, method: 'initialize', params });
  const session = opened.headers.get('mcp-session-id');
  await opened.text();
  return (message) => post(message, session);
}

describe('roots that are told late, or not at all', () => {
  let gateway;
  runningPrograms(async (programs) => {
    gateway = await startGateway({ upstreams: [{ name: 'talker', command: [process.execPath, TALKER, 'stdio'], timeout: '3s' }] });
    programs.push(gateway);
  });

  test('BRG-13 a client without a stream is asked on that of its call', async () => {
    const post = await streamless(gateway.url);
    let asked = 0;
    for await (const message of events(await post({ id: 1, method: 'tools/call', params: { name: 'talker_report' } }))) {
      if (message.method === 'roots/list') {
        ++asked;
        await post({ id: message.id, result: PROJECT });
      } else if (message.id === 1) {
        assert.deepEqual(JSON.parse(textOf(message.result)).roots, PROJECT.roots);
      }
    }
    assert.equal(asked, 1);
  });

  test('BRG-13 a call is not sent while the client owes an answer; the next one is asked for it again', async () => {
    let roots = () => new Promise(() => {});
    await using(
      v1Legacy,
      gateway,
      async (session) => {
        await assert.rejects(session.call('talker_report'), (error) => error.code === -32603 && /roots/.test(error.message));
        roots = () => PROJECT;
        assert.deepEqual((await report(session)).roots, PROJECT.roots);
      },
      { roots: () => roots() }
    );
  });

  test('BRG-13 a refusal of the client is an answer', () => {
    const roots = () => {
      throw new Error('none of your business');
    };
    return using(v1Legacy, gateway, async (session) => assert.match((await report(session)).roots, /none of your business/), { roots });
  });
});
