// Upstreams of either era for a drill, which report each call that they run to a ledger.
import { LegacyUpstream } from './legacy_upstream.mjs';
import { TOOLS } from './session_ledger.mjs';
import { ScriptedUpstream } from './scripted_upstream.mjs';

const PROPERTIES = { mark: { type: 'string' } };
const NAMES = ['echo', 'ask', 'pay'];
const toolsOf = (version) => NAMES.map((name) => ({ name, description: `Does ${name}, v${version}.`, inputSchema: { type: 'object', properties: PROPERTIES } }));
const questionOf = (mark) => ({
  message: `What of ${mark}?`,
  requestedSchema: { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] }
});

/** The text with which each tool answers a call. */
export const expected = {
  echo: (mark) => `echo ${mark}`,
  ask: (mark, answer) => `${mark}: ${answer}`,
  pay: (mark) => `ran ${mark}`
};

/** A legacy upstream: `echo` reports progress, and `ask` asks within its call. Its resources are `uris`. */
export class OldUpstream extends LegacyUpstream {
  version = 1;
  #questions = 0;
  #waiting = new Map();

  static async begin(ledger, uris) {
    const upstream = await this.start();
    return Object.assign(upstream, { ledger, uris });
  }

  /** Changes the tools and notifies the listeners. */
  changeTools() {
    this.version += 1;
    this.ledger.changed(TOOLS);
    for (const { stream } of this.sessions.values()) this.#tell(stream, { method: 'notifications/tools/list_changed' });
  }

  /** Changes a resource and notifies its subscribers. */
  update(uri) {
    this.ledger.changed(uri);
    for (const { stream, subscriptions } of this.sessions.values()) {
      if (subscriptions.has(uri)) this.#tell(stream, { method: 'notifications/resources/updated', params: { uri } });
    }
  }

  #tell(stream, message) {
    if (stream?.writable) stream.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
  }

  answer(message, session, response, reply) {
    const { id, method, params, result } = message;
    if (method === undefined) {
      this.#waiting.get(id)?.(result);
      this.#waiting.delete(id);
      return reply(202);
    }
    if (session.ids.indexOf(id) !== session.ids.length - 1) this.ledger.fault('wrong', `the upstream got request ${id} twice`);
    if (method === 'tools/list') return reply(200, { result: { tools: toolsOf(this.version) } });
    if (method === 'resources/list') return reply(200, { result: { resources: this.uris.map((uri) => ({ uri, name: uri })) } });
    if (method !== 'tools/call') return super.answer(message, session, response, reply);
    const { mark } = params.arguments;
    this.ledger.ran(mark, session);
    const complete = (text) => ({ id, result: { content: [{ type: 'text', text }] } });
    if (params.name === 'pay') return reply(200, complete(expected.pay(mark)));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (params.name === 'ask') {
      const question = `q${++this.#questions}`;
      this.#waiting.set(question, ({ content } = {}) => {
        this.#tell(response, complete(expected.ask(mark, content?.answer)));
        response.end();
      });
      return this.#tell(response, { id: question, method: 'elicitation/create', params: questionOf(mark) });
    }
    const progressToken = params._meta?.progressToken;
    if (progressToken !== undefined) this.#tell(response, { method: 'notifications/progress', params: { progressToken, progress: 1, message: `half of ${mark}` } });
    this.#tell(response, complete(expected.echo(mark)));
    return response.end();
  }
}

/** A modern upstream: `ask` asks with a result that requires input. */
export class NewUpstream extends ScriptedUpstream {
  static async begin(ledger) {
    return Object.assign(await this.start(toolsOf(1)), { ledger });
  }

  answer(message) {
    if (message.method !== 'tools/call') return super.answer(message);
    const { name, arguments: { mark }, inputResponses, requestState } = message.params;
    const complete = (text) => ({ result: { resultType: 'complete', content: [{ type: 'text', text }] } });
    if (name === 'ask' && requestState === undefined) {
      const inputRequests = { question: { method: 'elicitation/create', params: { mode: 'form', ...questionOf(mark) } } };
      return { result: { resultType: 'input_required', inputRequests, requestState: `of ${mark}` } };
    }
    this.ledger.ran(mark);
    return complete(name === 'ask' ? expected.ask(mark, inputResponses?.question?.content?.answer) : expected[name](mark));
  }
}
