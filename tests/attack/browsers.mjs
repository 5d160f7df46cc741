// A malicious page in a browser tries to use a gateway on the same machine: DNS names that resolve to loopback, foreign
// origins, requests without preflight.
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { makeFolder } from '../e2e/support/children.mjs';
import { startFakeUpstream } from '../e2e/support/fake_upstream.mjs';
import { startGateway } from '../e2e/support/gateway.mjs';
import { freePort, OWN_ADDRESS } from '../e2e/support/loopback.mjs';
import { SECRET } from '../e2e/support/sessions.mjs';
import { assert, head, modern, statusOf, Wire } from './support.mjs';

export const title = 'Pages in a browser (PRO-11)';

export async function stage(own) {
  const upstream = own(await startFakeUpstream(['one']));
  const gateway = own(
    await startGateway({ upstreams: [{ name: 'up', url: upstream.url }], env: { PROTEUS_ADMIN_SECRET: SECRET } })
  );
  const folder = makeFolder();
  return { url: gateway.url, upstream, folder, port: new URL(gateway.url).port };
}

const PATHS = ['/mcp', '/metrics', '/healthz', '/readyz', '/admin', '/admin/upstreams', '/v1/graphs/x/mcp/tools'];
const FOREIGN_HOSTS = (port) => [
  'evil.example', `evil.example:${port}`, `0.0.0.0:${port}`, '0', `[::]:${port}`, 'localhost.evil.example', `127.0.0.1.nip.io:${port}`, 'evil.localhost.example',
  '127.0.0.1.', '127.0.0.1@evil.example', `169.254.169.254:${port}`, '10.0.0.1', '2130706433', '0x7f000001', 'localhost:evil', 'localhost evil'
];
const FOREIGN_ORIGINS = ['http://evil.example', 'null', 'http://localhost.evil.example', 'http://127.0.0.1.nip.io', 'http://0.0.0.0', 'http://localhost@evil.example', 'https://localhost:x', 'file://', 'chrome-extension://abcdefgh'];

/** Calls a tool with each of the headers, and returns how many calls reached the upstream. */
async function callsThatArrive({ url, upstream }, headersOfEach) {
  const before = upstream.calls.length;
  for (const headers of headersOfEach) {
    const { head, body } = modern('tools/call', { name: 'up_one', arguments: {} }, { headers });
    const status = await statusOf(url, head + body);
    assert.ok(status === 403 || status === 400, `${JSON.stringify(headers)} was answered ${status}`);
  }
  return upstream.calls.length - before;
}

export const cases = () => [
  {
    tried: 'CVE-2025-64443, CVE-2026-34742: calls by a Host that leads to loopback (DNS rebinding), with nothing configured',
    run: async (stage) => {
      const hosts = FOREIGN_HOSTS(stage.port);
      assert.equal(await callsThatArrive(stage, hosts.map((host) => ({ host }))), 0);
      const { head, body } = modern('tools/call', { name: 'up_one', arguments: {} }, { headers: { host: `localhost:${stage.port}` } });
      assert.equal(await statusOf(stage.url, head + body), 200, 'the right name is served');
      return `${hosts.length} names`;
    }
  },
  {
    tried: 'calls by pages of other origins',
    run: async (stage) => {
      assert.equal(await callsThatArrive(stage, FOREIGN_ORIGINS.map((origin) => ({ origin }))), 0);
      return `${FOREIGN_ORIGINS.length} origins`;
    }
  },
  {
    tried: 'DNS rebinding of what is for operators: metrics, health, admin, contexts, with ops_listen and without',
    run: async ({ url, port, own }) => {
      const ops = `${OWN_ADDRESS}:${await freePort()}`;
      own(await startGateway({ server: { ops_listen: ops } }));
      const listeners = [url, `http://${ops}`];
      let tries = 0;
      for (const base of listeners) {
        for (const path of PATHS) {
          const all = [...FOREIGN_HOSTS(port).map((host) => ({ host })), ...FOREIGN_ORIGINS.map((origin) => ({ origin }))];
          for (const headers of all) {
            const status = await statusOf(base, head('GET', path, headers));
            assert.ok(status === 403 || status === 400, `${path} ${JSON.stringify(headers)} was answered ${status}`);
            tries += 1;
          }
        }
      }
      for (const base of listeners) {
        for (const host of ['localhost', '127.0.0.1:1', '[::1]']) assert.equal(await statusOf(base, head('GET', '/metrics', { host })), 200, `${base} ${host}`);
      }
      return `${tries} requests`;
    }
  },
  {
    tried: 'CVE-2025-49596: a page has a program started, by requests that need no preflight, by 0.0.0.0 and without a secret',
    run: async ({ url, folder, port }) => {
      const marker = join(folder, 'started');
      const body = JSON.stringify({ name: 'x', command: ['/usr/bin/touch', marker] });
      const tries = [
        {},
        { 'x-admin-secret': '' },
        { 'x-admin-secret': 'wrong' },
        { origin: 'http://evil.example', 'x-admin-secret': SECRET },
        { host: `0.0.0.0:${port}`, 'x-admin-secret': SECRET },
        { host: 'evil.example', 'x-admin-secret': SECRET },
        { cookie: `x-admin-secret=${SECRET}` },
        { 'x-admin-secret': [SECRET, SECRET] }
      ];
      for (const headers of tries) {
        for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json']) {
          for (const target of ['/admin/upstreams', `/admin/upstreams?x-admin-secret=${SECRET}`]) {
            const text = head('POST', target, { 'content-type': type, 'content-length': body.length, ...headers }) + body;
            const status = await statusOf(url, text);
            assert.ok(status === 401 || status === 403, `${JSON.stringify(headers)} was answered ${status}`);
          }
        }
      }
      // The MCP Inspector accepted a command in the query of its endpoint.
      for (const target of [`/sse?transportType=stdio&command=/usr/bin/touch&args=${marker}`, `/mcp?transportType=stdio&command=/usr/bin/touch&args=${marker}`]) {
        assert.ok((await statusOf(url, head('GET', target, { host: `0.0.0.0:${port}` }))) >= 400);
      }
      assert.ok(!existsSync(marker), 'the program was started');
      return `${tries.length * 6} registrations`;
    }
  },
  {
    tried: 'no answer lets a page of another origin read it, and no preflight is granted',
    run: async ({ url }) => {
      for (const path of PATHS) {
        const wire = new Wire(url);
        const asks = { origin: 'http://evil.example', 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-admin-secret' };
        wire.write(head('OPTIONS', path, { ...asks, connection: 'close' }));
        await wire.ended();
        assert.ok(!/access-control-allow/i.test(wire.text), path);
        assert.ok(wire.statuses()[0] >= 400, path);
      }
    }
  }
];
