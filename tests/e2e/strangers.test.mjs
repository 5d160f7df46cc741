// What somebody with a socket and without a credential can do to a gateway.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { describe, test } from 'node:test';

import { startFakeUpstream } from './support/fake_upstream.mjs';
import { startGateway } from './support/gateway.mjs';
import { eventually } from './support/programs.mjs';
import { bodyOf, headersOf } from './support/raw.mjs';

const CONNECTIONS = Number(process.env.PROTEUS_DRILL_CONNECTIONS ?? 1000);
const MIB = 1024 * 1024;
const TOKENS = [{ name: 'agent', token_env: 'AGENT_TOKEN' }];

function head(method, path, headers) {
  return [`${method} ${path} HTTP/1.1`, ...Object.entries({ host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}`), '', ''].join('\r\n');
}

/** A connection that keeps what it was answered, and the status of each answer. */
function open(url) {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  const wire = { socket, text: '', statuses: () => [...wire.text.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => Number(match[1])) };
  socket.setEncoding('utf8');
  socket.on('data', (data) => (wire.text += data));
  socket.on('error', () => {});
  return wire;
}

async function answered(wire, count) {
  await eventually(`${count} answers`, () => wire.statuses().length >= count);
  return wire.statuses();
}

/** The most memory that a process has had, in bytes. */
function peakMemory(pid) {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;
}

describe('a pipelined request', () => {
  // SEC-03
  test('is routed by its own path, when its body comes later', async () => {
    const upstream = await startFakeUpstream(['one'], async () => ({ content: [] }));
    const gateway = await startGateway({
      upstreams: [{ name: 'up', url: upstream.url }],
      contexts: { sec: { exclude: ['up_one'] } }
    });
    try {
      const body = bodyOf('tools/list', {});
      const headers = { ...headersOf('tools/list', {}), 'content-length': body.length };
      for (const filler of [3000, 3300, 3600]) {
        const wire = open(gateway.url);
        wire.socket.write(head('GET', `/mcp?${'y'.repeat(filler)}`, {}) + head('POST', '/mcp/sec', headers));
        assert.equal((await answered(wire, 1))[0], 400, 'there is no session');
        wire.socket.write(body);
        assert.equal((await answered(wire, 2))[1], 200);
        await eventually('the whole list', () => wire.text.includes('"tools":['));
        assert.ok(!wire.text.includes('up_one'), 'the context excludes it');
        wire.socket.destroy();
      }
    } finally {
      await gateway.stop();
      await upstream.stop();
    }
  });
});

describe('a stranger', () => {
  // SEC-03
  test('is refused before anything of a body is read', async () => {
    const gateway = await startGateway({ tokens: TOKENS, env: { AGENT_TOKEN: 'right' }, auth: { anonymous: 'never' } });
    try {
      const length = { ...headersOf('tools/list', {}), 'content-length': 4 * MIB };
      const status = async (path, headers) => {
        const wire = open(gateway.url);
        wire.socket.write(head('POST', path, { ...length, ...headers }));
        const [first] = await answered(wire, 1);
        wire.socket.destroy();
        return first;
      };
      assert.equal(await status('/mcp', {}), 401);
      assert.equal(await status('/mcp', { authorization: 'Bearer wrong' }), 401);
      assert.equal(await status('/mcp', { authorization: 'Bearer right\r\nauthorization: Bearer right' }), 400);
      assert.equal(await status('/admin/upstreams', { 'x-admin-secret': 'wrong' }), 401);
      assert.equal(await status('/nowhere', {}), 404);
    } finally {
      await gateway.stop();
    }
  });

  for (const anonymous of ['never', 'loopback']) {
    // SEC-03
    test(`has little memory, with ${CONNECTIONS} connections of 4 MiB each and anonymous = "${anonymous}"`, async () => {
      const gateway = await startGateway({ tokens: TOKENS, env: { AGENT_TOKEN: 'right' }, auth: { anonymous } });
      const wires = [];
      try {
        const before = peakMemory(gateway.pid);
        const opening = head('POST', '/mcp', { ...headersOf('tools/list', {}), 'content-length': 4 * MIB });
        const most = Buffer.alloc(4 * MIB - 1, 0x20);
        for (let i = 0; i < CONNECTIONS; ++i) {
          const wire = open(gateway.url);
          wire.written = new Promise((done) => {
            wire.socket.on('close', done);
            wire.socket.write(opening);
            wire.socket.write(most, done);
          });
          wires.push(wire);
        }
        await Promise.all(wires.map((wire) => wire.written));
        const grown = peakMemory(gateway.pid) - before;
        assert.ok(grown < 64 * MIB, `grew by ${Math.round(grown / MIB)} MiB`);

        const body = bodyOf('tools/list', {}) + ' '.repeat(MIB);
        const known = await fetch(gateway.url, { method: 'POST', headers: { ...headersOf('tools/list', {}), authorization: 'Bearer right' }, body });
        assert.equal(known.status, 200, 'whoever has a token is served meanwhile');
      } finally {
        for (const wire of wires) wire.socket.destroy();
        await gateway.stop();
      }
    });
  }

  // PRO-11
  test('cannot have a browser read what is for operators, by a name that leads to loopback', async () => {
    const gateway = await startGateway({ server: { ops_listen: '127.0.0.1:0' } });
    try {
      const status = async (path, headers) => {
        const wire = open(gateway.url);
        wire.socket.write(head('GET', path, headers));
        const [first] = await answered(wire, 1);
        wire.socket.destroy();
        return first;
      };
      for (const path of ['/metrics', '/healthz', '/readyz', '/admin', '/v1/graphs/x/mcp/tools', '/mcp']) {
        assert.equal(await status(path, { host: 'evil.example' }), 403, path);
        assert.equal(await status(path, { origin: 'http://evil.example' }), 403, path);
      }
      for (const host of ['localhost', '127.0.0.1:1', '[::1]']) assert.equal(await status('/metrics', { host }), 200, host);
    } finally {
      await gateway.stop();
    }
  });
});
