// Clients of both eras for a drill. Each of their requests reaches any process. They call, answer questions, listen,
// disconnect and come back.
import { setTimeout as pause } from 'node:timers/promises';

import { eventsOf } from './legacy_raw.mjs';
import { events, send } from './raw.mjs';
import { HeardStream, uriOf } from './session_ledger.mjs';
import { expected } from './session_upstreams.mjs';

const VERSION = '2025-11-25';
const CAPABLE = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } };
const LEVELS = ['debug', 'info', 'notice', 'warning'];
const YES = { action: 'accept', content: { confirmed: true } };
const CANCELLED = 'Command execution cancelled by user.';
const PATIENCE_MS = 20_000;

// Errors that a client may get while something fails. Any other error is a fault of the gateway.
const EXCUSES = [
  /nobody knows whether the request was carried out/,
  /may have been carried out/,
  /may have run/,
  /cannot tell whether the call ran/,
  /no longer waits/,
  /cannot be reached/,
  /taken this session over/,
  /takes this session over/,
  /is not known/,
  /cannot be asked/,
  /\bRedis: /
];

// The answer of a process that does not know the one that asked, which may still live and know nothing of a decision.
const UNDECIDED = /cannot tell whether the call ran/;

/** A request that failed: `message` is the error that the client got, or what happened to its connection. */
class Failure extends Error {}
/** The gateway does not know the session. */
class Ended extends Error {}

function causeOf(error) {
  if (error instanceof Failure) return error.message;
  const code = error.cause?.code ?? error.code ?? error.name;
  if (code === 'ECONNREFUSED') return 'connection refused';
  if (['ECONNRESET', 'UND_ERR_SOCKET', 'EPIPE'].includes(code) || error.message === 'terminated') return 'connection broken';
  throw error;
}

/** What both eras have in common. `anybody()` returns the URL of some process, `random()` a number from 0 to 1. */
class Client {
  over = false;
  old = [];  // answers that were sent before

  constructor(parts) {
    Object.assign(this, parts);
  }

  chance(share) {
    return this.random() < share;
  }
  some(things) {
    return things[Math.floor(this.random() * things.length)];
  }

  /** Returns the failure for an error answer, and records a fault if the error is not one of EXCUSES. */
  refusal(status, text) {
    const excuse = EXCUSES.find((each) => each.test(text));
    if (!excuse) this.ledger.fault('wrong', `${this.owner}: ${status} ${text}`);
    return new Failure(excuse ? `${status} ${excuse.source}` : `${status}`);
  }

  /** Returns the text of the answer to a call; throws if it is an error. */
  textOf({ result, error }) {
    const text = error?.message ?? result?.content?.[0]?.text;
    if (error || (result?.isError && text !== CANCELLED)) throw this.refusal(error ? 'error' : 'isError', text);
    return text;
  }

  /** Repeats `work`, which must be idempotent, until it succeeds or PATIENCE_MS have passed. */
  async insist(work) {
    for (const end = Date.now() + PATIENCE_MS; ; ) {
      try {
        return await work();
      } catch (error) {
        if (error instanceof Ended || this.over || Date.now() > end) throw error;
        this.ledger.count(`tried again: ${causeOf(error)}`);
        await pause(20 + this.random() * 60);
      }
    }
  }

  /** Calls a random tool. */
  async call() {
    const kind = this.some(['echo', 'ask', 'pay']);
    const plan = kind !== 'pay' ? 'run' : this.some(['accept', 'accept', 'decline']);
    const mark = this.ledger.begin(this.owner, plan);
    const said = `${mark} says ${Math.floor(this.random() * 1e9)}`;
    const answer = (question) => {
      this.ledger.asked(mark, question);
      if (kind === 'ask') return { action: 'accept', content: { answer: said } };
      if (plan === 'decline') return this.some([{ action: 'decline' }, { action: 'cancel' }, { action: 'accept', content: { confirmed: false } }]);
      this.ledger.accept(mark);
      return YES;
    };
    try {
      const text = this.textOf(await this.send(`${this.some(['old', 'new'])}_${kind}`, mark, answer));
      this.ledger.answered(mark, text, plan === 'decline' ? CANCELLED : expected[kind](mark, said));
    } catch (error) {
      if (error instanceof Ended) throw error;
      this.ledger.count(`failed: ${causeOf(error)}`);
    }
  }
}

