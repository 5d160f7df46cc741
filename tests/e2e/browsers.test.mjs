// Answers to web pages, and to people who open the URL in a browser.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { startGateway } from './support/gateway.mjs';
import { startServer } from './support/programs.mjs';
import { runningPrograms } from './support/programs_of_suite.mjs';
import { bodyOf, headersOf } from './support/raw.mjs';

const PAGE = 'https://app.example.com';
const TOKEN = 'token-of-ada';

describe('a page in a browser', () => {
  let gateway;
  runningPrograms(async (programs) => {
    const server = await startServer('everything-server', ['--port', '0', '--era', 'modern']);
    programs.push(server);
    gateway = await startGateway({
      upstreams: [{ name: 'all', url: server.url, prefix: '' }],
      tokens: [{ name: 'ada', token_env: 'ADA_TOKEN' }],
      contexts: { sec: {} },
      auth: { anonymous: 'never' },
      server: { allowed_origins: [PAGE] },
      env: { ADA_TOKEN: TOKEN }
    });
    programs.push(gateway);
  });
  const at = (path) => new URL(path, gateway.url);
  const preflight = (path, origin, headers) =>
    fetch(at(path), {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': headers }
    });

  test('PRO-20 of an allowed origin asks first, and then calls', async () => {
    const headers = { ...headersOf('tools/call', { name: 'test_simple_text' }), authorization: `Bearer ${TOKEN}` };
    const asked = Object.keys(headers).sort().join(',');
    const before = await preflight('/mcp', PAGE, asked);
    assert.equal(before.status, 204);
    assert.equal(before.headers.get('access-control-allow-origin'), PAGE);
    assert.equal(before.headers.get('access-control-allow-headers'), asked);
    assert.match(before.headers.get('access-control-allow-methods'), /POST/);
    assert.equal(before.headers.get('access-control-allow-credentials'), null);
    const answer = await fetch(at('/mcp'), {
      method: 'POST',
      headers: { ...headers, origin: PAGE },
      body: bodyOf('tools/call', { name: 'test_simple_text' })
    });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('access-control-allow-origin'), PAGE);
    assert.match(answer.headers.get('access-control-expose-headers'), /Mcp-Session-Id/);
    assert.match(answer.headers.get('vary'), /Origin/);
  });

  test('PRO-20 of an allowed origin can read why it is refused', async () => {
    for (const path of ['/mcp', '/mcp/none', '/v1/graphs/sec/mcp/tools']) {
      const answer = await fetch(at(path), { headers: { origin: PAGE } });
      assert.equal(answer.status, 401, path);
      assert.equal(answer.headers.get('access-control-allow-origin'), PAGE, path);
    }
    const tools = await fetch(at('/v1/graphs/sec/mcp/tools'), { headers: { origin: PAGE, authorization: `Bearer ${TOKEN}` } });
    assert.equal(tools.headers.get('access-control-allow-origin'), PAGE);
  });

  test('PRO-20 PRO-11 of any other origin is refused, and told nothing', async () => {
    for (const answer of [
      await preflight('/mcp', 'https://evil.example', 'authorization'),
      await preflight('/v1/graphs/sec/mcp/tools', 'https://evil.example', 'authorization'),
      await fetch(at('/mcp'), { method: 'POST', headers: { origin: 'https://evil.example', 'content-type': 'application/json' }, body: '{}' })
    ]) {
      assert.equal(answer.status, 403);
      assert.deepEqual([...answer.headers.keys()].filter((name) => name.startsWith('access-control-')), []);
    }
  });

  test('PRO-20 the admin API answers no preflight', async () => {
    const answer = await preflight('/admin/upstreams', PAGE, 'x-admin-secret');
    assert.equal(answer.headers.get('access-control-allow-origin'), null);
  });

  test('PRO-16 what a path takes and what it says it takes are the same', async () => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    for (const path of ['/mcp', '/mcp/sec', '/v1/graphs/sec/mcp/tools', '/healthz', '/metrics']) {
      const answer = await fetch(at(path), { method: 'PATCH', headers });
      assert.equal(answer.status, 405, path);
      const allowed = answer.headers.get('allow').split(', ');
      const text = await answer.text();
      for (const method of ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS']) {
        assert.equal(new RegExp(`\\b${method}\\b`).test(text), allowed.includes(method), `${path}: ${method} in ${text}`);
      }
    }
  });

  test('PRO-16 a person who opens the URL is told what is there, and a slash at its end changes nothing', async () => {
    const headers = { authorization: `Bearer ${TOKEN}`, accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    for (const path of ['/mcp', '/mcp/', '/mcp/sec', '/mcp/sec/']) {
      const answer = await fetch(at(path), { headers });
      assert.equal(answer.status, 400, path);
      assert.match(await answer.text(), /MCP server, for MCP clients/, path);
    }
    assert.match(await (await fetch(at('/'), { headers })).text(), /connect to \/mcp/);
  });
});
