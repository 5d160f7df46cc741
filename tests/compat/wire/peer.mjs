// A client of either era that exposes the text of every message, and always answers a server's request in the same way.
import { members } from './json_text.mjs';
import { TRANSPORTS } from './transports.mjs';

export const REVISION = { legacy: '2025-11-25', modern: '2026-07-28' };
// The timeout for an answer; the start of a server may take longer.
const PATIENCE_MS = Number(process.env.COMPAT_PATIENCE_MS ?? 10_000);
const META = 'io.modelcontextprotocol/';

const CAPABILITIES = { roots: { listChanged: true }, sampling: {}, elicitation: { form: {}, url: {} } };
const CLIENT = { name: 'compat', version: '1.0.0' };

/** The client's answers to requests of a server, which depend only on the request. */
const ANSWERS = {
  ping: () => ({}),
  'roots/list': (peer) => ({ roots: peer.roots }),
  'sampling/createMessage': () => ({ role: 'assistant', model: 'none', content: { type: 'text', text: 'Lyon' }, stopReason: 'endTurn' }),
  'elicitation/create': (_, params) => {
    const filled = Object.entries(params.requestedSchema?.properties ?? {}).map(([name, schema]) => [name, filling(schema)]);
    const required = new Set(params.requestedSchema?.required ?? []);
    return { action: 'accept', content: Object.fromEntries(filled.filter(([name]) => required.has(name))) };
  }
};

function filling(schema) {
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  if (schema.oneOf) return schema.oneOf[0].const;
  return { string: 'Ada', boolean: true, integer: 1, number: 1, array: [] }[schema.type] ?? 'Ada';
}

/** Rejects with a message that contains `what` if `promise` takes too long. */
export function patiently(what, promise, ms = PATIENCE_MS) {
  let timer;
  const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error(`${what}: nothing within ${ms} ms`)), ms)));
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

export class Peer {
  /** Connects. `target` is `{ via: 'stdio' | 'http' | 'sse', … }` with the options of the transport. */
  static async open(target, era, { roots = [], patience = 3 * PATIENCE_MS } = {}) {
    const peer = new Peer(target, era, roots);
    try {
      await patiently(`opening ${target.url ?? target.command.join(' ')}`, peer.begin(), patience);
      return peer;
    } catch (error) {
      const log = peer.transport.log;
      peer.transport.close().catch(() => {});
      throw log ? new Error(`${error.message}\n${log.trim().split('\n').slice(-5).join('\n')}`) : error;
    }
  }

  constructor(target, era, roots) {
    Object.assign(this, { era, roots, waiting: new Map(), told: [], asked: [], next: 0, watchers: new Set() });
    this.transport = new TRANSPORTS[target.via](target, (text) => this.receive(text));
  }

  async begin() {
    await this.transport.start();
    const isHttp = this.transport.headers !== undefined;
    if (this.era === 'modern') {
      if (isHttp) this.transport.headers['mcp-protocol-version'] = REVISION.modern;
      this.hello = await this.request('server/discover', {}, 3 * PATIENCE_MS);
    } else {
      const hello = { protocolVersion: REVISION.legacy, capabilities: CAPABILITIES, clientInfo: CLIENT };
      this.hello = await this.request('initialize', hello, 3 * PATIENCE_MS);
    }
    if (this.hello.error) throw new Error(`refused: ${JSON.stringify(this.hello.error)}`);
    this.capabilities = this.hello.result.capabilities;
    if (this.era === 'modern') return;
    if (isHttp) this.transport.headers['mcp-protocol-version'] = this.hello.result.protocolVersion;
    await this.notify('notifications/initialized');
    await this.transport.listen();
  }

  receive(text) {
    const message = JSON.parse(text);
    if (message.method === undefined) {
      this.waiting.get(message.id)?.({ ...message, text });
      this.waiting.delete(message.id);
    } else if (message.id === undefined) {
      this.told.push(message);
    } else {
      this.asked.push(message);
      this.answer(message).catch(() => {});
    }
    for (const watcher of this.watchers) watcher();
  }

