// Many untrusted clients at once: memory use before authentication, the limit of sessions, requests that never end.
import { readdirSync } from 'node:fs';

import { startFakeUpstream } from '../e2e/support/fake_upstream.mjs';
import { startGateway } from '../e2e/support/gateway.mjs';
import { within } from '../e2e/support/programs.mjs';
import { headersOf } from '../e2e/support/raw.mjs';
import { assert, byAFew, eventually, head, keptAlive, modern, peakMemory, post, range, statusOf, Wire } from './support.mjs';

export const title = 'Crowds of strangers (SEC-03, SEC-05, SEC-07)';

const MIB = 1024 * 1024;
const TOKENS = { tokens: [{ name: 'agent', token_env: 'AGENT_TOKEN' }], env: { AGENT_TOKEN: 'right' } };

const start = async (own, settings) => own(await startGateway({ ...TOKENS, ...settings }));

async function isServed(url) {
  const { head, body } = modern('tools/list', {}, { token: 'right' });
  return (await statusOf(url, head + body)) === 200;
}

/** Waits until each connection has written everything, or was answered before. */
const everyoneIsTaken = (wires) => within(60_000, 'the gateway takes what is sent, or answers', Promise.all(wires.map(({ taken }) => taken)));

/** Opens `count` connections that send `opening`, and returns by how many bytes the gateway's peak memory grew. */
async function growthBy({ url, pid }, count, opening) {
  const before = peakMemory(pid);
  const wires = [];
  for (let i = 0; i < count; ++i) {
    const wire = new Wire(url);
    const written = new Promise((done) => {
      wire.socket.on('close', done);
      for (const piece of opening.slice(0, -1)) wire.socket.write(piece);
      wire.socket.write(opening.at(-1), done);
    });
    const answered = new Promise((done) => wire.socket.once('data', done));
    wires.push({ wire, taken: Promise.race([written, answered]) });
    // Opens a few at a time, to limit the memory of this process.
    if (wires.length % 50 === 0) await everyoneIsTaken(wires);
  }
  await everyoneIsTaken(wires);
  assert.ok(await isServed(url), 'a caller with a token is not served meanwhile');
  const grown = peakMemory(pid) - before;
  for (const { wire } of wires) wire.destroy();
  return grown;
}

const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'stranger', version: '1' } }
});
const LEGACY = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

export const cases = (full) => [
  ...['never', 'loopback'].map((anonymous) => ({
    tried: `1,000 connections without a token, 4 MiB each, anonymous = "${anonymous}": memory grows by less than 64 MB`,
    run: async ({ own }) => {
      const gateway = await start(own, { auth: { anonymous } });
      const opening = head('POST', '/mcp', { ...headersOf('tools/list', {}), 'content-length': 4 * MIB });
      const grown = await growthBy(gateway, 1000, [opening, Buffer.alloc(4 * MIB - 1, 0x20)]);
      assert.ok(grown < 64_000_000, `it grew by ${Math.round(grown / 1e6)} MB`);
      return `${(grown / 1e6).toFixed(1)} MB`;
    }
  })),
  {
    tried: '1,000 connections with heads of 63 KiB that never end',
    run: async ({ own }) => {
      const gateway = await start(own, { auth: { anonymous: 'never' } });
      const grown = await growthBy(gateway, 1000, [`GET /mcp HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(63 * 1024)}`]);
      // The gateway keeps up to 64 KiB of each head until the head's deadline.
      assert.ok(grown < 128 * MIB, `it grew by ${Math.round(grown / 1e6)} MB`);
      return `${(grown / 1e6).toFixed(1)} MB`;
    }
  },
  {
    tried: 'a body is announced by somebody who is refused: the answer comes before it',
    run: async ({ own }) => {
      const { url } = await start(own, { auth: { anonymous: 'never' } });
      const length = { ...headersOf('tools/list', {}), 'content-length': 4 * MIB };
      const tries = [
        [401, '/mcp', {}],
        [401, '/mcp', { authorization: 'Bearer wrong' }],
        [400, '/mcp', { authorization: ['Bearer right', 'Bearer right'] }],
        [401, '/admin/upstreams', { 'x-admin-secret': 'wrong' }],
        [404, '/nowhere', {}],
        [403, '/mcp', { origin: 'http://evil.example', authorization: 'Bearer right' }],
        [403, '/mcp', { host: 'evil.example', authorization: 'Bearer right' }],
        [413, '/mcp', { authorization: 'Bearer right', 'content-length': 4 * MIB + 1 }]
      ];
      for (const [status, path, headers] of tries) assert.equal(await statusOf(url, head('POST', path, { ...length, ...headers })), status, `${path} ${JSON.stringify(headers)}`);
      return `${tries.length} refusals`;
    }
  },
  {
    tried: 'anonymous callers open 11,000 legacy sessions: whoever has a token still gets one',
    run: async ({ own }) => {
      const upstream = own(await startFakeUpstream(['one']));
      const { url } = await start(own, { upstreams: [{ name: 'up', url: upstream.url }] });
      const { agent } = own(keptAlive(32));
      const statuses = {};
      await byAFew(11_000, 32, async () => {
        const { status } = await post(url, initialize, LEGACY, agent);
        statuses[status] = (statuses[status] ?? 0) + 1;
      });
      assert.ok(statuses[503] > 0, 'all of them got one');
      const mine = range(full ? 500 : 50);
      for (const _ of mine) {
        const { status, headers } = await post(url, initialize, { ...LEGACY, authorization: 'Bearer right' }, agent);
        assert.equal(status, 200, 'a caller with a token got none');
        assert.ok(headers['mcp-session-id']);
      }
      return `${JSON.stringify(statuses)}, then ${mine.length} of ${mine.length} with a token`;
    }
  },
  {
    tried: 'a session of somebody else, by its id',
    run: async ({ own }) => {
      const { url } = await start(own, {});
      const { headers } = await post(url, initialize, { ...LEGACY, authorization: 'Bearer right' });
      const list = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' });
      const id = headers['mcp-session-id'];
      const using = (more) => post(url, list, { ...LEGACY, 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': id, ...more });
      assert.equal((await using({})).status, 404, 'without the token');
      const gone = await fetch(url, { method: 'DELETE', headers: { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' } });
      assert.equal(gone.status, 404);
      assert.equal((await using({ authorization: 'Bearer right' })).status, 200);
    }
  },
  {
    tried: 'connections that are opened and reset, over and over: none is left behind',
    run: async ({ own }) => {
      const gateway = await start(own, {});
      const files = () => readdirSync(`/proc/${gateway.pid}/fd`).length;
      assert.ok(await isServed(gateway.url));
      const before = files();
      const count = full ? 20_000 : 2000;
      await byAFew(count, 32, async () => {
        const wire = new Wire(gateway.url);
        await new Promise((open) => wire.socket.once('connect', open).once('error', open));
        wire.socket.resetAndDestroy();
      });
      await eventually('their files are closed', () => files() <= before);
      assert.ok(await isServed(gateway.url));
      return `${count} connections, ${before} files open before and after`;
    }
  }
];
