// Several users of one issuer at once: nothing of one reaches another, and everything ends with its token.
import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { describe, test } from 'node:test';

import { issuerEntry, startProtected, statusOf, toolsOf } from './support/identity.mjs';
import { startIdentityProvider } from './support/identity_provider.mjs';
import { eventsOf, LegacySession } from './support/legacy_raw.mjs';
import { pipeline, requestBytes } from './support/pipeline.mjs';
import { eventually, within } from './support/programs.mjs';
import { runningPrograms } from './support/programs_of_suite.mjs';
import { bodyOf, events, headersOf, send } from './support/raw.mjs';

const REQUESTS = 1000;
const PIPELINED = 50; // on one connection
const ALL = ['delete_report', 'read_report', 'write_report'];
const PEOPLE = { ada: { groups: ['ops'] }, bob: { groups: ['staff'] }, cyd: { groups: ['staff'] } };
const RULES = [
  { match: { groups: ['ops'] }, upstreams: ['*'] },
  { match: { groups: ['staff'] }, tools: ['read_*'] }
];
const SEES = { ada: ALL, bob: ['read_report'] };

describe('two users of one issuer', () => {
  let parts;
  let tokens;
  let other;
  runningPrograms(async (programs) => {
    other = await startIdentityProvider({ people: PEOPLE });
    programs.push(other);
    parts = await startProtected(programs, { provider: { people: PEOPLE }, issuers: [issuerEntry(other)], rules: RULES, limits: { calls_per_principal: 4096 } });
    const { provider, resource } = parts;
    // Several for each user, so that requests of one user change tokens, too.
    const three = (subject) => Promise.all(Array.from({ length: 3 }, () => provider.tokenFor({ resource, subject })));
    tokens = { ada: await three('ada'), bob: await three('bob') };
  });

  /** Returns the i-th of many requests: its token, method and parameters, and `check`, which checks its answer. */
  function task(i) {
    const user = i % 2 ? 'ada' : 'bob';
    const token = tokens[user][Math.floor(i / 2) % 3];
    const [method, params] =
      i % 6 < 2
        ? ['tools/list', {}]
        : ['tools/call', { name: i % 6 < 4 ? 'write_report' : 'read_report', arguments: { mark: `${user} ${i}` } }];
    const check = ({ status, message }) => {
      const what = `${i}, ${user}, ${method} ${params.name ?? ''}: ${status} ${JSON.stringify(message)}`;
      if (method === 'tools/list') {
        assert.deepEqual(message.result?.tools.map(({ name }) => name).sort(), SEES[user], what);
      } else if (SEES[user].includes(params.name)) {
        assert.deepEqual(message.result?.structuredContent, { tool: params.name, arguments: params.arguments }, what);
      } else {
        assert.equal(message.error?.code, -32602, what);
        assert.doesNotMatch(JSON.stringify(message), /ada/, what);
      }
    };
    return { token, method, params, check };
  }

  function ask(agent, { token, method, params }) {
    return new Promise((done, failed) => {
      const headers = { ...headersOf(method, params), authorization: `Bearer ${token}` };
      const outgoing = request(parts.gateway.url, { agent, method: 'POST', headers }, (incoming) => {
        let text = '';
        incoming.on('data', (data) => (text += data));
        incoming.on('error', failed);
        incoming.on('end', () => done({ status: incoming.statusCode, message: JSON.parse(text) }));
      });
      outgoing.on('error', failed);
      outgoing.end(bodyOf(method, params));
    });
  }

  const KINDS = [
    ['by four connections that they share', { keepAlive: true, maxSockets: 4, scheduling: 'fifo' }, 16],
    ['by one connection', { keepAlive: true, maxSockets: 1 }, 16],
    ['by a connection for each', { keepAlive: false }, 32]
  ];
  for (const [how, options, atOnce] of KINDS) {
    test(`OAU-09 ${REQUESTS} requests of both, ${how}: nothing crosses`, async () => {
      const agent = new Agent(options);
      let next = 0;
      const work = async () => {
        while (next < REQUESTS) {
          const one = task(next++);
          one.check(await ask(agent, one));
        }
      };
      await Promise.all(Array.from({ length: atOnce }, work));
      agent.destroy();
    });
  }

  test(`OAU-09 ${REQUESTS} requests of both, pipelined with alternating tokens: nothing crosses`, async () => {
    const { gateway } = parts;
    for (let from = 0; from < REQUESTS; from += 2 * PIPELINED) {
      // Two connections at a time, each with requests of both users.
      const halves = [from, from + PIPELINED].map((first) => Array.from({ length: PIPELINED }, (_, i) => task(first + i)));
      await Promise.all(
        halves.map(async (tasks) => {
          const sent = tasks.map(({ method, params, token }) => requestBytes(gateway.url, method, params, token));
          const answers = await within(30_000, 'pipelined answers', pipeline(gateway.url, sent));
          for (const [i, one] of tasks.entries()) one.check(answers[i]);
        })
      );
    }
  });

  test('OAU-09 SEC-05 AUT-02 a legacy session of one does not exist for the other, nor for another of the same rule', async () => {
    const { gateway, provider, resource } = parts;
    const [ada] = tokens.ada;
    const session = await LegacySession.open(gateway.url, ada);
    const statuses = async (token) => {
      const listed = await session.post('tools/list', {}, token);
      await listed.text();
      const stream = await session.stream(token);
      await stream.body?.cancel();
      const ended = await session.end(token);
      return [listed.status, stream.status, ended.status];
    };
    assert.deepEqual(await statuses(tokens.bob[0]), [404, 404, 404]);
    const bobs = await LegacySession.open(gateway.url, tokens.bob[0]);
    const cyd = await provider.tokenFor({ resource, subject: 'cyd' });
    const asCyd = await bobs.post('tools/list', {}, cyd);
    assert.equal(asCyd.status, 404);
    // Both sessions still work for their owners, with any of their tokens.
    assert.equal((await bobs.post('tools/list', {}, tokens.bob[1])).status, 200);
    assert.equal((await session.post('tools/list', {}, tokens.ada[2])).status, 200);
    assert.equal((await session.end(ada)).status < 300, true);
  });

  test('OAU-09 SEC-05 the same subject of another issuer is somebody else', async () => {
    const { gateway, resource } = parts;
    const session = await LegacySession.open(gateway.url, tokens.ada[0]);
    const theirs = await other.tokenFor({ resource, subject: 'ada' });
    assert.deepEqual(await toolsOf(gateway.url, theirs), ALL);
    assert.equal((await session.post('tools/list', {}, theirs)).status, 404);
    assert.equal((await session.post('tools/list', {}, tokens.ada[1])).status, 200);
  });

  test('OAU-09 a limit of one is not the limit of the other', async () => {
    const { gateway, provider, resource } = parts;
    gateway.reconfigure({ rules: [RULES[0], { ...RULES[1], requests_per_minute: 5 }] });
    const bob = await provider.tokenFor({ resource, subject: 'bob' });
    await eventually('a limit', async () => (await statusOf(gateway.url, bob)) === 429);
    assert.deepEqual(await toolsOf(gateway.url, tokens.ada[0]), ALL);
    assert.equal(await statusOf(gateway.url, await provider.tokenFor({ resource, subject: 'cyd' })), 200);
    gateway.reconfigure({});
    await eventually('no limit', async () => (await statusOf(gateway.url, bob)) === 200);
  });
});

