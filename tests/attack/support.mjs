// Helpers of the drills: raw sockets, servers that record requests, and measurements.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { connect } from 'node:net';

import { eventually } from '../e2e/support/programs.mjs';
import { bodyOf, headersOf } from '../e2e/support/raw.mjs';

export { assert, eventually };

export const range = (count) => Array.from({ length: count }, (_, i) => i);

/** Returns the head of a request. A header whose value is a list is written once for each element. */
export function head(method, target, headers = {}) {
  const lines = Object.entries({ host: 'localhost', ...headers }).flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}`));
  return `${[`${method} ${target} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`;
}

/** Returns the head and body of a modern request; `headers` are added to the required ones. */
export function modern(method, params = {}, { target = '/mcp', token, headers = {} } = {}) {
  const body = bodyOf(method, params);
  const authorization = token ? { authorization: `Bearer ${token}` } : {};
  const all = { ...headersOf(method, params), ...authorization, ...headers, 'content-length': Buffer.byteLength(body) };
  return { head: head('POST', target, all), body };
}

/** A raw connection that keeps everything it receives. */
export class Wire {
  constructor(url) {
    const { hostname, port } = new URL(url);
    this.text = '';
    this.closed = false;
    this.socket = connect({ host: hostname, port: Number(port), noDelay: true });
    this.socket.setEncoding('latin1');
    this.socket.on('data', (data) => (this.text += data));
    this.socket.on('error', () => {});
    this.socket.on('close', () => (this.closed = true));
  }

  write(text) {
    return this.socket.write(text, 'latin1');
  }

  statuses() {
    return [...this.text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
  }

  /** Returns the complete answers, each of which must have a Content-Length. */
  answers() {
    const all = [];
    for (let rest = this.text; ; ) {
      const end = rest.indexOf('\r\n\r\n');
      if (end < 0) return all;
      const length = Number(/^content-length: *(\d+)/im.exec(rest.slice(0, end))?.[1] ?? NaN);
      assert.ok(!Number.isNaN(length), `an answer has no length: ${rest.slice(0, end)}`);
      if (rest.length < end + 4 + length) return all;
      all.push({ status: Number(rest.slice(9, 12)), body: rest.slice(end + 4, end + 4 + length) });
      rest = rest.slice(end + 4 + length);
    }
  }

  /** Waits for exactly `count` answers, and removes and returns them. */
  async take(count) {
    await eventually(`${count} answers`, () => this.answers().length >= count || this.closed);
    const all = this.answers();
    assert.equal(all.length, count, `${all.length} answers instead of ${count}`);
    this.text = '';
    return all;
  }

  async ended() {
    await eventually('the connection is closed', () => this.closed);
  }

  destroy() {
    this.socket.destroy();
  }
}

/** Sends one request over a new connection, and returns the status of the answer. */
export async function statusOf(url, text) {
  const wire = new Wire(url);
  wire.write(text);
  await eventually('an answer', () => wire.statuses().length > 0 || wire.closed);
  wire.destroy();
  return wire.statuses()[0];
}

/** Posts raw text; returns status, headers and text of the answer. */
export function post(url, text, headers = {}, agent = undefined) {
  return new Promise((done, failed) => {
    const outgoing = request(url, { agent, method: 'POST', headers }, (incoming) => {
      let answer = '';
      incoming.setEncoding('utf8');
      incoming.on('data', (data) => (answer += data));
      incoming.on('error', failed);
      incoming.on('end', () => done({ status: incoming.statusCode, headers: incoming.headers, text: answer }));
    });
    outgoing.on('error', failed);
    outgoing.end(text);
  });
}

/** Runs `act` for each number below `count`, `few` at a time. */
export async function byAFew(count, few, act) {
  let next = 0;
  await Promise.all(
    range(few).map(async () => {
      while (next < count) await act(next++);
    })
  );
}

export function keptAlive(connections) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  return { agent, stop: () => agent.destroy() };
}

/** Starts a server that records each request in `seen`. `answer(request)` returns status, headers and body. */
export async function startCanary(answer = () => [200, {}, '{}'], host = '127.0.0.1') {
  const seen = [];
  const server = createServer(async (incoming, outgoing) => {
    let body = '';
    for await (const chunk of incoming) body += chunk;
    const one = { method: incoming.method, path: incoming.url, headers: incoming.headers, body };
    seen.push(one);
    const [status, headers, text] = answer(one);
    outgoing.writeHead(status, headers);
    outgoing.end(text);
  });
  await new Promise((listening) => server.listen(0, host, listening));
  return {
    seen,
    port: server.address().port,
    origin: `http://${host}:${server.address().port}`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    }
  };
}

/** Returns an `answer` that makes a canary a modern MCP server. `results` has a result or a function by method. */
export function speaking(results) {
  const common = { resultType: 'complete', ttlMs: 0, cacheScope: 'public' };
  const discovered = { supportedVersions: ['2026-07-28'], capabilities: { tools: {}, prompts: {}, resources: {}, completions: {} }, _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'canary', version: '1' } } };
  return ({ body }) => {
    const { id, method, params } = JSON.parse(body);
    const result = results[method] ?? (method === 'server/discover' ? discovered : undefined);
    const [, kind] = /^(.*)\/list$/.exec(method) ?? [];
    const empty = kind ? { [kind === 'resources/templates' ? 'resourceTemplates' : kind]: [] } : { content: [] };
    const given = typeof result === 'function' ? result(params) : (result ?? empty);
    return [200, { 'content-type': 'application/json' }, JSON.stringify({ jsonrpc: '2.0', id, result: { ...common, ...given } })];
  };
}

export const tool = (name, more = {}) => ({ name, inputSchema: { type: 'object' }, ...more });

/** Returns the peak memory of a process in bytes. */
export function peakMemory(pid) {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;
}
