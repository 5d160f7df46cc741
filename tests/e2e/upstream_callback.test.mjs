// A gateway that is killed while a user returns from an authorization server. PROTEUS_DRILL_CALLBACKS sets how often;
// 500 is the full drill.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { makeFolder } from './support/children.mjs';
import { Person } from './support/person.mjs';
import { runningPrograms } from './support/programs_of_suite.mjs';
import { send } from './support/raw.mjs';
import { RefreshWatch } from './support/refresh_watch.mjs';
import { connectionsOf, disconnectAll, linkIn, startStory, TOKENS } from './support/sign_in_story.mjs';

const ROUNDS = Number(process.env.PROTEUS_DRILL_CALLBACKS ?? 6);
const isCallback = (url) => url.pathname.startsWith('/oauth/callback/');
const NOTES = 'these are the notes of ada';

/** Calls a tool as Ada, and returns the text of the answer. */
async function say(gateway, name) {
  const response = await send(gateway.url, 'tools/call', { name, arguments: {} }, { token: TOKENS.ada });
  const { result, error } = await response.json();
  return result?.content?.[0]?.text ?? JSON.stringify(error);
}

const ada = (more) => new Person('ada', { token: TOKENS.ada, ...more });

describe('a gateway that is killed while somebody comes back', () => {
  const folder = makeFolder();
  let story;
  let watch;
  let programs;
  runningPrograms(async (all) => {
    programs = all;
    story = await startStory(all, { folder, writeScope: 'write' });
    watch = new RefreshWatch(story.provider);
  });

  async function killAndRestart() {
    await story.gateway.kill();
    story.gateway = (await startStory(programs, { folder, parts: story })).gateway;
  }

  /** Returns the sign-in link of a user without a connection, or of a connected user whose call needs more scopes. */
  async function linkFrom(connected) {
    await disconnectAll(story.gateway);
    if (connected) await ada().connect(linkIn(await say(story.gateway, 'notes_whoami')));
    return linkIn(await say(story.gateway, connected ? 'notes_write' : 'notes_whoami'));
  }

  test(`UPC-08 redeems no code twice, keeps what it has acknowledged and what there was, and writes nothing in the clear: ${ROUNDS} times`, { timeout: 3_600_000 }, async () => {
    const moments = Object.entries(watch.moments());
    const found = {};
    for (let round = 0; round < ROUNDS; ++round) {
      const [moment, wait] = moments[round % moments.length];
      const connected = Math.floor(round / moments.length) % 2 === 1;
      const person = ada({ stopAt: isCallback });
      const { url, stopped } = await person.open(await linkFrom(connected));
      assert.ok(stopped, 'the way back was not reached');
      let answered;
      const asking = new Promise((done) => (answered = done));
      const moved = wait(asking);
      const page = person.request(url).then((response) => response.text(), () => '');
      void page.then(answered);
      await moved;
      await killAndRestart();

      const [connection] = await connectionsOf(story.gateway);
      const widened = connection?.scopes.includes('write') ?? false;
      const acknowledged = / is connected/.test(await page);
      const what = `${moment}, ${connected ? 'asked for more' : 'not connected before'}`;
      if (connected || acknowledged) assert.equal(connection?.state, 'connected', what);
      if (connected && acknowledged) assert.ok(widened, what);
      if (moment === 'at the end') assert.ok(acknowledged, what);
      assert.match(await say(story.gateway, 'notes_whoami'), connection ? new RegExp(NOTES) : /Sign in/, what);
      const key = `${what}: ${connected ? (widened ? 'has more' : 'has what it had') : connection ? 'connected' : 'to sign in again'}`;
      found[key] = (found[key] ?? 0) + 1;

      // The new process knows neither that sign-in nor the code.
      const codes = watch.codes.length;
      const again = new URL(`${url.pathname}${url.search}`, story.gateway.url);
      assert.equal((await person.request(again)).status, 400);
      assert.equal(watch.codes.length, codes);
      assert.deepEqual(watch.repeated(), [], what);
    }
    await story.gateway.stop();
    assert.deepEqual(watch.inTheClear(join(folder, 'data')), []);
    assert.ok(watch.secrets.size > 0);
    if (ROUNDS > moments.length * 2) console.error(`after being killed: ${JSON.stringify(found, undefined, 1)}`);
  });
});
