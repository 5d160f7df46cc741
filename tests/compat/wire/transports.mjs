// Three transports without an SDK. Each sends texts, and passes every text that arrives to `receive`.
import { spawn } from 'node:child_process';

import { eventsOf } from './events.mjs';

/** A program on standard streams: `{ command, env }`. */
export class StdioTransport {
  constructor({ command, env = {} }, receive) {
    this.child = spawn(command[0], command.slice(1), { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env } });
    this.log = '';
    this.child.stderr.on('data', (data) => (this.log = (this.log + data).slice(-4000)));
    this.child.stdin.on('error', () => {});
    this.ended = new Promise((done) => {
      this.child.once('error', (error) => done(error.message));
      this.child.once('exit', (code, signal) => done(signal ?? code));
    });
    // Splits lines itself, because readline also ends lines at U+2028, which JSON may contain.
    let rest = '';
    this.child.stdout.setEncoding('utf8').on('data', (data) => {
      const lines = (rest + data).split('\n');
      rest = lines.pop();
      for (const line of lines) if (line.startsWith('{')) receive(line);
    });
  }

  async start() {}
  async listen() {}

  async send(text) {
    this.child.stdin.write(`${text}\n`);
  }

  async close() {
    this.child.stdin.end();
    const kill = setTimeout(() => this.child.kill('SIGKILL'), 2000);
    await this.ended;
    clearTimeout(kill);
  }
}

/** Streamable HTTP. An HTTP error without a JSON-RPC answer becomes an error answer with the status as its code. */
export class HttpTransport {
  constructor({ url, headers = {} }, receive) {
    Object.assign(this, { url, receive, headers: { ...headers }, standing: Promise.resolve() });
    this.over = new AbortController();
    this.running = new Map();
  }

  async start() {}

  /** Opens the standing stream of a session, if the server supports it. */
  async listen() {
    const response = await fetch(this.url, { headers: { ...this.headers, accept: 'text/event-stream' }, signal: this.over.signal });
    if (response.ok) this.standing = this.readEvents(response).catch(() => {});
    else await response.body?.cancel();
  }

  async readEvents(response) {
    for await (const { data } of eventsOf(response)) this.receive(data);
  }

  async send(text, { id, headers = {} } = {}) {
    const one = new AbortController();
    if (id !== undefined) this.running.set(id, one);
    const signal = AbortSignal.any([this.over.signal, one.signal]);
    const sending = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...this.headers, ...headers };
    const response = await fetch(this.url, { method: 'POST', headers: sending, body: text, signal });
    const session = response.headers.get('mcp-session-id');
    if (session) this.headers['mcp-session-id'] = session;
    const reading = this.read(response, id).catch(() => {}).finally(() => this.running.delete(id));
    if (id === undefined) await reading;
  }

  async read(response, id) {
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) return this.readEvents(response);
    const body = await response.text();
    if (response.status === 202) return;
    const isAnswer = body.startsWith('{') && JSON.parse(body).id === id;
    const failure = { jsonrpc: '2.0', id, error: { code: response.status, message: body.slice(0, 300) } };
    this.receive(isAnswer ? body : JSON.stringify(failure));
  }

  /** Aborts a request, which is how a stateless request is cancelled. */
  abandon(id) {
    this.running.get(id)?.abort();
  }

  async close() {
    const session = this.headers['mcp-session-id'];
    if (session) await fetch(this.url, { method: 'DELETE', headers: this.headers }).then((response) => response.body?.cancel(), () => {});
    this.over.abort();
    await this.standing;
  }
}

/** The HTTP transport of 2024-11-05: an event stream, and an endpoint that it announces. */
export class SseTransport {
  constructor({ url, headers = {} }, receive) {
    Object.assign(this, { url, receive, headers });
    this.over = new AbortController();
  }

  async start() {
    const response = await fetch(this.url, { headers: { ...this.headers, accept: 'text/event-stream' }, signal: this.over.signal });
    if (!response.ok) throw new Error(`${this.url}: HTTP ${response.status}`);
    const stream = eventsOf(response);
    const { value } = await stream.next();
    this.endpoint = new URL(value.data, this.url);
    this.reading = (async () => {
      for await (const { data } of stream) this.receive(data);
    })().catch(() => {});
  }

  async listen() {}

  async send(text) {
    const response = await fetch(this.endpoint, { method: 'POST', headers: { 'content-type': 'application/json', ...this.headers }, body: text });
    await response.body?.cancel();
  }

  async close() {
    this.over.abort();
    await this.reading;
  }
}

export const TRANSPORTS = { stdio: StdioTransport, http: HttpTransport, sse: SseTransport };
