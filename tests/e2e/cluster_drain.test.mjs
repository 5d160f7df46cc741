// A process of a cluster that gets SIGTERM while others need its sessions (REP-14).
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { startInterviewer } from './support/interviewers.mjs';
import { knowsPeers, processesAt, startPeer } from './support/peers.mjs';
import { hasPostgres, startPostgres } from './support/postgres.mjs';
import { eventually, within } from './support/programs.mjs';
import { runningPrograms } from './support/programs_of_suite.mjs';

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', authorization: 'Bearer of-anna-and-nobody-else' };
const post = (url, message, headers = {}) => fetch(url, { method: 'POST', headers: { ...HEADERS, ...headers }, body: JSON.stringify({ jsonrpc: '2.0', ...message }) });

/** Yields the messages of a legacy stream, whose first event may have only an id. */
async function* messagesOf(response) {
  let text = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
      const data = /^data: (\{.*)$/m.exec(text.slice(0, end));
      if (data) yield JSON.parse(data[1]);
    }
  }
}

describe('a process that drains', { skip: !hasPostgres && 'PostgreSQL 15 is not installed' }, () => {
  let one;
  let two;
  let interviewer;
  runningPrograms(async (programs) => {
    const postgres = await startPostgres();
    programs.push(postgres);
    interviewer = await startInterviewer('legacy');
    programs.push(interviewer);
    const settings = {
      upstreams: [{ name: 'old', url: interviewer.url }],
      tokens: [{ name: 'anna', token_env: 'TOKEN_ANNA' }],
      server: { grace: '20s' },
      env: { TOKEN_ANNA: 'of-anna-and-nobody-else' }
    };
    for (const name of ['one', 'two']) programs.push(await startPeer(postgres, name, settings));
    [one, two] = programs.slice(2);
    await knowsPeers(two, 2);
  });

  test('REP-14 lets calls of its sessions end, and takes the answers that they need, through the others', async () => {
    const params = { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo: { name: 'drained', version: '1' } };
    const hello = await post(one.url, { id: 1, method: 'initialize', params });
    await hello.text();
    const session = { 'mcp-session-id': hello.headers.get('mcp-session-id'), 'mcp-protocol-version': '2025-11-25' };
    const standing = await fetch(two.url, { headers: { ...HEADERS, ...session } });
    const call = await post(two.url, { id: 2, method: 'tools/call', params: { name: 'old_interview', arguments: { token: 'drained', rounds: 2 } } }, session);
    const messages = messagesOf(call);
    const answer = async ({ id, method }, text) => {
      assert.equal(method, 'elicitation/create');
      const response = await post(two.url, { id, result: { action: 'accept', content: { answer: text } } }, session);
      assert.equal(response.status, 202);
    };
    const first = (await messages.next()).value;
    one.signal('SIGTERM');
    await eventually('takes no more of its own', () => fetch(one.url).then(() => false, () => true));
    await answer(first, 'a');
    await answer((await messages.next()).value, 'b');
    const { id, result } = (await messages.next()).value;
    assert.equal(id, 2);
    assert.deepEqual(JSON.parse(result.content[0].text), { token: 'drained', answers: ['a', 'b'] });
    // The standing stream has ended on its own.
    await within(5_000, 'the standing stream ends', standing.text().catch(() => {}));
    assert.equal(await within(10_000, 'it ends', one.ended), 0);
    const gone = await post(two.url, { id: 3, method: 'tools/list' }, session);
    assert.equal(gone.status, 404);
    assert.deepEqual((await processesAt(two)).map(({ name }) => name), ['two']);
  });
});