describe('what is open when a token ends', () => {
  let parts;
  runningPrograms(async (programs) => {
    parts = await startProtected(programs, { provider: { people: PEOPLE }, rules: RULES });
  });
  const short = (subject = 'ada') => parts.provider.tokenFor({ resource: parts.resource, subject, expiresIn: 3 });
  const long = (subject = 'ada') => parts.provider.tokenFor({ resource: parts.resource, subject });

  async function listen(token) {
    const response = await send(parts.gateway.url, 'subscriptions/listen', { notifications: { toolsListChanged: true } }, { token });
    assert.equal(response.status, 200);
    const messages = events(response);
    assert.equal((await messages.next()).value.method, 'notifications/subscriptions/acknowledged');
    return messages;
  }

  async function addTool() {
    const { upstream, at } = parts;
    upstream.tools = [...upstream.tools, { name: `new_${Date.now()}`, inputSchema: { type: 'object' } }];
    await (await fetch(at('/admin/upstreams/reports/refresh'), { method: 'POST', headers: { 'x-admin-secret': 'the-admin-secret' } })).text();
  }

  test('OAU-10 the stream of a modern client ends with its token, in good order; those of others go on', async () => {
    const kept = await listen(await long('ada'));
    const token = await short('ada');
    const ending = await listen(token);
    const seen = [];
    await within(30_000, 'the end of the stream', (async () => {
      for await (const message of ending) seen.push(message);
    })());
    assert.ok(seen.some(({ result }) => result) || seen.some(({ method }) => method === 'notifications/cancelled'), JSON.stringify(seen));
    assert.equal(await statusOf(parts.gateway.url, token), 401);
    // The other stream of the same user still gets notifications.
    await addTool();
    const { value } = await within(15_000, 'a change', kept.next());
    assert.equal(value.method, 'notifications/tools/list_changed');
    await kept.return();
  });

  test('OAU-10 a legacy session stops with its token, and goes on with a fresh one of the same subject', async () => {
    const { gateway } = parts;
    const token = await short();
    const session = await LegacySession.open(gateway.url, token);
    const stream = await session.stream(token);
    assert.equal(stream.status, 200);
    await within(30_000, 'the end of the stream', stream.text());
    const late = await session.post('tools/list', {}, token);
    assert.equal(late.status, 401);
    await late.text();
    const fresh = await long();
    const listed = await session.post('tools/list', {}, fresh);
    assert.equal(listed.status, 200);
    await listed.text();
    assert.equal((await session.post('tools/list', {}, await long('bob'))).status, 404);
    const again = await session.stream(fresh);
    assert.equal(again.status, 200);
    const messages = eventsOf(again);
    await addTool();
    const { value } = await within(15_000, 'a change', messages.next());
    assert.equal(value.data.method, 'notifications/tools/list_changed');
    await messages.return();
  });

  test('AUT-04 OAU-10 a rule that a reload takes away ends what is open by it', async () => {
    const { gateway } = parts;
    const token = await long('bob');
    const ending = await listen(token);
    gateway.reconfigure({ rules: [RULES[0]] });
    await within(30_000, 'the end of the stream', (async () => {
      for await (const message of ending) assert.ok(message);
    })());
    assert.equal(await statusOf(gateway.url, token), 403);
    assert.equal(await statusOf(gateway.url, await long('ada')), 200);
  });
});
