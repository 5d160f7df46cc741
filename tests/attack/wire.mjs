// Segmentation, pipelining and smuggling: earlier requests on a connection do not change how a request is read.
import { startFakeUpstream } from '../e2e/support/fake_upstream.mjs';
import { startGateway } from '../e2e/support/gateway.mjs';
import { assert, eventually, head, modern, range, statusOf, Wire } from './support.mjs';

export const title = 'Bytes on a connection (SEC-03, SEC-01)';

export async function stage(own) {
  const alpha = own(await startFakeUpstream(['alpha']));
  const beta = own(await startFakeUpstream(['beta']));
  const gateway = own(
    await startGateway({
      upstreams: [{ name: 'a', url: alpha.url }, { name: 'b', url: beta.url }],
      tokens: [{ name: 'ann', token_env: 'ANN', upstreams: ['a'] }, { name: 'bob', token_env: 'BOB', upstreams: ['b'] }],
      contexts: { sec: { exclude: ['a_alpha'] } },
      env: { ANN: 'token-of-ann', BOB: 'token-of-bob' }
    })
  );
  return { url: gateway.url };
}

const GET_HEALTH = head('GET', '/healthz');
const LIST = modern('tools/list');

/** Sends each piece as a segment, and returns the answers. */
async function inPieces(url, pieces, count) {
  const wire = new Wire(url);
  for (const piece of pieces) {
    wire.write(piece);
    await new Promise((sent) => setImmediate(sent));
  }
  const answers = await wire.take(count);
  wire.destroy();
  return answers;
}

