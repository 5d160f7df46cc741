// Which era a client and a server agree on, and what passes between them if their eras differ.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { CLIENTS, DETECTING, Session, textOf } from './support/clients.mjs';
import { FOREIGN_SERVERS } from './support/foreign_servers.mjs';
import { startGateway } from './support/gateway.mjs';
import { eventually, startServer } from './support/programs.mjs';
import { runningPrograms, stopAfter } from './support/programs_of_suite.mjs';

const [v1Legacy, , v2Modern] = CLIENTS;

async function using(client, target, body) {
  const session = await Session.open(client, target);
  try {
    return await body(session);
  } finally {
    await session.close();
  }
}

/**
 * Checks that connecting fails because of the era. A client that connects anyway is closed, so that the test fails
 * instead of hanging.
 */
async function refused(client, target) {
  const why = client.era === 'modern' ? /did not offer pinned protocol version 2026-07-28/ : target.url ? /speaks 2026-07-28 only/ : /Unsupported protocol version: 2025-11-25/;
  await assert.rejects(Session.open(client, target).then((session) => session.close()), why);
}

for (const era of ['legacy', 'modern', 'both']) {
  describe(`a server with --era ${era}`, () => {
    let server;
    before(async () => {
      server = await startServer('everything-server', ['--port', '0', '--era', era]);
    });
    after(() => server?.stop());

    const targets = [
      { name: 'HTTP', id: 'PRO-01', target: () => ({ url: server.url }) },
      { name: 'stdio', id: 'PRO-14', target: () => ({ stdio: ['--era', era] }) }
    ];
    for (const { name, id, target } of targets) {
      test(`${id} a client that detects eras finds it over ${name}`, () =>
        using(DETECTING, target(), async (session) => {
          assert.equal(session.client.getProtocolEra(), era === 'legacy' ? 'legacy' : 'modern');
          assert.match(textOf(await session.call('test_simple_text')), /\S/);
        }));

      if (era === 'modern') {
        test(`a legacy client is refused over ${name}`, () => refused(v1Legacy, target()));
      }
      if (era === 'legacy') {
        test(`a modern client is refused over ${name}`, () => refused(v2Modern, target()));
      }
    }
  });
}

test('PRO-01 one endpoint serves both eras at once, and a change reaches clients of both', async (context) => {
  const own = stopAfter(context);
  const server = own(await startServer('everything-server', ['--port', '0', '--era', 'both']));
  await using(v1Legacy, { url: server.url }, (legacy) =>
    using(v2Modern, { url: server.url }, async (modern) => {
      const seen = [legacy, modern].map((session) => session.notifications('notifications/tools/list_changed'));
      await legacy.listenForChanges();
      await modern.listenForChanges();
      for (const session of [legacy, modern]) {
        const before = await session.toolNames();
        await session.call('test_trigger_tool_change');
        await Promise.all(seen.map((changes) => changes.next()));
        const [asLegacy, asModern] = await Promise.all([legacy.toolNames(), modern.toolNames()]);
        assert.deepEqual(asLegacy, asModern);
        assert.notDeepEqual(asLegacy, before);
      }
    })
  );
});

test('PRO-02 PRO-22 each legacy revision is negotiated, and an unknown one is answered with 2025-11-25', async (context) => {
  const own = stopAfter(context);
  const server = own(await startServer('everything-server', ['--port', '0', '--era', 'both']));
  const revisions = { '2025-11-25': '2025-11-25', '2025-06-18': '2025-06-18', '2025-03-26': '2025-03-26', '2024-11-05': '2024-11-05', '1999-01-01': '2025-11-25' };
  for (const [asked, answered] of Object.entries(revisions)) {
    const response = await fetch(server.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 'an-id',
        method: 'initialize',
        params: { protocolVersion: asked, capabilities: {}, clientInfo: { name: 'raw', version: '1' } }
      })
    });
    assert.equal(response.status, 200);
    assert.match(response.headers.get('mcp-session-id'), /^[\x21-\x7e]+$/);
    const body = await response.text();
    const message = JSON.parse(/^data: ?(\{.*)$/m.exec(body)?.[1] ?? body);
    assert.equal(message.id, 'an-id');
    assert.equal(message.result.protocolVersion, answered);
  }
});

// All pairs of real clients and real servers.
describe('through the gateway', { concurrency: 3 }, () => {
  for (const server of FOREIGN_SERVERS) {
    for (const client of [v1Legacy, v2Modern]) {
      describe(`${client.name} to ${server.name}`, { concurrency: 1 }, () => pair(client, server));
    }
  }
});

const TOKEN = 'the-token-of-the-agent';

