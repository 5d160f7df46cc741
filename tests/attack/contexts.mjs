// What a context excludes stays unreachable, however its URI or name is spelled.
import { startGateway } from '../e2e/support/gateway.mjs';
import { events, headersOf, send } from '../e2e/support/raw.mjs';
import { assert, eventually, modern, post, speaking, startCanary, statusOf, tool } from './support.mjs';

export const title = 'What a context excludes (CTX-16, CTX-17)';

export async function stage(own) {
  const results = {
    'server/discover': { supportedVersions: ['2026-07-28'], capabilities: { tools: {}, resources: { subscribe: true } } },
    'tools/list': { tools: [tool('open'), tool('secret')] },
    'resources/list': { resources: [{ name: 'a', uri: 'file:///open/a' }, { name: 'b', uri: 'file:///secret/b' }] },
    'resources/templates/list': { resourceTemplates: [{ name: 'any', uriTemplate: 'file://{+path}' }, { name: 'web', uriTemplate: 'http://host/{+path}' }] },
    'resources/read': ({ uri }) => ({ contents: [{ uri, text: 'the content' }] })
  };
  const upstream = own(await startCanary(speaking(results)));
  const narrow = { exclude: ['*secret', 'resource:file:///secret/*', 'resource:http://host/secret/*'] };
  const gateway = own(
    await startGateway({
      upstreams: [{ name: 'up', url: `${upstream.origin}/mcp` }],
      contexts: { narrow, closed: {} },
      tokens: [{ name: 'ann', token_env: 'ANN', contexts: ['narrow'] }],
      env: { ANN: 'token-of-ann' },
      auth: { anonymous: 'never' }
    })
  );
  return { url: gateway.url, upstream };
}

/** Spellings of file:///secret/b and http://host/secret/b. */
const EXCLUDED = [
  'file:///secret/b', 'file:///%73ecret/b', 'file:///%73%65%63%72%65%74/b', 'file:////secret/b', 'file:///./secret/b', 'file:///x/../secret/b', 'file:///secret/./b', 'file:///secret//b', 'file:///%2e/secret/b', 'file:///x/%2e%2e/secret/b', 'file:///x/%2E./secret/b',
  'FILE:///secret/b', 'file://localhost/secret/b', 'file://LOCALHOST/secret/b', 'file:///secret%2fb', 'file:///secret%2Fb', 'file:///x%2f..%2fsecret/b', 'file:///secret%5cb', 'file:///x/..\\secret/b', 'file:///%252e%252e/secret/b', 'file:///%2573ecret/b', 'file:///secret%00/b', 'file:///../secret/b', 'file:///../../secret/b', 'file:///open/../../secret/b',
  'file:///secret/b?x', 'file:///secret/b#x', 'file:///secret/%62', 'file:///.//secret/b', 'file:///x/y/../../secret/b', 'file:///secret/x/../b',
  'http://host/secret/b', 'HTTP://HOST/secret/b', 'http://host:80/secret/b', 'http://host//secret/b', 'http://host/./secret/b', 'http://host/x/../secret/b', 'http://host/%73ecret/b', 'http://user@host/secret/b', 'http://ho%73t/secret/b'
];

const ask = async (url, method, params, token = 'token-of-ann') => {
  const { body } = modern(method, params);
  const { text } = await post(`${url}/narrow`, body, { ...headersOf(method, params), authorization: `Bearer ${token}` });
  return JSON.parse(text);
};

