// Tools that a back end gives one session: by curl, and as the official clients see them.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';

import { CLIENTS, Session, textOf } from './support/clients.mjs';
import { startGateway } from './support/gateway.mjs';
import { Caller, queryTool, SECRET, startBackend } from './support/sessions.mjs';

const CHANGED = 'notifications/tools/list_changed';
const curl = async (...args) => JSON.parse((await promisify(execFile)('curl', ['-sS', ...args])).stdout);

describe('tool sessions', () => {
  let gateway;
  let backend;
  let base;
  let caller;

  before(async () => {
    backend = await startBackend();
    gateway = await startGateway({ upstreams: [], env: { PROTEUS_ADMIN_SECRET: SECRET } });
    base = gateway.url.replace('/mcp', '');
    caller = new Caller(base);
  });
  after(async () => {
    caller?.close();
    await gateway?.stop();
    await backend?.stop();
  });

  // SES-02, SES-03, SES-10, SES-16, SES-25
  for (const { name, era, sdk } of CLIENTS) {
    test(`${name}: a session from its beginning to its end, as a back end makes it with curl`, async () => {
      const initialized = await curl('-X', 'POST', `${base}/admin/session/init`,
        '-H', `X-Admin-Secret: ${SECRET}`,
        '-H', 'Content-Type: application/json',
        '-d', '{"session_id": "sess_42", "user_token": "tok_abc", "user_id": 7}');
      assert.deepEqual(initialized, { session_id: 'sess_42', status: 'created' });
      const registered = await curl('-X', 'POST', `${base}/admin/tools/register`,
        '-H', `X-Admin-Secret: ${SECRET}`,
        '-H', 'Content-Type: application/json',
        '-d', `{
          "session_id": "sess_42",
          "tools": [{
            "name": "run_query",
            "description": "Run a SQL query",
            "url": "${backend.url()}",
            "action": "open_table",
            "inputSchema": {
              "type": "object",
              "properties": { "query": { "type": "string" } },
              "required": ["query"]
            },
            "annotations": { "readOnlyHint": true }
          }]
        }`);
      assert.deepEqual(registered, { session_id: 'sess_42', registered: ['run_query'] });

      const session = await Session.open({ sdk, era }, { url: gateway.url, token: 'tok_abc' });
      try {
        assert.deepEqual(await session.toolNames(), ['run_query']);
        const result = await session.call('run_query', { query: 'select 1' });
        assert.deepEqual(result.structuredContent, { path: '/fetch', query: 'select 1', action: 'open_table' });
        assert.equal(backend.asked.at(-1).authorization, 'Bearer tok_abc');
        const wrong = await session.call('run_query', { query: 5 });
        assert.equal(wrong.isError, true);
        assert.match(textOf(wrong), /\/query/);
      } finally {
        // The seed's own line sends no content type of its own.
        const cleaned = await curl('-X', 'POST', `${base}/admin/session/cleanup`,
          '-H', `X-Admin-Secret: ${SECRET}`,
          '-d', '{"session_id": "sess_42"}');
        assert.deepEqual(cleaned, { session_id: 'sess_42', removed: 1 });
        await session.close().catch(() => {});
      }
      assert.equal((await caller.mcp('tok_abc', 'tools/list')).status, 401);
      await assert.rejects(Session.open({ sdk, era }, { url: gateway.url, token: 'tok_abc' }));
    });
  }

  // SES-20
  for (const { name, era, sdk } of CLIENTS) {
    test(`${name}: tools come and go while a client is connected, and no other hears of it`, async () => {
      await caller.admin('/admin/session/init', { session_id: 'mine', user_token: 'tok_mine', user_id: 1 });
      await caller.admin('/admin/session/init', { session_id: 'other', user_token: 'tok_other', user_id: 2 });
      const mine = await Session.open({ sdk, era }, { url: gateway.url, token: 'tok_mine' });
      const other = await Session.open({ sdk, era }, { url: gateway.url, token: 'tok_other' });
      try {
        const heard = mine.notifications(CHANGED);
        const overheard = other.notifications(CHANGED);
        await mine.listenForChanges();
        await other.listenForChanges();
        assert.deepEqual(await mine.toolNames(), []);
        await caller.admin('/admin/tools/register', { session_id: 'mine', tools: [queryTool('run_query', backend.url())] });
        await heard.next();
        assert.deepEqual(await mine.toolNames(), ['run_query']);
        await caller.admin('/admin/tools/unregister', { session_id: 'mine', name: 'run_query' });
        await heard.next();
        assert.deepEqual(await mine.toolNames(), []);
        assert.deepEqual(await other.toolNames(), []);
        assert.equal(overheard.seen.length, 0);
      } finally {
        await caller.admin('/admin/session/cleanup', { session_id: 'mine' });
        await caller.admin('/admin/session/cleanup', { session_id: 'other' });
        await mine.close().catch(() => {});
        await other.close().catch(() => {});
      }
    });
  }

  // SES-11, SES-12
  for (const { name, era, sdk } of CLIENTS) {
    test(`${name}: the user is asked before a destructive tool runs`, async () => {
      const tool = queryTool('drop_table', backend.url('/drop'), { annotations: { destructiveHint: true } });
      await caller.admin('/admin/tools/register', {
        session_id: 'careful',
        user_token: 'tok_careful',
        user_id: 3,
        tools: [tool]
      });
      const session = await Session.open({ sdk, era }, { url: gateway.url, token: 'tok_careful' });
      const drops = () => backend.asked.filter((one) => one.path === '/drop').length;
      try {
        const before = drops();
        const answers = [
          { action: 'accept', content: { confirmed: true } },
          { action: 'decline' },
          { action: 'accept', content: { confirmed: false } }
        ];
        const questions = [];
        session.answer('elicitation/create', (params) => {
          questions.push(params.message);
          return answers[questions.length - 1];
        });
        const confirmed = await session.call('drop_table', { query: 'drop it' });
        assert.equal(confirmed.structuredContent.query, 'drop it');
        for (let i = 0; i < 2; ++i) {
          const refused = await session.call('drop_table', { query: 'drop it' });
          assert.equal(textOf(refused), 'Command execution cancelled by user.');
        }
        assert.equal(drops(), before + 1);
        assert.equal(questions.length, 3);
        for (const question of questions) assert.match(question, /^Confirm execution of 'drop_table'[^]*drop it/);
      } finally {
        await session.close();
        await caller.admin('/admin/session/cleanup', { session_id: 'careful' });
      }
    });
  }
});