function pair(client, server) {
  const crossing = client.era !== server.era;
  const asked = !crossing ? 'PRO-08' : server.era === 'legacy' ? 'BRG-01' : 'BRG-02';
  let gateway;
  let started;
  runningPrograms(async (programs) => {
    started = await server.start(programs);
    // A named principal, so that what a legacy server keeps for a session is kept for this client.
    gateway = await startGateway({
      upstreams: [{ name: 'foreign', prefix: '', ...started.upstream }],
      tokens: [{ name: 'agent', token_env: 'AGENT_TOKEN' }],
      // Long, so that the changes of one call remain one change on a slow machine.
      limits: { debounce: '2s' },
      env: { AGENT_TOKEN: TOKEN }
    });
    programs.push(gateway);
  });

  /** Defines a test with its own session, which answers requests for roots at any time. */
  const it = (name, body) =>
    test(name, () =>
      using(client, { url: gateway.url, token: TOKEN }, (session) => {
        session.answer('roots/list', () => ({ roots: [{ uri: 'file:///srv/project', name: 'project' }] }));
        return body(session);
      })
    );

  /** Returns the requests to the server to run this tool. */
  const runs = (name) => started.sent.filter((message) => message.method === 'tools/call' && message.params.name === name);

  it('BRG-10 it is offered what the server has, and lists it', async (session) => {
    const capabilities = session.client.getServerCapabilities();
    for (const capability of ['tools', 'prompts', 'resources']) assert.ok(capabilities[capability], capability);
    assert.equal(capabilities.resources.subscribe, true);
    const names = await session.toolNames();
    for (const name of server.tools) assert.ok(names.includes(name), name);
    assert.ok((await session.promptNames()).includes(server.prompt.name));
    const { resources } = await session.client.listResources();
    assert.ok(resources.some((resource) => resource.uri === server.resource.uri));
    assert.ok((await session.client.listResourceTemplates()).resourceTemplates.length > 0);
  });

  it("BRG-08 a call is answered in the client's dialect", async (session) => {
    const result = await session.callWith({ name: server.echo.name, arguments: server.echo.arguments });
    assert.equal(textOf(result), server.echo.text);
    const { result: raw } = session.answerTo(session.lastSent('tools/call'));
    assert.equal(raw.resultType, client.era === 'modern' ? 'complete' : undefined);
    await session.client.readResource({ uri: server.resource.uri });
    const { result: read } = session.answerTo(session.lastSent('resources/read'));
    for (const hint of ['ttlMs', 'cacheScope']) assert.equal(hint in read, client.era === 'modern', hint);
  });

  it('BRG-09 progress arrives, in order and before the answer', async (session) => {
    const { name, arguments: args, text } = server.progress;
    assert.match(textOf(await session.call(name, args, { onprogress: () => {} })), text);
    const updates = session.received.filter((message) => message.method === 'notifications/progress');
    assert.deepEqual(updates.map(({ params }) => [params.progress, params.total]), [[1, 3], [2, 3], [3, 3]]);
    const answer = session.answerTo(session.lastSent('tools/call'));
    assert.ok(session.received.indexOf(updates[2]) < session.received.indexOf(answer));
  });

  it(`${asked} an elicitation is answered, and the call ran once`, async (session) => {
    const messages = [];
    session.answer('elicitation/create', ({ message, requestedSchema }) => {
      messages.push(message);
      assert.equal(requestedSchema.properties.name.type, 'string');
      return { action: 'accept', content: { name: 'Ada' } };
    });
    const before = started.sent && runs(server.elicitation.name).length;
    assert.match(textOf(await session.call(server.elicitation.name)), server.elicitation.accepted);
    assert.equal(messages.length, 1);
    // By definition, a modern server gets the call again, with the answers.
    if (started.sent) assert.equal(runs(server.elicitation.name).length - before, server.era === 'legacy' ? 1 : 2);
  });

  it(`${asked} a sampling request is answered`, async (session) => {
    const prompts = [];
    session.answer('sampling/createMessage', ({ messages }) => {
      prompts.push(messages[0].content.text ?? messages[0].content[0].text);
      return { role: 'assistant', model: 'a-model', content: { type: 'text', text: 'Paris it is' } };
    });
    const { name, arguments: args } = server.sampling;
    assert.match(textOf(await session.call(name, args)), /Paris it is/);
    assert.equal(prompts.length, 1);
    assert.match(prompts[0], /Which city\?/);
  });

  it('BRG-07 an update of a resource reaches the one who subscribed', async (session) => {
    const updates = session.notifications('notifications/resources/updated');
    await session.listenForChanges({ uris: [server.update.uri] });
    await session.callWith(server.update.trigger);
    assert.equal((await updates.next()).uri, server.update.uri);
    await session.toolNames();
    assert.equal(updates.seen.length, 1);
  });

  it('BRG-07 a change of a list is announced once, and the list is different', async (session) => {
    const { list, trigger, added } = server.change;
    const has = async () => {
      if (list === 'tools') return (await session.toolNames()).includes(added);
      return (await session.client.listResources()).resources.some((resource) => resource.uri === added);
    };
    const changes = session.notifications(`notifications/${list}/list_changed`);
    await session.listenForChanges({ resources: list === 'resources' });
    assert.equal(await has(), false);
    await session.callWith(trigger);
    await changes.next();
    assert.equal(await has(), true);
    assert.equal(changes.seen.length, 1);
  });

  if (server.briefly) return;

  it(`${asked} a declined elicitation reaches the server`, async (session) => {
    session.answer('elicitation/create', () => ({ action: 'decline' }));
    assert.match(textOf(await session.call(server.elicitation.name)), server.elicitation.declined);
  });

  it('BRG-08 a resource that there is not is an error of the era', async (session) => {
    await assert.rejects(session.client.readResource({ uri: 'nowhere://at/all' }), /nowhere:\/\/at\/all/);
    const { error } = session.answerTo(session.lastSent('resources/read'));
    // If lists are live, a legacy client gets the server's own error, and this server uses the new code.
    assert.equal(error.code, client.era === 'modern' || server.live ? -32602 : -32002);
  });

  it(`${asked} a request for roots is answered`, async (session) => {
    assert.match(textOf(await session.call(server.roots.name)), /file:\/\/\/srv\/project/);
  });

  if (server.rounds) {
    it('BRG-03 a call that asks twice gets each answer in its round', async (session) => {
      const answers = { 'First?': 'Ada', 'Second?': 'Grace' };
      session.answer('elicitation/create', ({ message }) => ({ action: 'accept', content: { name: answers[message] } }));
      assert.equal(textOf(await session.call(server.rounds.name)), server.rounds.text);
    });
  }

  if (server.askingPrompt) {
    it('BRG-04 a prompt asks, and is made of the answer', async (session) => {
      session.answer('elicitation/create', () => ({ action: 'accept', content: { name: 'Ada' } }));
      const prompt = await session.client.getPrompt({ name: server.askingPrompt.name });
      assert.equal(prompt.messages[0].content.text, server.askingPrompt.text);
    });
  }

  if (server.logging) {
    it('BRG-09 log messages come at the level that was asked for', async (session) => {
      const logged = async (level) => {
        const before = session.received.length;
        if (client.era === 'legacy') await session.client.setLoggingLevel(level);
        const _meta = client.era === 'modern' ? { 'io.modelcontextprotocol/logLevel': level } : {};
        await session.callWith({ name: server.logging.name, _meta });
        const messages = session.received.slice(before).filter((message) => message.method === 'notifications/message');
        return messages.map(({ params }) => params.data);
      };
      assert.deepEqual(await logged('debug'), ['a detail', 'a worry']);
      assert.deepEqual(await logged('warning'), ['a worry']);
    });
  }

  it('PRO-08 it gets a prompt with arguments', async (session) => {
    const { name, arguments: args, text } = server.prompt;
    const prompt = await session.client.getPrompt({ name, arguments: args });
    assert.equal(prompt.messages[0].content.text, text);
  });

  if (server.completion) {
    it('PRO-08 it completes an argument', async (session) => {
      const { value, ...params } = server.completion;
      assert.ok((await session.client.complete(params)).completion.values.includes(value));
    });
  }

  it('PRO-08 it reads a resource, and one that a template stands for', async (session) => {
    for (const { uri, text } of [server.resource, server.templated]) {
      const [contents] = (await session.client.readResource({ uri })).contents;
      assert.equal(contents.uri, uri);
      assert.match(contents.text, text);
    }
  });

  /** Whether the server was ever asked to watch this resource. */
  const subscribed = (uri) =>
    started.sent.some(({ method, params }) =>
      server.era === 'legacy'
        ? method === 'resources/subscribe' && params.uri === uri
        : method === 'subscriptions/listen' && params.notifications.resourceSubscriptions?.includes(uri)
    );

  it('BRG-07 PRO-05 a subscription is acknowledged once the server has it', async (session) => {
    const { uri } = server.templated;
    assert.equal(subscribed(uri), false, 'before');
    await session.listenForChanges({ uris: [uri] });
    assert.equal(subscribed(uri), true, 'after');
  });

  it('BRG-09 PRO-09 a cancelled call is never answered, and the server is told', async (session) => {
    const before = started.cancelled?.();
    const abort = new AbortController();
    const { name, arguments: args, after = 1 } = server.endless;
    let heard = 0;
    const onprogress = () => ++heard === after && abort.abort(new Error('changed my mind'));
    const call = session.call(name, args, { signal: abort.signal, onprogress });
    await assert.rejects(call, /changed my mind/);
    const cancelled = session.lastSent('tools/call');
    if (started.cancelled) await eventually('the server is told', () => started.cancelled() === before + 1);
    assert.equal(textOf(await session.callWith({ name: server.echo.name, arguments: server.echo.arguments })), server.echo.text);
    assert.equal(session.answerTo(cancelled), undefined);
  });
}
