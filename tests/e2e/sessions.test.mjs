// Tools that a back end gives one session: by curl, and as the official clients see them.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';

import { CLIENTS, isRefusedWith, Session, textOf } from './support/clients.mjs';
import { startGateway } from './support/gateway.mjs';
import { stopAll } from './support/programs.mjs';
import { stopAfter } from './support/programs_of_suite.mjs';
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
  after(() => stopAll([backend, gateway, caller]));

  /** Makes a tool session that lasts as long as its test. */
  async function begin(own, body) {
    const { status, json } = await caller.admin('/admin/session/init', body);
    assert.equal(status, 200, JSON.stringify(json));
    own({ stop: () => caller.admin('/admin/session/cleanup', { session_id: body.session_id }) });
  }

  // SES-02, SES-03, SES-10, SES-16, SES-25
  for (const { name, era, sdk } of CLIENTS) {
    test(`${name}: a session from its beginning to its end, as a back end makes it with curl`, async (context) => {
      const own = stopAfter(context);
      own({ stop: () => caller.admin('/admin/session/cleanup', { session_id: 'sess_42' }) });
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
      own({ stop: () => session.close().catch(() => {}) });
      assert.deepEqual(await session.toolNames(), ['run_query']);
      const result = await session.call('run_query', { query: 'select 1' });
      assert.deepEqual(result.structuredContent, { path: '/fetch', query: 'select 1', action: 'open_table' });
      assert.equal(backend.asked.at(-1).authorization, 'Bearer tok_abc');
      const wrong = await session.call('run_query', { query: 5 });
      assert.equal(wrong.isError, true);
      assert.match(textOf(wrong), /\/query/);
      // Like the command in docs/session-tools.md, this one sets no content type.
      const cleaned = await curl('-X', 'POST', `${base}/admin/session/cleanup`,
        '-H', `X-Admin-Secret: ${SECRET}`,
        '-d', '{"session_id": "sess_42"}');
      assert.deepEqual(cleaned, { session_id: 'sess_42', removed: 1 });
      assert.equal((await caller.mcp('tok_abc', 'tools/list')).status, 401);
      await assert.rejects(Session.open({ sdk, era }, { url: gateway.url, token: 'tok_abc' }), isRefusedWith(401));
    });
  }

  // SES-20
  for (const { name, era, sdk } of CLIENTS) {
    test(`${name}: tools come and go while a client is connected, and no other hears of it`, async (context) => {
      const own = stopAfter(context);
      await begin(own, { session_id: 'mine', user_token: 'tok_mine', user_id: 1 });
      await begin(own, { session_id: 'other', user_token: 'tok_other', user_id: 2 });
      const mine = own(await Session.open({ sdk, era }, { url: gateway.url, token: 'tok_mine' }));
      const other = own(await Session.open({ sdk, era }, { url: gateway.url, token: 'tok_other' }));
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
    });
  }

  // SES-11, SES-12
  for (const { name, era, sdk } of CLIENTS) {
    test(`${name}: the user is asked before a destructive tool runs`, async (context) => {
      const own = stopAfter(context);
      const tool = queryTool('drop_table', backend.url('/drop'), { annotations: { destructiveHint: true } });
      await begin(own, { session_id: 'careful', user_token: 'tok_careful', user_id: 3 });
      await caller.admin('/admin/tools/register', { session_id: 'careful', tools: [tool] });
      const session = own(await Session.open({ sdk, era }, { url: gateway.url, token: 'tok_careful' }));
      const drops = () => backend.asked.filter((one) => one.path === '/drop').length;
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
    });
  }
});
