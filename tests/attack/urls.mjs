// Deceptive URLs and redirects: the gateway connects to no address that [egress] forbids, and sends credentials only to
// the server that they are for.
import { hostname } from 'node:os';

import { startGateway } from '../e2e/support/gateway.mjs';
import { send } from '../e2e/support/raw.mjs';
import { Caller, queryTool, SECRET } from '../e2e/support/sessions.mjs';
import { assert, eventually, speaking, startCanary, tool } from './support.mjs';

export const title = 'URLs and redirects (SEC-01, SEC-06)';

/**
 * Starts a gateway that may not connect to loopback, because it listens on an address beyond the machine, and a canary
 * that it must not reach, on all of 127/8.
 */
export async function stage(own) {
  const canary = own(await startCanary(undefined, '0.0.0.0'));
  const settings = { server: { ops_listen: '0.0.0.0:0' }, egress: { allow: ['127.0.0.9'] }, env: { PROTEUS_ADMIN_SECRET: SECRET } };
  const gateway = own(await startGateway(settings));
  const caller = new Caller(gateway.url, 4);
  own({ stop: () => caller.close() });
  return { canary, gateway, caller };
}

const V4 = '127.0.0.1';
const HEX = '7f00:1';
/** URLs that show a forbidden target, and texts that are not URLs. `P` stands for the canary's port. */
const REFUSED = [
  `http://${V4}:P/mcp`, 'http://localhost:P/mcp', 'http://LOCALHOST:P/mcp', 'http://localhost.:P/mcp', 'http://x.localhost:P/mcp', 'http://127.0.0.2:P/mcp', 'http://127.1:P/mcp', 'http://0:P/mcp', 'http://0.0.0.0:P/mcp',
  'http://2130706433:P/mcp', 'http://0x7f000001:P/mcp', 'http://0x7f.0.0.1:P/mcp', 'http://0177.0.0.1:P/mcp', 'http://017700000001:P/mcp', 'http://127.0.1:P/mcp', 'http://00000177.0.0.1:P/mcp',
  'http://[::1]:P/mcp', 'http://[::]:P/mcp', 'http://[0:0:0:0:0:0:0:1]:P/mcp', `http://[::ffff:${V4}]:P/mcp`, `http://[::ffff:${HEX}]:P/mcp`, `http://[::ffff:0:${V4}]:P/mcp`, `http://[::${V4}]:P/mcp`,
  'http://[::1%25lo]:P/mcp', 'http://[::1%lo]:P/mcp', 'http://[fe80::1%25eth0]:P/mcp', 'http://[fe80::1]:P/mcp', 'http://[ff02::1]:P/mcp', 'http://[fd00:ec2::254]/mcp',
  'http://169.254.169.254/latest/meta-data', 'http://169.254.169.254.:P/mcp', 'http://10.0.0.1/mcp', 'http://192.168.0.1/mcp', 'http://172.16.0.1/mcp', 'http://100.64.0.1/mcp', 'http://100.100.100.200/mcp', 'http://224.0.0.1/mcp', 'http://255.255.255.255/mcp',
  `http://${V4}:Phttp://evil.example/`, `http://user@${V4}:P/mcp`, `http://evil.example@${V4}:P/mcp`, `http://evil.example:80@${V4}:P/mcp`, `http://${V4}:P\\@evil.example/`, `http://${V4}:P#@evil.example/`, `http://evil.example\\@${V4}:P/`,
  `http://${V4}:P%2f@evil.example/`, `http://evil.example%00.${V4}:P/`, `http://${V4}%00.evil.example:P/`, `http://①②⑦.⓪.⓪.①:P/`, 'http://127。0。0。1:P/', ` http://${V4}:P/`, `http://${V4}:P/\r\nX-Evil: 1`, `http://${V4}:P/ HTTP/1.1`,
  `http:///${V4}:P/`, `http:${V4}:P/`, `//${V4}:P/`, `https:/\\${V4}:P/`, 'file:///etc/passwd', 'gopher://127.0.0.1:P/_x', 'unix:/run/x.sock', 'javascript:alert(1)', 'http://', 'http://:P/', 'http://example.com:99999/', 'http://example.com:-1/', 'http://example.com:0x50/', 'http://[::1', 'http://[::1]x:P/', 'http://[1.2.3.4]/'
];
/** The same for the advisory: IPv6 addresses, most of them with IPv4 addresses that a filter for IPv4 does not see. */
const TUNNELLED = [
  'http://[2002:7f00:1::]:P/', 'http://[2002:a9fe:a9fe::1]/', 'http://[2002:a00:1::]/', 'http://[64:ff9b::7f00:1]:P/', 'http://[64:ff9b::169.254.169.254]/', 'http://[64:ff9b::10.0.0.1]/', 'http://[64:ff9b:1::7f00:1]:P/', 'http://[64:ff9b:1:7f00:0:100::]/',
  'http://[64:ff9b:1:ffff::a9fe:a9fe]/', 'http://[fec0::1]/', 'http://[feff::1]/', 'http://[2001:0:4136:e378:8000:63bf:80ff:fffe]/', 'http://[2606:4700::5efe:10.0.0.1]/', 'http://[2606:4700::200:5efe:127.0.0.1]:P/', 'http://[fc00::1]/', 'http://[fdff::1]/', 'http://[::a9fe:a9fe]/', 'http://[::ffff:0:a9fe:a9fe]/'
];
/** Names that resolve to forbidden addresses: they may be registered, but must never be reached. */
const NAMES = ['127.0.0.1.nip.io', 'localtest.me', 'ip6-localhost', 'ip6-loopback', hostname()];