const post = (lines, body = '') => `POST /mcp HTTP/1.1\r\nHost: localhost\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
const chunked = (body, ...more) => post(['Content-Type: application/json', ...more, 'Transfer-Encoding: chunked'], body);
const get = (lines) => `GET /healthz HTTP/1.1\r\nHost: localhost\r\n${lines}\r\n\r\n`;
/** Requests that two parsers could read differently. A request that follows one of them must not be answered. */
const SMUGGLING = {
  'Content-Length and Transfer-Encoding': post(['Content-Length: 5', 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
  'Transfer-Encoding and Content-Length': post(['Transfer-Encoding: chunked', 'Content-Length: 5'], '0\r\n\r\n'),
  'two Content-Lengths': post(['Content-Length: 0', 'Content-Length: 5'], 'hello'),
  'two equal Content-Lengths': post(['Content-Length: 2', 'Content-Length: 2'], '{}'),
  'a list as Content-Length': post(['Content-Length: 2, 2'], '{}'),
  'a signed Content-Length': post(['Content-Length: +2'], '{}'),
  'a negative Content-Length': post(['Content-Length: -1']),
  'a hexadecimal Content-Length': post(['Content-Length: 0x2'], '{}'),
  'a Content-Length with an exponent': post(['Content-Length: 2e0'], '{}'),
  'a Content-Length beyond 64 bits': post(['Content-Length: 18446744073709551618'], '{}'),
  'an empty Content-Length': post(['Content-Length: '], ''),
  'a space inside Content-Length': post(['Content-Length: 2 0'], '{}'),
  'an unknown coding': post(['Transfer-Encoding: xchunked'], '0\r\n\r\n'),
  'identity as coding': post(['Transfer-Encoding: identity'], ''),
  'chunked twice': post(['Transfer-Encoding: chunked, chunked'], '0\r\n\r\n'),
  'chunked in two lines': post(['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
  'chunked not last': post(['Transfer-Encoding: chunked, identity'], '0\r\n\r\n'),
  'a vertical tab before chunked': post(['Transfer-Encoding: \x0bchunked'], '0\r\n\r\n'),
  'a quoted coding': post(['Transfer-Encoding: "chunked"'], '0\r\n\r\n'),
  'chunked in HTTP/1.0': 'POST /mcp HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'a space before the colon': post(['Transfer-Encoding : chunked', 'Content-Length: 5'], '0\r\n\r\n'),
  'a tab before the colon': post(['Content-Length\t: 2'], '{}'),
  'a folded line': post(['X-One: 1\r\n Transfer-Encoding: chunked', 'Content-Length: 0']),
  'a folded first line': 'GET /healthz HTTP/1.1\r\n Host: localhost\r\n\r\n',
  'a line without a colon': get('nothing'),
  'a line without a name': get(': nothing'),
  'a NUL in a value': get('X-One: a\0b'),
  'a NUL in a name': get('X\0One: a'),
  'a carriage return in a value': get('X-One: a\rTransfer-Encoding: chunked'),
  'a control character in a value': get('X-One: a\x01b'),
  'a bare LF between lines': 'GET /healthz HTTP/1.1\nHost: localhost\n\n',
  'a bare LF inside a head': 'GET /healthz HTTP/1.1\r\nHost: localhost\nContent-Length: 0\r\n\r\n',
  'two Hosts': 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n',
  'no Host': 'POST /mcp HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}',
  'a tab in the request line': 'GET\t/healthz\tHTTP/1.1\r\nHost: localhost\r\n\r\n',
  'a space in the target': 'GET /healthz /x HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'two spaces in the request line': 'GET  /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'a control character in the target': 'GET /health\x01z HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'a version nobody speaks': 'GET /healthz HTTP/1.2x\r\nHost: localhost\r\n\r\n',
  'another protocol': 'GET /healthz HTTPS/1.1\r\nHost: localhost\r\n\r\n',
  'a target without a slash': 'GET healthz HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'CONNECT': 'CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'a chunk size that is not a number': chunked('G\r\n{}\r\n0\r\n\r\n'),
  'a chunk size with 0x': chunked('0x2\r\n{}\r\n0\r\n\r\n'),
  'a signed chunk size': chunked('+2\r\n{}\r\n0\r\n\r\n'),
  'a negative chunk size': chunked('-2\r\n{}\r\n0\r\n\r\n'),
  'a chunk size beyond 64 bits': chunked('10000000000000002\r\n{}\r\n0\r\n\r\n'),
  'two chunk sizes': chunked('2 2\r\n{}\r\n0\r\n\r\n'),
  'an empty chunk size': chunked('\r\n{}\r\n0\r\n\r\n'),
  'a space before the chunk size': chunked(' 2\r\n{}\r\n0\r\n\r\n'),
  'a bare LF after the chunk size': chunked('2\n{}\r\n0\r\n\r\n'),
  'a bare LF in a chunk extension': chunked('2;a\nb\r\n{}\r\n0\r\n\r\n'),
  'a chunk longer than it says': chunked('2\r\n{}x\r\n0\r\n\r\n'),
  'a bare LF after a chunk': chunked('2\r\n{}\n0\r\n\r\n'),
  'a bare LF in the trailers': chunked('2\r\n{}\r\n0\r\nX: y\n\r\n'),
  'Authorization twice': modern('tools/list', {}, { headers: { authorization: ['Bearer token-of-ann', 'Bearer token-of-bob'] } }).head + LIST.body,
  'Authorization twice, equal': modern('tools/list', {}, { headers: { authorization: ['Bearer token-of-ann', 'Bearer token-of-ann'] } }).head + LIST.body,
  'Origin twice': modern('tools/list', {}, { headers: { origin: ['http://localhost', 'http://evil.example'] } }).head + LIST.body
};

/** Requests that must be refused, but whose end is clear, so that the connection may go on. */
const REFUSED = {
  'a Host with a path': 'GET /healthz HTTP/1.1\r\nHost: localhost/evil\r\n\r\n',
  'Mcp-Session-Id twice': modern('tools/list', {}, { headers: { 'mcp-session-id': ['x', 'y'] } }).head + LIST.body,
  'Mcp-Name twice': modern('tools/call', { name: 'a_alpha' }, { headers: { 'mcp-name': ['a_alpha', 'b_beta'] } }).head + modern('tools/call', { name: 'a_alpha' }).body,
  'an Mcp-Name of another tool': modern('tools/call', { name: 'a_alpha' }, { headers: { 'mcp-name': 'b_beta' } }).head + modern('tools/call', { name: 'a_alpha' }).body,
  'an Mcp-Method of another method': modern('tools/list', {}, { headers: { 'mcp-method': 'tools/call' } }).head + LIST.body
};

/**
 * Pairs of requests. When the body of the second moves its head in the buffer, a stale view of its path would see the
 * bytes of the first.
 */
const lists = (...targets) => targets.map((target) => modern('tools/list', {}, { target }));
const gets = (...targets) => targets.map((target) => ({ head: head('GET', target, { 'content-length': 2 }), body: '{}' }));
const STALE = {
  'POST /mcp?yyyy, then POST /mcp/sec': [lists('/mcp?yyyy', '/mcp/sec'), lists('/mcp?yyy', '/mcp/sec'), lists('/mcp/sec', '/mcp?yyy'), lists('http://localhost/mcp', '/mcp/sec')],
  'GET http://b/readyzz, then GET /mcp/aaa/metrics': [gets('http://b/readyzz', '/mcp/aaa/metrics'), gets('/metrics?zzzzzzz', '/mcp/aaa/metrics')]
};

export const cases = (full) => [
  ...Object.entries(STALE).map(([what, pairs]) => ({
    tried: `a request and the head of the next in one segment, its body later: ${what}`,
    run: async ({ url }) => {
      const paddings = range(full ? 85 : 15).map((i) => i * (full ? 50 : 300));
      for (const [first, second] of pairs) {
        const [alone] = await inPieces(url, [second.head + second.body], 1);
        for (const padding of paddings) {
          const wire = new Wire(url);
          wire.write((first.head + first.body).replace('\r\n\r\n', `\r\nX-Padding: ${'p'.repeat(padding)}\r\n\r\n`) + second.head);
          await eventually('an answer', () => wire.answers().length > 0);
          wire.write(second.body);
          assert.deepEqual((await wire.take(2))[1], alone, `after ${padding} bytes more it is another answer than alone`);
          wire.destroy();
        }
      }
      return `${pairs.length} pairs, ${paddings.length} lengths`;
    }
  })),
  {
    tried: 'a request cut in two at each byte of it',
    run: async ({ url }) => {
      const text = modern('tools/list', {}, { token: 'token-of-ann' });
      const whole = text.head + text.body;
      const [{ body: expected }] = await inPieces(url, [whole], 1);
      assert.ok(expected.includes('a_alpha') && !expected.includes('b_beta'));
      const cuts = range(whole.length - 1).filter((i) => full || i % 5 === 0);
      for (const at of cuts) {
        const [{ body }] = await inPieces(url, [whole.slice(0, at + 1), whole.slice(at + 1)], 1);
        assert.equal(body, expected, `cut at ${at + 1}`);
      }
      return `${cuts.length} cuts`;
    }
  },
  {
    tried: 'two tokens and none by turns on the same connections, pipelined: each sees its own (CVE-2026-25536)',
    run: async ({ url }) => {
      const who = [
        ['token-of-ann', ['a_alpha'], ['b_beta']],
        ['token-of-bob', ['b_beta'], ['a_alpha']],
        [undefined, ['a_alpha', 'b_beta'], []]
      ].map(([token, sees, sees_not]) => ({ ...modern('tools/list', {}, { token }), sees, sees_not }));
      const rounds = full ? 400 : 40;
      const deep = 12;
      let lists = 0;
      await Promise.all(
        range(8).map(async (lane) => {
          const wire = new Wire(url);
          for (let round = 0; round < rounds; ++round) {
            const order = range(deep).map((i) => who[(i * (1 + (round % 5)) + lane + round) % who.length]);
            wire.write(order.map((one) => one.head + one.body).join(''));
            const answers = await wire.take(deep);
            answers.forEach(({ status, body }, i) => {
              assert.equal(status, 200);
              for (const name of order[i].sees) assert.ok(body.includes(name), `${name} is missing`);
              for (const name of order[i].sees_not) assert.ok(!body.includes(name), `${name} is of somebody else`);
            });
            lists += deep;
          }
          wire.destroy();
        })
      );
      return `${lists} lists`;
    }
  },
  {
    tried: 'an unknown token after a known one on the same connection',
    run: async ({ url }) => {
      for (const token of ['token-of-ann ', 'token-of-anm', 'token-of-an', 'token-of-annn', '']) {
        const wire = new Wire(url);
        const known = modern('tools/list', {}, { token: 'token-of-ann' });
        const other = modern('tools/list', {}, { headers: { authorization: `Bearer ${token}x` } });
        wire.write(known.head + known.body + other.head + other.body);
        const [first, second] = await wire.take(2);
        assert.deepEqual([first.status, second.status], [200, 401]);
        wire.destroy();
      }
    }
  },
  {
    tried: 'credentials in the trailers of a chunked body',
    run: async ({ url }) => {
      const { 'content-length': _, ...headers } = { ...Object.fromEntries(LIST.head.split('\r\n').slice(2, -2).map((line) => line.split(': '))) };
      const wire = new Wire(url);
      const body = `${LIST.body.length.toString(16)}\r\n${LIST.body}\r\n0\r\nAuthorization: Bearer token-of-ann\r\n\r\n`;
      wire.write(head('POST', '/mcp', { ...headers, 'transfer-encoding': 'chunked' }) + body + GET_HEALTH);
      const answers = await wire.take(2);
      assert.ok(answers[0].status >= 400 || answers[0].body.includes('b_beta'), 'a trailer changed who asks');
      wire.destroy();
    }
  },
  ...Object.entries(SMUGGLING).map(([what, text]) => ({
    tried: `${what}: refused, and what follows is not answered`,
    run: async ({ url }) => {
      const wire = new Wire(url);
      wire.write(text + GET_HEALTH);
      await wire.ended();
      const statuses = wire.statuses();
      assert.equal(statuses.length, 1, `answered ${statuses}`);
      assert.ok(statuses[0] >= 400 && statuses[0] < 600, `answered ${statuses}`);
      return statuses[0];
    }
  })),
  ...Object.entries(REFUSED).map(([what, text]) => ({
    tried: `${what}: refused`,
    run: async ({ url }) => {
      const status = await statusOf(url, text);
      assert.ok(status >= 400 && status < 500, `answered ${status}`);
      return status;
    }
  }))
];
