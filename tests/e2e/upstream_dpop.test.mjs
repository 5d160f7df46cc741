// An upstream and its authorization server that require proofs of possession (RFC 9449) with nonces.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { makeFolder } from './support/children.mjs';
import { Person } from './support/person.mjs';
import { runningPrograms } from './support/programs_of_suite.mjs';
import { send } from './support/raw.mjs';
import { RefreshWatch } from './support/refresh_watch.mjs';
import { connectionsOf, linkIn, startStory, TOKENS } from './support/sign_in_story.mjs';

const NOTES = 'these are the notes of ada';

for (const era of ['modern', 'legacy']) {
  describe(`an upstream of the ${era} era that takes only tokens bound to a key`, () => {
    const folder = makeFolder();
    let story;
    let watch;
    let programs;
    runningPrograms(async (all) => {
      programs = all;
      story = await startStory(all, { folder, era, bound: true, provider: { nonces: true, rotates: true } });
      watch = new RefreshWatch(story.provider);
      const text = await whoami();
      await new Person('ada', { token: TOKENS.ada }).connect(linkIn(text));
    });

    async function whoami() {
      const response = await send(story.gateway.url, 'tools/call', { name: 'notes_whoami', arguments: {} }, { token: TOKENS.ada });
      const { result, error } = await response.json();
      return result?.content?.[0]?.text ?? JSON.stringify(error);
    }

    test('UPC-12 is sent another proof with each request, all by one key', async () => {
      const { upstream } = story;
      for (let i = 0; i < 3; ++i) assert.equal(await whoami(), NOTES);
      assert.ok(upstream.proofs.length >= 3);
      assert.equal(new Set(upstream.proofs.map(({ jti }) => jti)).size, upstream.proofs.length);
      assert.ok(upstream.proofs.every(({ nonce }) => nonce === upstream.nonce));
      assert.equal(upstream.thumbprints.size, 1);
    });

    test('UPC-12 wants another nonce: the call is sent again with it, runs once, and the next one has it', async () => {
      const { upstream } = story;
      const [ran, refusals] = [upstream.counts.whoami, upstream.refusals];
      upstream.nonce = 'another-nonce';
      assert.equal(await whoami(), NOTES);
      assert.equal(upstream.counts.whoami, ran + 1);
      assert.equal(upstream.refusals, refusals + 1);
      assert.equal(await whoami(), NOTES);
      assert.equal(upstream.refusals, refusals + 1);
    });

    test('UPC-08 UPC-12 a refreshed token is bound to the same key', async () => {
      const { upstream } = story;
      upstream.refused = new Set(watch.secrets.size > 0 ? watch.secrets : upstream.tokens);
      assert.equal(await whoami(), NOTES);
      // The server first answers with the nonce that it wants, and has not used the refresh token then.
      assert.equal(new Set(watch.sent).size, 1);
      assert.equal(upstream.thumbprints.size, 1);
      assert.equal((await connectionsOf(story.gateway))[0].state, 'connected');
    });

    test('UPC-08 UPC-12 a gateway that was restarted still has the key', async () => {
      await story.gateway.stop();
      story.gateway = (await startStory(programs, { folder, parts: story })).gateway;
      const before = story.upstream.proofs.length;
      assert.equal(await whoami(), NOTES);
      assert.ok(story.upstream.proofs.length > before);
      assert.equal(story.upstream.thumbprints.size, 1);
    });
  });
}
