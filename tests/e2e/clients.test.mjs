// The official TypeScript clients with everything-server, in every era that they speak, over HTTP and stdio.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { CLIENTS, Session, textOf } from './support/clients.mjs';
import { startServer } from './support/programs.mjs';
import { stopAfter } from './support/programs_of_suite.mjs';

let server;
before(async () => {
  server = await startServer('everything-server', ['--port', '0', '--era', 'both']);
});
after(() => server?.stop());

const TRANSPORTS = [
  { name: 'HTTP', id: 'PRO-01', target: () => ({ url: server.url }) },
  { name: 'stdio', id: 'PRO-14', target: () => ({ stdio: ['--era', 'both'] }) }
];

for (const client of CLIENTS) {
  for (const transport of TRANSPORTS) {
    describe(`${client.name}, ${transport.name}`, () => behaviours(client, transport));
  }
}

function behaviours(client, transport) {
  /** Defines a test with its own session, which is always closed. */
  function it(name, body) {
    test(name, async (context) => {
      const own = stopAfter(context);
      const session = own(await Session.open(client, transport.target()));
      await body(session);
    });
  }

  it(`${transport.id} it connects and learns who answers`, async ({ client }) => {
    assert.ok(client.getServerVersion()?.name);
    const capabilities = client.getServerCapabilities();
    for (const capability of ['tools', 'prompts', 'resources']) assert.ok(capabilities[capability], capability);
    assert.equal(capabilities.tools.listChanged, true);
  });

  it('it lists tools, prompts, resources and templates', async (session) => {
    const tools = await session.toolNames();
    for (const name of ['test_simple_text', 'test_tool_with_progress', 'test_trigger_tool_change']) {
      assert.ok(tools.includes(name), name);
    }
    assert.ok((await session.promptNames()).includes('test_prompt_with_arguments'));
    const { resources } = await session.client.listResources();
    assert.ok(resources.some((resource) => resource.uri === 'test://static-text'));
    const { resourceTemplates } = await session.client.listResourceTemplates();
    assert.ok(resourceTemplates.some((template) => template.uriTemplate === 'test://template/{id}/data'));
  });

  it('it calls a tool', async (session) => {
    const result = await session.call('test_simple_text');
    assert.ok(!result.isError);
    assert.match(textOf(result), /\S/);
  });

  it("a tool's own failure is a result, and an unknown tool is an error", async (session) => {
    assert.equal((await session.call('test_error_handling')).isError, true);
    await assert.rejects(session.call('no_such_tool'), (error) => error.code === -32602);
  });

  it('PRO-08 progress arrives before the answer', async (session) => {
    const seen = [];
    await session.call('test_tool_with_progress', {}, { onprogress: (update) => seen.push(update.progress) });
    // Counted on the wire: v1 drops its handler if the answer arrives in the same read as the last update.
    const updates = session.received.filter((message) => message.method === 'notifications/progress');
    assert.deepEqual(updates.map((message) => message.params.progress), [0, 50, 100]);
    assert.ok(updates.every((message) => message.params.total === 100));
    assert.ok(session.received.indexOf(updates[2]) < session.received.indexOf(session.answerTo(session.lastSent('tools/call'))));
    assert.deepEqual(seen.slice(0, 2), [0, 50]);
  });

  for (const tool of ['test_elicitation', 'test_input_required_result_elicitation']) {
    it(`an elicitation of ${tool} is answered`, async (session) => {
      const asked = [];
      session.answer('elicitation/create', (params) => {
        asked.push(params);
        const fields = Object.keys(params.requestedSchema.properties);
        return { action: 'accept', content: Object.fromEntries(fields.map((field) => [field, `my-${field}`])) };
      });
      const result = await session.call(tool, tool === 'test_elicitation' ? { message: 'Who are you?' } : {});
      assert.equal(asked.length, 1);
      if (tool === 'test_elicitation') assert.equal(asked[0].message, 'Who are you?');
      assert.ok(!result.isError, textOf(result));
      assert.match(textOf(result), /my-(user)?name/);
    });
  }

  it('a declined elicitation reaches the tool', async (session) => {
    session.answer('elicitation/create', () => ({ action: 'decline' }));
    assert.match(textOf(await session.call('test_elicitation', { message: 'Well?' })), /declin/i);
  });

  for (const tool of ['test_sampling', 'test_input_required_result_sampling']) {
    it(`a sampling request of ${tool} is answered`, async (session) => {
      session.answer('sampling/createMessage', () => ({
        role: 'assistant',
        model: 'a-model',
        content: { type: 'text', text: 'Paris it is' }
      }));
      const result = await session.call(tool, tool === 'test_sampling' ? { prompt: 'Which city?' } : {});
      assert.match(textOf(result), /Paris it is/);
    });
  }

  it('a request for roots is answered', async (session) => {
    session.answer('roots/list', () => ({ roots: [{ uri: 'file:///srv/project', name: 'project' }] }));
    assert.match(textOf(await session.call('test_input_required_result_list_roots')), /file:\/\/\/srv\/project/);
  });

  for (const kind of ['tool', 'prompt']) {
    it(`PRO-08 a ${kind} list that changes at runtime is announced, and is different`, async (session) => {
      const names = () => (kind === 'tool' ? session.toolNames() : session.promptNames());
      const changes = session.notifications(`notifications/${kind}s/list_changed`);
      await session.listenForChanges();
      const before = await names();
      await session.call(`test_trigger_${kind}_change`);
      await changes.next();
      assert.notDeepEqual(await names(), before);
    });
  }

  it('PRO-08 log messages come at the level asked for', async (session) => {
    const logged = async (level) => {
      const before = session.received.length;
      if (client.era === 'legacy') {
        await session.client.setLoggingLevel(level);
        await session.call('test_tool_with_logging');
      } else {
        await session.callWith({ name: 'test_logging_tool', _meta: { 'io.modelcontextprotocol/logLevel': level } });
      }
      return session.received.slice(before).filter(({ method }) => method === 'notifications/message').map(({ params }) => params.level);
    };
    assert.deepEqual(await logged('warning'), []);
    assert.deepEqual(await logged('info'), ['info', 'info', 'info']);
    assert.deepEqual(await logged('debug'), ['info', 'info', 'info']);
  });

  it('it reads text, binary and templated resources', async ({ client }) => {
    const [text] = (await client.readResource({ uri: 'test://static-text' })).contents;
    assert.match(text.text, /\S/);
    const [binary] = (await client.readResource({ uri: 'test://static-binary' })).contents;
    assert.ok(Buffer.from(binary.blob, 'base64').length > 0);
    const [templated] = (await client.readResource({ uri: 'test://template/4711/data' })).contents;
    assert.equal(templated.uri, 'test://template/4711/data');
    assert.match(templated.text, /4711/);
  });

  it('it gets a prompt with arguments', async ({ client }) => {
    const prompt = await client.getPrompt({
      name: 'test_prompt_with_arguments',
      arguments: { arg1: 'first-value', arg2: 'second-value' }
    });
    const text = prompt.messages.map((message) => message.content.text).join('\n');
    assert.match(text, /first-value/);
    assert.match(text, /second-value/);
  });

  it('PRO-08 it completes an argument', async ({ client }) => {
    const { completion } = await client.complete({
      ref: { type: 'ref/prompt', name: 'test_prompt_with_arguments' },
      argument: { name: 'arg1', value: '' }
    });
    assert.ok(completion.values.length > 0);
  });

  it('PRO-08 a cancelled call is never answered, and the connection goes on', async (session) => {
    const abort = new AbortController();
    const call = session.call('test_tool_with_progress', {}, {
      signal: abort.signal,
      onprogress: () => abort.abort(new Error('changed my mind'))
    });
    await assert.rejects(call, /changed my mind/);
    const cancelled = session.lastSent('tools/call');
    // This call takes as long as the cancelled one, whose answer would have arrived by now.
    assert.match(textOf(await session.call('test_tool_with_progress', {}, { onprogress: () => {} })), /\S/);
    assert.equal(session.answerTo(cancelled), undefined);
  });
}