const at = (url, { port }) => url.replaceAll(/P(?=[/h\\#%]|$)/g, String(port));

/** Registers an upstream, and checks that it is refused at once or that its first connection fails. Returns which. */
async function refusal(caller, url) {
  const name = `odd${refusal.count++}`;
  const { status, json } = await caller.admin('/admin/upstreams', { name, url, authentication: { type: 'bearer', token: 'the-bearer' } });
  assert.ok(!JSON.stringify(json).includes('the-bearer'), 'the bearer is shown');
  if (status === 400) return 'at once';
  assert.equal(status, 201, `${url} was answered ${status}`);
  const refreshed = await refresh(caller, name);
  assert.equal(refreshed.json.ok, false, `${url} was asked`);
  return 'at the connection';
}
refusal.count = 0;

function refresh(caller, name) {
  return caller.send('POST', `/admin/upstreams/${name}/refresh`, { 'x-admin-secret': SECRET }, '');
}

const refusedAll = (urls) => async ({ caller, canary }) => {
  const when = { 'at once': 0, 'at the connection': 0 };
  for (const url of urls) when[await refusal(caller, at(url, canary))] += 1;
  assert.equal(canary.seen.length, 0, 'the canary was reached');
  return Object.entries(when).map(([what, count]) => `${count} ${what}`).join(', ');
};

/** Registers a session tool at `url` and calls it once. Returns the text of the answer, or the status of a refusal. */
async function callTool(caller, url, name) {
  const registered = await caller.admin('/admin/tools/register', { session_id: name, user_token: `token-of-${name}`, user_id: 'u', tools: [queryTool(name, url)] });
  if (registered.status !== 200) return { refused: registered.status };
  const { json } = await caller.mcp(`token-of-${name}`, 'tools/call', { name, arguments: { query: 'x' } });
  return { text: JSON.stringify(json) };
}

export const cases = () => [
  { tried: 'an upstream registered by a URL that leads inside, or nowhere', run: refusedAll(REFUSED) },
  { tried: 'CVE-2026-44430: IPv4 addresses inside of IPv6 addresses (6to4, NAT64, site-local, Teredo, ISATAP)', run: refusedAll(TUNNELLED) },
  { tried: 'names that lead inside once they are looked up', run: refusedAll(NAMES.map((name) => `http://${name}:P/mcp`)) },
  {
    tried: 'another port, or another scheme, of a host that the configuration names',
    run: async ({ own, canary }) => {
      const named = own(await startCanary(speaking({ 'tools/list': { tools: [tool('x')] } })));
      const settings = { server: { ops_listen: '0.0.0.0:0' }, upstreams: [{ name: 'named', url: `${named.origin}/mcp` }], env: { PROTEUS_ADMIN_SECRET: SECRET } };
      const caller = new Caller(own(await startGateway(settings)).url, 4);
      own({ stop: () => caller.close() });
      assert.ok(named.seen.length > 0, 'the upstream of the file is asked');
      assert.equal((await caller.admin('/admin/upstreams', { name: 'again', url: `${named.origin}/other` })).status, 201, 'its own origin may be registered');
      const others = [`http://127.0.0.1:${canary.port}/mcp`, `https://127.0.0.1:${named.port}/mcp`, 'http://127.0.0.1/mcp'];
      for (const url of others) await refusal(caller, url);
      assert.equal(canary.seen.length, 0, 'the canary was reached');
      return `${others.length} URLs`;
    }
  },
  {
    tried: 'a session tool registered by such a URL',
    run: async ({ caller, canary }) => {
      const urls = [...REFUSED, ...TUNNELLED, ...NAMES.map((name) => `http://${name}:P/`)];
      for (const [i, url] of urls.entries()) {
        const { refused, text } = await callTool(caller, at(url, canary), `tool${i}`);
        assert.ok(refused === 400 || /isError":true/.test(text ?? ''), `${url}: ${text}`);
      }
      assert.equal(canary.seen.length, 0, 'the canary was reached');
      return `${urls.length} URLs`;
    }
  },
  ...[301, 302, 303, 307, 308].map((status) => ({
    tried: `an allowed upstream and an allowed session tool redirect inside with ${status}`,
    run: async ({ caller, canary, own }) => {
      const guide = own(await startCanary(() => [status, { location: `http://127.0.0.1:${canary.port}/inside` }, ''], '127.0.0.9'));
      assert.equal((await caller.admin('/admin/upstreams', { name: `guide${status}`, url: `${guide.origin}/mcp` })).status, 201);
      await eventually('it was asked', () => guide.seen.length > 0);
      const { text } = await callTool(caller, `${guide.origin}/tool`, `redirected${status}`);
      assert.ok(guide.seen.some(({ path }) => path === '/tool'), text);
      await refresh(caller, `guide${status}`);
      assert.equal(canary.seen.length, 0, 'the canary was reached');
      assert.match(text, /isError":true/);
    }
  })),
  {
    tried: 'a redirect to another origin: the bearer stays behind; a ring of them ends',
    run: async ({ own }) => {
      const open = own(await startGateway({ env: { PROTEUS_ADMIN_SECRET: SECRET } }));
      const caller = new Caller(open.url, 4);
      own({ stop: () => caller.close() });
      const away = own(await startCanary());
      const guide = own(await startCanary(({ path }) => [path === '/posted' ? 307 : 303, { location: `${away.origin}/away` }, '']));
      const ring = own(await startCanary(({ path }) => [307, { location: `${ring.origin}${path}x` }, '']));
      await callTool(caller, `${guide.origin}/tool`, 'crossing');
      assert.equal(guide.seen[0].headers.authorization, 'Bearer token-of-crossing', 'its own back end gets it');
      assert.equal(away.seen.length, 1);
      assert.equal(away.seen[0].headers.authorization, undefined, 'the bearer went elsewhere');
      await callTool(caller, `${guide.origin}/posted`, 'posted');
      assert.equal(away.seen.length, 1, 'arguments went elsewhere');
      await callTool(caller, `${ring.origin}/r`, 'ring');
      assert.ok(ring.seen.length <= 4, `${ring.seen.length} requests`);
      const upstream = { name: 'bearing', url: `${guide.origin}/mcp`, authentication: { type: 'bearer', token: 'the-bearer' } };
      await caller.admin('/admin/upstreams', upstream);
      await refresh(caller, 'bearing');
      assert.equal(away.seen.length, 1, 'an upstream is not followed');
      return `${ring.seen.length} requests around the ring`;
    }
  },
  {
    tried: "the caller's own token and headers, at an upstream and at a tool's back end",
    run: async ({ own }) => {
      const away = own(await startCanary((one) => (one.path === '/tool' ? [200, {}, '{}'] : speaking({ 'tools/list': { tools: [tool('x')] } })(one))));
      const tokens = { tokens: [{ name: 'ann', token_env: 'ANN' }], env: { ANN: 'token-of-ann', PROTEUS_ADMIN_SECRET: SECRET } };
      const open = own(await startGateway({ upstreams: [{ name: 'up', url: `${away.origin}/mcp` }], ...tokens }));
      const caller = new Caller(open.url, 4);
      own({ stop: () => caller.close() });
      const headers = { cookie: 'c=1', 'x-api-key': 'key', 'proxy-authorization': 'Basic x' };
      const called = await send(open.url, 'tools/call', { name: 'up_x', arguments: {} }, { token: 'token-of-ann', headers });
      assert.equal(called.status, 200);
      await caller.admin('/admin/session/init', { session_id: 's', user_token: 'token-of-s', backend_token: 'of-the-back-end', user_id: 'u' });
      await caller.admin('/admin/tools/register', { session_id: 's', tools: [queryTool('q', `${away.origin}/tool`)] });
      await caller.mcp('token-of-s', 'tools/call', { name: 'q', arguments: { query: 'x' } });
      assert.ok(away.seen.some(({ body }) => body.includes('tools/call')) && away.seen.some(({ path }) => path === '/tool'), 'both were asked');
      for (const { headers: got, path } of away.seen) {
        const text = JSON.stringify(got);
        for (const secret of ['token-of-ann', 'token-of-s', 'c=1', 'x-api-key', 'Basic x', SECRET]) assert.ok(!text.includes(secret), `${path} got ${secret}`);
      }
    }
  }
];