  async answer({ id, method, params }) {
    const answer = ANSWERS[method];
    const error = { code: -32601, message: 'Method not found' };
    const reply = answer ? { result: answer(this, params ?? {}) } : { error };
    await this.transport.send(JSON.stringify({ jsonrpc: '2.0', id, ...reply }));
  }

  /** Returns the params with the `_meta` that requests of this era need. */
  stamped(params) {
    if (this.era === 'legacy') return params;
    const _meta = {
      [`${META}protocolVersion`]: REVISION.modern,
      [`${META}clientInfo`]: CLIENT,
      [`${META}clientCapabilities`]: CAPABILITIES,
      ...(this.level ? { [`${META}logLevel`]: this.level } : {}),
      ...params._meta
    };
    return { ...params, _meta };
  }

  /** Sends a request; the result has `id` and `answered`, a promise of the message with its `text`. */
  async post(method, params) {
    const id = ++this.next;
    const answered = new Promise((done) => this.waiting.set(id, done));
    const name = params.name ?? params.uri;
    const headers = this.era === 'modern' ? { 'mcp-method': method, ...(name ? { 'mcp-name': name } : {}) } : {};
    await this.transport.send(JSON.stringify({ jsonrpc: '2.0', id, method, params: this.stamped(params) }), { id, headers });
    return { id, answered };
  }

  /** Sends a request and returns its final answer. Answers all questions that a modern server returns in between. */
  async request(method, params = {}, patience = PATIENCE_MS) {
    let round = params;
    for (;;) {
      const { answered } = await this.post(method, round);
      const answer = await patiently(method, answered, patience);
      if (answer.result?.resultType !== 'input_required') return answer;
      const responses = Object.entries(answer.result.inputRequests ?? {}).map(([key, asked]) => {
        this.asked.push(asked);
        return [key, ANSWERS[asked.method](this, asked.params ?? {})];
      });
      const { requestState } = answer.result;
      round = { ...params, inputResponses: Object.fromEntries(responses), ...(requestState === undefined ? {} : { requestState }) };
    }
  }

  async notify(method, params = undefined) {
    const stamped = this.era === 'modern' ? this.stamped(params ?? {}) : params;
    await this.transport.send(JSON.stringify({ jsonrpc: '2.0', method, ...(stamped ? { params: stamped } : {}) }), {
      headers: this.era === 'modern' ? { 'mcp-method': method } : {}
    });
  }

  /** Cancels request `id`, in the way of the era and transport. */
  async cancel(id) {
    if (this.era === 'modern' && this.transport.abandon) this.transport.abandon(id);
    else await this.notify('notifications/cancelled', { requestId: id, reason: 'the test wants it' });
  }

  /** Subscribes to changes of lists, and to updates of the resources in `uris`. */
  async subscribe({ uris = [] } = {}) {
    if (this.era === 'modern') {
      const notifications = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
      await this.post('subscriptions/listen', { notifications: uris.length > 0 ? { ...notifications, resourceSubscriptions: uris } : notifications });
      await this.heard((message) => message.method.startsWith('notifications/subscriptions/acknowledged'), 'the acknowledgement');
      return;
    }
    for (const uri of uris) {
      const answer = await this.request('resources/subscribe', { uri });
      if (answer.error) throw new Error(`resources/subscribe: ${JSON.stringify(answer.error)}`);
    }
  }

  /** Waits for a notification, and returns it. Earlier notifications count, too. */
  async heard(matches, what, patience = PATIENCE_MS) {
    let watcher;
    const found = new Promise((done) => {
      watcher = () => {
        const message = this.told.find(matches);
        if (message) done(message);
      };
      this.watchers.add(watcher);
      watcher();
    });
    return patiently(what, found, patience).finally(() => this.watchers.delete(watcher));
  }

  async close() {
    await this.transport.close();
  }
}

/** Returns the text of an answer's result, or its error. */
export function outcomeText(answer) {
  return answer.error ? `error ${JSON.stringify(answer.error)}` : members(answer.text).get('result');
}