/** Opens a legacy session in the narrow context. Returns a function that sends requests, without Mcp-Name headers. */
async function legacySession(url) {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', authorization: 'Bearer token-of-ann' };
  const say = async (method, params, more = {}) => {
    const { text, headers: got } = await post(`${url}/narrow`, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), { ...headers, ...more });
    return { ...JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text), session: got['mcp-session-id'] };
  };
  const { session } = await say('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } });
  assert.ok(session, 'there is no session');
  return (method, params) => say(method, params, { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' });
}

/** Opens a listen stream until `stop`. `heard` lists the resources that the gateway acknowledged. */
async function listen(url, uris) {
  const params = { notifications: { resourceSubscriptions: uris } };
  const told = events(await send(`${url}/narrow`, 'subscriptions/listen', params, { token: 'token-of-ann' }));
  const { value } = await told.next();
  assert.equal(value?.method, 'notifications/subscriptions/acknowledged');
  return { heard: value.params.notifications.resourceSubscriptions ?? [], stop: () => told.return() };
}

export const cases = () => [
  {
    tried: 'an excluded resource read by another spelling: percent encodings, //, /./, /../, case, ports, backslashes',
    run: async ({ url, upstream }) => {
      const reads = () => upstream.seen.filter(({ body }) => body.includes('"resources/read"'));
      const legacy = await legacySession(url);
      for (const say of [(...said) => ask(url, ...said), legacy]) {
        for (const uri of EXCLUDED) {
          const before = reads().length;
          const answer = await say('resources/read', { uri });
          assert.ok(answer.error, `${uri} was read`);
          assert.equal(reads().length, before, `${uri} reached the upstream`);
        }
        for (const uri of ['file:///open/a', 'file:///open/other', 'http://host/open']) {
          assert.equal((await say('resources/read', { uri })).result?.contents?.[0]?.text, 'the content', uri);
        }
      }
      return `${EXCLUDED.length} spellings, in both eras`;
    }
  },
  {
    tried: 'subscribing to it, and listing it',
    run: async ({ own, url, upstream }) => {
      const list = JSON.stringify(await ask(url, 'resources/list', {}));
      assert.ok(list.includes('open/a') && !list.includes('secret/b'), list);
      assert.ok(!JSON.stringify(await ask(url, 'tools/list', {})).includes('up_secret'));
      const legacy = await legacySession(url);
      for (const uri of EXCLUDED) assert.ok((await legacy('resources/subscribe', { uri })).error, `${uri} was subscribed to`);
      const { heard } = own(await listen(url, [...EXCLUDED, 'file:///open/a']));
      assert.ok(!heard.some((uri) => EXCLUDED.includes(uri)), `a client is told of ${heard}`);
      await eventually('the upstream is listened to', () => upstream.seen.some(({ body }) => body.includes('subscriptions/listen') && body.includes('file:///open/a')));
      assert.ok(!upstream.seen.some(({ body }) => body.includes('subscriptions/listen') && body.includes('ecret')), 'the upstream was asked for it');
      return `${EXCLUDED.length} spellings, in both eras`;
    }
  },
  {
    tried: 'an excluded tool called by its own name, another case, or with spaces',
    run: async ({ url, upstream }) => {
      const names = ['up_secret', 'secret', 'UP_SECRET', ' up_secret', 'up_secret ', 'up_open/../up_secret', 'up_secret\u0000', 'up_\u0455ecret'];
      for (const name of names) {
        const { body } = modern('tools/call', { name, arguments: {} });
        const headers = { ...headersOf('tools/call', { name: 'x' }), authorization: 'Bearer token-of-ann', 'mcp-name': encodeURI(name) };
        const { text } = await post(`${url}/narrow`, body, headers);
        assert.ok(JSON.parse(text).error, name);
      }
      const legacy = await legacySession(url);
      for (const name of names) assert.ok((await legacy('tools/call', { name, arguments: {} })).error, name);
      assert.ok(!upstream.seen.some(({ body }) => body.includes('tools/call')), 'a call reached the upstream');
      return `${names.length} names, in both eras`;
    }
  },
  {
    tried: 'a resource that is another one for another caller: no cache may share it, whatever its upstream says',
    run: async ({ own }) => {
      const reading = (text) => ({
        'resources/list': { resources: [{ name: 'same', uri: 'x://same' }], ttlMs: 60_000 },
        'resources/read': ({ uri }) => ({ contents: [{ uri, text }], ttlMs: 60_000 })
      });
      const [first, second] = [own(await startCanary(speaking(reading('of ann')))), own(await startCanary(speaking(reading('of bob'))))];
      const gateway = own(
        await startGateway({
          upstreams: [{ name: 'first', url: `${first.origin}/mcp` }, { name: 'second', url: `${second.origin}/mcp` }],
          tokens: [{ name: 'ann', token_env: 'ANN', upstreams: ['first'] }, { name: 'bob', token_env: 'BOB', upstreams: ['second'] }],
          env: { ANN: 'token-of-ann', BOB: 'token-of-bob' }
        })
      );
      for (const who of ['ann', 'bob']) {
        for (const [method, params] of [['resources/read', { uri: 'x://same' }], ['resources/list', {}]]) {
          const { result } = await (await send(gateway.url, method, params, { token: `token-of-${who}` })).json();
          assert.equal(result?.cacheScope, 'private', `${method} of ${who}: ${JSON.stringify(result).slice(0, 200)}`);
          if (result.contents) assert.equal(result.contents[0].text, `of ${who}`);
        }
      }
    }
  },
  {
    tried: 'another context by another spelling of the path',
    run: async ({ url }) => {
      const targets = ['/mcp', '/mcp/', '/mcp/closed', '/mcp//closed', '/mcp/narrow/../closed', '/mcp/%63losed', '/mcp/narrow%2f..%2fclosed', '/mcp/./closed', '/mcp/closed/', '/mcp/CLOSED', '/mcp/narrow/closed', '/mcp;narrow', '/mcp/narrow;/../closed', '//mcp/closed', '/mcp/closed?context=narrow', '/mcp/closed#narrow'];
      for (const target of targets) {
        const { head, body } = modern('tools/list', {}, { target, token: 'token-of-ann' });
        const status = await statusOf(url, head + body);
        assert.ok(status >= 400 && status < 500, `${target} was answered ${status}`);
      }
      const { head, body } = modern('tools/list', {}, { target: '/mcp/narrow', token: 'token-of-ann' });
      assert.equal(await statusOf(url, head + body), 200);
      return `${targets.length} paths`;
    }
  }
];
