// Links between processes of a cluster: what they carry, who may use them, what happens if they break (REP-11, REP-15).
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';

import { PEPPER } from './support/cluster.mjs';
import { startInterviewer } from './support/interviewers.mjs';
import { LegacySession } from './support/legacy_raw.mjs';
import { passOf, sendOverTls } from './support/peer_link.mjs';
import { knowsPeers, processesAt, startPeer } from './support/peers.mjs';
import { hasPostgres, startPostgres } from './support/postgres.mjs';
import { eventually, stopAll } from './support/programs.mjs';
import { stopAfter } from './support/programs_of_suite.mjs';
import { send } from './support/raw.mjs';
import { ScriptedUpstream } from './support/scripted_upstream.mjs';

const TOKEN = 'of-anna-and-nobody-else';
const CAPABLE = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } };

describe('links between processes', { skip: !hasPostgres && 'PostgreSQL 15 is not installed' }, () => {
  let postgres;
  let bank;
  let interviewer;
  let settings;
  let one;
  let two;

  before(async () => {
    postgres = await startPostgres();
    bank = await ScriptedUpstream.start([{ name: 'pay', description: 'Pays.', inputSchema: { type: 'object', properties: { to: { type: 'string' } } } }]);
    interviewer = await startInterviewer('legacy');
    settings = {
      upstreams: [
        { name: 'bank', url: bank.url, tools: [{ match: ['pay'], confirm: 'always' }] },
        { name: 'old', url: interviewer.url }
      ],
      tokens: [{ name: 'anna', token_env: 'TOKEN_ANNA' }],
      env: { TOKEN_ANNA: TOKEN }
    };
    one = await startPeer(postgres, 'one', settings);
    two = await startPeer(postgres, 'two', settings);
    await knowsPeers(two, 2);
  });
  after(() => stopAll([postgres, bank, interviewer, one, two]));

  const call = async (gateway, name, args, more = {}) => {
    const response = await send(gateway.url, 'tools/call', { name, arguments: args, _meta: CAPABLE, ...more }, { token: TOKEN });
    const text = await response.text();
    const data = [...text.matchAll(/^data: (\{.*)$/gm)].at(-1);
    return { status: response.status, ...JSON.parse(data ? data[1] : text) };
  };
  const textOf = ({ result }) => result?.content?.[0]?.text;
  const status = async (url, session, method = 'GET') => {
    const response = await fetch(url, { method, headers: { ...session.headers(TOKEN), accept: 'text/event-stream' } });
    const text = response.status === 200 ? '' : await response.text();
    await response.body?.cancel().catch(() => {});
    return { status: response.status, text };
  };
  const recordOf = async (name) => (await processesAt(one)).find((each) => each.name === name && each.live);

  test('REP-11 a confirmed call runs once, whichever processes the retries reach', async () => {
    bank.called.length = 0;
    const asked = await call(one, 'bank_pay', { to: 'bert' });
    assert.equal(asked.result.resultType, 'input_required', JSON.stringify(asked));
    const answered = { requestState: asked.result.requestState, inputResponses: { confirmation: { action: 'accept', content: { confirmed: true } } } };
    const answers = await Promise.all([two, one, two, two, one].map((gateway) => call(gateway, 'bank_pay', { to: 'bert' }, answered)));
    answers.push(await call(two, 'bank_pay', { to: 'bert' }, answered));
    assert.deepEqual(bank.called, ['pay']);
    assert.ok(answers.some((answer) => textOf(answer) === 'ran pay'), JSON.stringify(answers));
    assert.equal(textOf(answers.at(-1)), 'ran pay');
  });

  test('REP-11 BRG-01 a parked call goes on where it waits', async () => {
    for (const [begin, go] of [[one, two], [two, one]]) {
      const token = `from ${begin.url}`;
      let answer = await call(begin, 'old_interview', { token, rounds: 2 });
      for (let round = 1; round <= 2; ++round) {
        assert.equal(answer.result?.resultType, 'input_required', JSON.stringify(answer));
        const [key] = Object.keys(answer.result.inputRequests);
        const inputResponses = { [key]: { action: 'accept', content: { answer: `answer ${round}` } } };
        answer = await call(go, 'old_interview', { token, rounds: 2 }, { requestState: answer.result.requestState, inputResponses });
      }
      assert.deepEqual(JSON.parse(textOf(answer)), { token, answers: ['answer 1', 'answer 2'] });
      assert.equal(interviewer.counts.ended.get(token), 1);
    }
  });

  test('REP-11 BRG-06 a parked call or a confirmation of a process that died is not run again', async (context) => {
    const own = stopAfter(context);
    const third = own(await startPeer(postgres, 'third', settings));
    bank.called.length = 0;
    const parked = await call(third, 'old_interview', { token: 'dies', rounds: 1 });
    const asked = await call(third, 'bank_pay', { to: 'bert' });
    const session = await LegacySession.open(third.url, TOKEN);
    assert.equal((await status(two.url, session)).status, 200);
    await third.kill();
    // A process that does not answer does not count as dead for that.
    const unreachable = await status(two.url, session);
    assert.equal(unreachable.status, 503);
    assert.match(unreachable.text, /cannot be reached/);
    assert.equal((await call(two, 'bank_pay', { to: 'bert' }, { requestState: asked.result.requestState })).status, 503);
    await eventually('its lease has ended', async () => (await status(two.url, session)).status === 404);
    const answered = { requestState: asked.result.requestState, inputResponses: { confirmation: { action: 'accept', content: { confirmed: true } } } };
    assert.match(textOf(await call(two, 'bank_pay', { to: 'bert' }, answered)), /cannot tell whether the call ran/);
    assert.deepEqual(bank.called, []);
    const [key] = Object.keys(parked.result.inputRequests);
    const resumed = await call(one, 'old_interview', { token: 'dies', rounds: 1 }, { requestState: parked.result.requestState, inputResponses: { [key]: { action: 'accept', content: { answer: 'x' } } } });
    assert.match(resumed.error.message, /no longer waits/);
    assert.equal(interviewer.counts.began.get('dies'), 1);
  });

  test('REP-15 who waits for a process that stands still is told so, and the session is there when it goes on', async (context) => {
    const own = stopAfter(context);
    const third = own(await startPeer(postgres, 'third', settings));
    const session = await LegacySession.open(third.url, TOKEN);
    // One thread, so that all requests use its one connection to the other process.
    const front = own(await startPeer(postgres, 'front', { ...settings, server: { threads: 1 } }));
    session.url = front.url;
    const list = async () => {
      const response = await session.post('tools/list', {}, TOKEN);
      return { status: response.status, after: response.headers.get('retry-after'), text: await response.text() };
    };
    assert.equal((await list()).status, 200);
    await third.freeze();
    const waited = await list();
    assert.equal(waited.status, 502);
    assert.equal(waited.after, null);
    assert.match(waited.text, /may have been carried out/);
    assert.equal((await list()).status, 404);
    third.signal('SIGCONT');
    await eventually('it is there again', async () => (await list()).status === 200);
  });

  test('REP-15 strangers get nothing at the address for peers', async () => {
    const { peer_url, id } = await recordOf('one');
    const session = await LegacySession.open(one.url, TOKEN);
    const request = (pass, method = 'DELETE', target = '/mcp') =>
      `${method} ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\nMcp-Session-Id: ${session.id}\r\nConnection: close\r\n${pass ? `Proteus-Peer: ${pass}\r\n` : ''}\r\n`;
    const pass = (more = {}) => passOf(PEPPER, { to: id, method: 'DELETE', target: '/mcp', ...more });
    const { hostname, port } = new URL(peer_url);
    const plain = await new Promise((done) => {
      let text = '';
      const socket = connect(port, hostname, () => socket.write(request(pass())));
      socket.on('data', (data) => (text += data));
      socket.on('error', () => done(text));
      socket.on('close', () => done(text));
    });
    assert.doesNotMatch(plain, /HTTP\/1.1 [23]/);
    // Without a key, or with another one, the handshake fails.
    assert.equal(await sendOverTls(peer_url, request(pass())), '');
    assert.equal(await sendOverTls(peer_url, request(pass()), 'another-pepper-another-pepper-another'), '');
    // With only the key of the link, an attacker cannot send requests, or repeat them later or elsewhere.
    const refusals = [
      [undefined, 403],
      ['AAAA', 403],
      [passOf('another-pepper-another-pepper-another', { to: id, method: 'DELETE', target: '/mcp' }), 403],
      [pass({ at: Date.now() - 120_000 }), 403],
      [pass({ at: Date.now() + 120_000 }), 403],
      [pass({ method: 'POST' }), 403],
      [pass({ target: '/mcp/other' }), 403],
      [pass({ to: 'two-00000000' }), 421]
    ];
    for (const [shown, expected] of refusals) assert.match(await sendOverTls(peer_url, request(shown), PEPPER), new RegExp(`^HTTP/1.1 ${expected} `));
    // From a client, the field of peers has no effect.
    const claimed = await fetch(one.url, { method: 'GET', headers: { 'proteus-peer': pass(), accept: 'text/event-stream', 'mcp-session-id': session.id } });
    assert.equal(claimed.status, 404);
    // The session is unchanged until a valid peer sends a request.
    assert.match(await sendOverTls(peer_url, request(pass()), PEPPER), /^HTTP\/1.1 200 /);
    assert.match(await sendOverTls(peer_url, request(pass()), PEPPER), /^HTTP\/1.1 404 /);
  });

  test('REP-09 a request is passed on once, and never again', async () => {
    const { peer_url, id } = await recordOf('two');
    const session = await LegacySession.open(one.url, TOKEN);
    const pass = passOf(PEPPER, { to: id, method: 'DELETE', target: '/mcp' });
    const text = `DELETE /mcp HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\nMcp-Session-Id: ${session.id}\r\nConnection: close\r\nProteus-Peer: ${pass}\r\n\r\n`;
    assert.match(await sendOverTls(peer_url, text, PEPPER), /^HTTP\/1.1 404 /);
    assert.equal((await status(two.url, session, 'DELETE')).status, 200);
  });

  test('REP-15 credentials are looked at by the process that answers', async () => {
    const session = await LegacySession.open(one.url, TOKEN);
    const { peer_url, id } = await recordOf('one');
    const pass = passOf(PEPPER, { to: id, method: 'DELETE', target: '/mcp' });
    const text = `DELETE /mcp HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer of-nobody\r\nMcp-Session-Id: ${session.id}\r\nConnection: close\r\nProteus-Peer: ${pass}\r\n\r\n`;
    assert.match(await sendOverTls(peer_url, text, PEPPER), /^HTTP\/1.1 401 /);
    assert.equal((await status(two.url, session, 'DELETE')).status, 200);
  });

  test('REP-09 without an address for peers a session stays with its process', async (context) => {
    const own = stopAfter(context);
    const alone = own(await startPeer(postgres, 'alone', { ...settings, cluster: { peer_listen: '' } }));
    const session = await LegacySession.open(alone.url, TOKEN);
    assert.equal((await status(alone.url, session)).status, 200);
    assert.equal((await status(two.url, session)).status, 404);
  });
});
