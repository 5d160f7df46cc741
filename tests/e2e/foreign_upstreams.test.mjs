// Upstreams as they are in practice: declared lists that do not exist, an old transport, slow programs, messages that
// are too large.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { CLIENTS, Session, textOf } from './support/clients.mjs';
import { startGateway } from './support/gateway.mjs';
import { eventually, root, startScript } from './support/programs.mjs';

const FIXTURE = join(root, 'tests/fixtures/stdio_server.py');
const EVERYTHING = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'));
const ANNOUNCE_PORT = import.meta.resolve('./support/announce_port.mjs');
const SECRET = 'of the operator';

const program = (...args) => ['python3', FIXTURE, ...args];

async function shown(gateway, name) {
  const response = await fetch(gateway.url.replace('/mcp', `/admin/upstreams/${name}`), { headers: { 'x-admin-secret': SECRET } });
  return response.json();
}

/** Runs `body` with a gateway in front of these upstreams, and stops the gateway and `programs`. */
async function withGateway(upstreams, body, ...programs) {
  try {
    const gateway = await startGateway({ upstreams, env: { PROTEUS_ADMIN_SECRET: SECRET } });
    programs.unshift(gateway);
    await body(gateway);
  } finally {
    for (const started of programs) await started.stop();
  }
}

async function withSession(gateway, client, body) {
  const session = await Session.open(client, { url: gateway.url });
  try {
    await body(session);
  } finally {
    await session.close();
  }
}

async function startEverything(mode) {
  return startScript(`server-everything ${mode}`, ['--import', ANNOUNCE_PORT, EVERYTHING, mode], { env: { PORT: '0' } });
}

for (const era of ['legacy', 'modern']) {
  test(`REF-34 a ${era} upstream that declares resources and does not list them serves its tools`, () =>
    withGateway([{ name: 'up', command: program('--era', era, '--fault', 'no-resources/list') }], async (gateway) => {
      const upstream = await shown(gateway, 'up');
      assert.equal(upstream.state, 'connected');
      assert.equal(upstream.resources, 0);
      assert.equal(upstream.resource_templates, 1);
      assert.deepEqual(
        upstream.list_faults.map(({ kind, method, cause }) => [kind, method, cause]),
        [['resources', 'resources/list', 'unimplemented']]
      );
      await eventually('the log says so', () => /upstream up declares resources and does not list them: resources\/list/.test(gateway.log()));
      await withSession(gateway, CLIENTS[0], async (session) => {
        assert.ok((await session.toolNames()).includes('up_echo'));
        assert.equal(textOf(await session.call('up_echo')), '{}');
      });
    }));
}

test('REF-35 an upstream of the old HTTP+SSE transport is found, and can be called', async () => {
  const server = await startEverything('sse');
  const url = new URL('/sse', server.url).href;
  await withGateway(
    [{ name: 'old', url }],
    async (gateway) => {
      const upstream = await shown(gateway, 'old');
      assert.equal(upstream.state, 'connected');
      assert.equal(upstream.transport, 'sse');
      assert.equal(upstream.configured_transport, 'auto');
      for (const client of CLIENTS) {
        await withSession(gateway, client, async (session) => {
          assert.match(textOf(await session.call('old_echo', { message: 'hello' })), /hello/);
        });
      }
    },
    server
  );
});

test('REF-35 an upstream that is neither says what was tried', async () => {
  const server = createServer((request, response) => response.writeHead(404).end('nothing here'));
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${server.address().port}/sse`;
  await withGateway(
    [{ name: 'lost', url, fail_fast_on_startup: false }],
    async (gateway) => {
      await eventually('the first try', async () => (await shown(gateway, 'lost')).last_error);
      const { last_error: why } = await shown(gateway, 'lost');
      assert.match(why, /HTTP 404/);
      assert.match(why, /Streamable HTTP was tried, and then HTTP\+SSE/);
    },
    { stop: () => new Promise((closed) => server.close(closed).closeAllConnections()) }
  );
});

test('REF-36 programs that start slower than they are waited for are found to be modern', () => {
  const names = Array.from({ length: 10 }, (_, number) => `slow${number}`);
  return withGateway(
    // The first two answer later than the gateway waits to learn their era.
    names.map((name, number) => ({ name, command: program('--fault', 'late', '--late', number < 2 ? '6' : '0.1') })),
    async (gateway) => {
      for (const name of names) assert.equal((await shown(gateway, name)).era, 'modern', name);
      assert.doesNotMatch(gateway.log(), /is ignored/);
    }
  );
});

test('SEC-06 the largest message of an upstream is a setting, which the error names', () =>
  withGateway([{ name: 'up', command: program(), max_message_bytes: '100KiB' }], (gateway) =>
    withSession(gateway, CLIENTS[0], async (session) => {
      await assert.rejects(session.call('up_huge', { bytes: 200_000 }), /102400 bytes, which max_message_bytes sets/);
    })
  ));