/**
 * A legacy client with a session and a standing stream. If the session has ended, the client begins another one.
 * `troubles()` returns how often Redis has failed, whether it fails now, and how many processes have died.
 */
export class LegacyClient extends Client {
  requests = 0;
  generation = 0;

  headers(more) {
    return { authorization: `Bearer ${this.token}`, ...(this.id && { 'mcp-session-id': this.id, 'mcp-protocol-version': VERSION }), ...more };
  }

  /** Sends a request to any process; throws unless it succeeds. */
  async fetch(options) {
    const response = await fetch(this.anybody(), options);
    if (response.ok) return response;
    const text = await response.text();
    if (response.status === 404) throw new Ended(text);
    throw this.refusal(response.status, text);
  }

  post(message) {
    const headers = this.headers({ 'content-type': 'application/json', accept: 'application/json, text/event-stream' });
    return this.fetch({ method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', ...message }) });
  }

  /** Opens the stream behind event `last`; returns undefined if the gateway no longer keeps that event. */
  async get(last, signal) {
    const headers = this.headers({ accept: 'text/event-stream', ...(last && { 'last-event-id': last }) });
    const response = await fetch(this.anybody(), { headers, signal });
    if (response.ok) return response;
    const text = await response.text();
    if (response.status === 404) throw new Ended(text);
    if (response.status === 400 && /no longer kept/.test(text)) return undefined;
    throw this.refusal(response.status, text);
  }

  takeAnswer(id, message) {
    this.ledger.received(this.owner, message);
    if (message.id !== id) this.ledger.fault('wrong', `${this.owner}: an answer to ${message.id}, not ${id}`);
    return message;
  }

  /** Sends a request that is answered at once, and retries it. It must be idempotent. */
  ask(method, params) {
    return this.insist(async () => {
      const id = ++this.requests;
      const message = this.takeAnswer(id, await (await this.post({ id, method, params })).json());
      if (message.error) throw this.refusal('error', message.error.message);
      return message.result;
    });
  }

  async run() {
    while (!this.over) {
      try {
        await this.open();
      } catch (error) {
        if (!(error instanceof Ended)) this.ledger.count(`failed: ${causeOf(error)}`);
        continue;
      }
      await Promise.all([this.until(this.work()), this.until(this.stand())]);
      if (this.gone) this.ledger.ended(this.owner, this.mayEnd());
    }
  }

  /** Awaits one activity of the client, then leaves the stream. Sets `gone` if the session has ended. */
  async until(work) {
    try {
      await work;
    } catch (error) {
      if (!(error instanceof Ended)) throw error;
      this.gone = true;
    } finally {
      this.leave?.abort();
    }
  }

  async open() {
    Object.assign(this, { id: undefined, owner: `${this.principal}.${this.place}.${++this.generation}`, gone: false, recorded: undefined, begun: this.troubles(), old: [], stream: undefined });
    const params = { protocolVersion: VERSION, capabilities: { elicitation: {} }, clientInfo: { name: this.owner, version: '1' } };
    const response = await this.insist(() => this.post({ id: ++this.requests, method: 'initialize', params }));
    await response.text();
    this.id = response.headers.get('mcp-session-id');
    await (await this.insist(() => this.post({ method: 'notifications/initialized' }))).text();
    await this.ask('resources/subscribe', { uri: uriOf(this.owner) });
    this.stream = new HeardStream(this.ledger, this.owner);
    this.ledger.count('sessions begun');
  }

  async work() {
    while (!this.over && !this.gone) {
      if (this.chance(0.1)) await this.record();
      else if (this.chance(0.15)) await this.repeat();
      else await this.call();
      await pause(this.random() * 150);
    }
  }

  /** Makes the gateway write the record of the session to Redis again. */
  async record() {
    const { owner } = this;
    const before = this.troubles();
    this.level = ((this.level ?? 0) + 1) % LEVELS.length;
    await this.ask('logging/setLevel', { level: LEVELS[this.level] });
    const { failed, fails } = this.troubles();
    if (owner === this.owner && failed === before.failed && !fails && !before.fails) this.recorded = before;
  }
  /** Whether another process can continue the session. */
  isRecorded() {
    return this.recorded !== undefined && this.recorded.failed === this.troubles().failed;
  }
  /** Whether the session may have died with its process: a process died, and Redis may lack the session. */
  mayEnd() {
    return !this.isRecorded() && (this.recorded ?? this.begun).died !== this.troubles().died;
  }

  /** Calls a tool; `answer(question)` returns the user's answer. */
  async send(name, mark, answer) {
    const id = ++this.requests;
    const response = await this.post({ id, method: 'tools/call', params: { name, arguments: { mark }, _meta: { progressToken: mark } } });
    if (!response.headers.get('content-type').startsWith('text/event-stream')) return this.takeAnswer(id, await response.json());
    return this.follow(response, id, answer);
  }

  /** Reads the answer to a call from a stream, which the client sometimes leaves and resumes. */
  async follow(response, id, answer) {
    let last;
    for (let ends = 0; ends < 3; ) {
      const leaves = this.chance(0.3);
      try {
        for await (const event of eventsOf(response)) {
          last = event.id ?? last;
          if (event.data && event.data.method === undefined) return this.takeAnswer(id, event.data);
          if (event.data) this.ledger.received(this.owner, event.data);
          if (event.data?.method === 'elicitation/create') await this.reply(event.data, answer);
          if (leaves) break;
        }
        if (!leaves) ends += 1;
      } catch (error) {
        if (error instanceof Ended || causeOf(error) !== 'connection broken') throw error;
      }
      if (last === undefined) throw new Failure('connection broken');
      response = await this.insist(() => this.get(last));
      if (!response) throw new Failure('events no longer kept');
      this.ledger.count('calls resumed');
    }
    this.ledger.fault('lost', `${this.owner}: the answer to ${id}`);
    throw new Failure('no answer');
  }

  async reply({ id, params }, answer) {
    const message = { id, result: answer(params.message) };
    this.old.push(message);
    await (await this.insist(() => this.post(message))).text();
  }

  /** Repeats an earlier answer as an acceptance, which can only do harm. */
  async repeat() {
    const message = this.some(this.old);
    if (message === undefined) return;
    this.ledger.count('answers repeated');
    await (await this.insist(() => this.post({ ...message, result: YES }))).text();
  }

  /** Listens on the standing stream, which the client leaves and resumes. */
  async stand() {
    const { stream } = this;
    while (!this.over && !this.gone) {
      const leave = (this.leave = new AbortController());
      let timer;
      try {
        const { last } = stream;
        const response = await this.get(last, leave.signal);
        this.ledger.count(response ? (last ? 'streams resumed' : 'streams opened') : 'streams no longer kept');
        if (!response) {
          stream.forget();
          continue;
        }
        stream.open(last !== undefined);
        timer = setTimeout(() => stream.last && leave.abort(), this.some([20, 200, 2000]) * this.random());
        for await (const { id, data } of eventsOf(response)) if (data) stream.event(id, data);
        this.ledger.count('streams that the gateway ended');
      } catch (error) {
        if (error instanceof Ended) throw error;
        if (error.name === 'AbortError') continue;
        this.ledger.count(`streams: ${causeOf(error)}`);
        await pause(this.random() * 50);
      } finally {
        clearTimeout(timer);
      }
    }
  }
}

/** A modern client, which has no session: it retries calls with its answers, and listens. */
export class ModernClient extends Client {
  constructor(parts) {
    super(parts);
    this.owner = `${this.principal}.modern.1`;
    this.stream = new HeardStream(this.ledger, this.owner);
  }

  async ask(params) {
    const response = await send(this.anybody(), 'tools/call', params, { token: this.token });
    let message;
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
      for await (const event of events(response)) {
        this.ledger.received(this.owner, event);
        if (event.method === undefined) message = event;
      }
      if (!message) throw new Failure('connection broken');
    } else {
      message = await response.json();
      this.ledger.received(this.owner, message);
    }
    if ([502, 503].includes(response.status)) throw this.refusal(response.status, message.error.message);
    return message;
  }

  async send(name, mark, answer) {
    const params = { name, arguments: { mark }, _meta: { ...CAPABLE, progressToken: mark } };
    let message = await this.ask(params);
    while (message.result?.resultType === 'input_required') {
      const { inputRequests, requestState } = message.result;
      const [key, { params: { message: question } }] = Object.entries(inputRequests)[0];
      const retry = { ...params, requestState, inputResponses: { [key]: answer(question) } };
      // A modern upstream that asks keeps no state and runs every retry, so this one is sent only once.
      if (name === 'new_ask') {
        message = await this.ask(retry);
        continue;
      }
      // Sometimes sent to two processes at once; one of the answers counts.
      const retries = await Promise.allSettled(Array.from({ length: this.chance(0.3) ? 2 : 1 }, () => this.insist(() => this.ask(retry))));
      const done = retries.filter(({ value }) => value && !value.error && !value.result?.isError)[0] ?? retries.find(({ value }) => value) ?? retries[0];
      if (done.status === 'rejected') throw done.reason;
      message = done.value;
      // An unanswered retry may still be accepted, and so may one that did not reach the process that asked.
      if (!UNDECIDED.test(message.error?.message ?? message.result?.content?.[0]?.text)) this.old.push(retry);
    }
    return message;
  }

  /** Repeats an earlier retry, for the same call or for another one. */
  async repeat() {
    const retry = this.some(this.old);
    if (retry === undefined) return;
    this.ledger.count('answers repeated');
    const args = this.chance(0.5) ? retry.arguments : { mark: this.ledger.begin(this.owner, 'decline') };
    const [key] = Object.keys(retry.inputResponses);
    const yes = this.chance(0.5) ? retry.inputResponses : { [key]: YES };
    await this.ask({ ...retry, arguments: args, inputResponses: yes }).catch(causeOf);
  }

  async run() {
    await Promise.all([this.work(), this.stand()]);
  }

  async work() {
    while (!this.over) {
      if (this.chance(0.15)) await this.repeat();
      else await this.call();
      await pause(this.random() * 150);
    }
    this.leave?.abort();
  }

  async stand() {
    while (!this.over) {
      const leave = (this.leave = new AbortController());
      this.stream.close();
      try {
        const filter = { toolsListChanged: true, resourceSubscriptions: [uriOf(this.owner)] };
        const response = await send(this.anybody(), 'subscriptions/listen', { notifications: filter }, { token: this.token, signal: leave.signal });
        if (!response.ok) throw this.refusal(response.status, await response.text());
        for await (const message of events(response)) {
          if (message.method === 'notifications/subscriptions/acknowledged') {
            this.stream.open(false);
            this.ledger.count('streams opened');
            if (JSON.stringify(message.params.notifications.resourceSubscriptions) !== JSON.stringify(filter.resourceSubscriptions)) this.ledger.fault('wrong', JSON.stringify(message));
          }
          this.stream.event(undefined, message);
        }
        this.ledger.count('streams that the gateway ended');
      } catch (error) {
        if (error.name !== 'AbortError') this.ledger.count(`streams: ${causeOf(error)}`);
        await pause(this.random() * 50);
      }
    }
  }
}
