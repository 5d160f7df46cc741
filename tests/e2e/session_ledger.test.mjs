// The ledger of the session drill, with made-up stories: a checker that never finds anything proves nothing.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { HeardStream, SessionLedger, TOOLS, uriOf } from './support/session_ledger.mjs';

const ANNA = 'anna.0.1';
const BERT = 'bert.0.1';
const CHANGED = { method: 'notifications/tools/list_changed' };

/** Returns how many faults of each kind a story has. */
function faultsOf(story) {
  const ledger = new SessionLedger();
  story(ledger);
  return Object.fromEntries(Object.entries(ledger.faults).filter(([, all]) => all.length > 0).map(([kind, all]) => [kind, all.length]));
}

describe('the ledger of sessions', () => {
  const says = (name, story, expected) => test(name, () => assert.deepEqual(faultsOf(story), expected));

  says(
    'nothing, where all is well',
    (ledger) => {
      const mark = ledger.begin(ANNA, 'accept');
      ledger.asked(mark, `Run ${mark}?`);
      ledger.accept(mark);
      ledger.ran(mark, 'a');
      ledger.received(ANNA, { text: mark, uri: uriOf(ANNA) });
      ledger.answered(mark, 'ran', 'ran');
      ledger.ran(ledger.begin(BERT), 'b');
      ledger.begin(BERT, 'decline');
      ledger.ended(ANNA, true);
    },
    {}
  );
  says('a call that ran twice', (ledger) => {
    const mark = ledger.begin(ANNA);
    for (let i = 0; i < 2; ++i) ledger.ran(mark);
  }, { 'ran twice': 1 });
  says('a call that ran though its user said no, or nothing', (ledger) => {
    ledger.ran(ledger.begin(ANNA, 'decline'));
    ledger.ran(ledger.begin(ANNA, 'accept'));
  }, { 'confirmed another': 2 });
  says('a question about the call of somebody else', (ledger) => {
    const mark = ledger.begin(BERT);
    ledger.asked(ledger.begin(ANNA), `Run ${mark}?`);
  }, { 'cross-talk': 1 });
  says('a message, and an update, for somebody else', (ledger) => {
    ledger.received(ANNA, { text: `ran ${ledger.begin(BERT)}` });
    ledger.received('anna.0.2', { text: `ran ${ledger.begin(ANNA)}` });
    ledger.received(ANNA, { params: { uri: uriOf(BERT) } });
  }, { 'cross-talk': 3 });
  says("a call in the upstream's session of somebody else, or in another than before", (ledger) => {
    ledger.ran(ledger.begin(ANNA), 'a');
    ledger.ran(ledger.begin(BERT), 'a');
    ledger.ran(ledger.begin(ANNA), 'b');
  }, { 'cross-talk': 1, wrong: 1 });
  says('a wrong answer, one to a call that did not run, and a call of nobody', (ledger) => {
    ledger.answered(ledger.begin(ANNA), 'this', 'that');
    ledger.answered(ledger.begin(ANNA, 'accept'), 'ran', 'ran');
    ledger.ran(`${ANNA}#99`);
  }, { wrong: 3 });
  says('a session that ended without cause', (ledger) => ledger.ended(ANNA, false), { 'ended without cause': 1 });

  describe('of a stream', () => {
    const heard = (story) => (ledger) => {
      const stream = new HeardStream(ledger, ANNA);
      stream.open(false);
      story(stream, ledger);
    };
    says('events that are missing, in a connection or between two of them', heard((stream) => {
      stream.event('1-1', CHANGED);
      stream.event('1-3', CHANGED);
      stream.open(true);
      stream.event('1-5', CHANGED);
      stream.open(true);
      stream.event('2-2', CHANGED);
    }), { lost: 3 });
    says('nothing, where all came, or some came twice', heard((stream) => {
      stream.event('1-7', CHANGED);
      stream.open(true);
      stream.event('1-8', CHANGED);
      stream.event('2-1', CHANGED);
      stream.open(true);
      stream.event('2-1', CHANGED);
      stream.event('2-2', CHANGED);
      stream.open(false);
      stream.event('3-9', CHANGED);
    }), {});
    says('an id that has two meanings', heard((stream) => {
      stream.event('1-1', CHANGED);
      stream.event('1-1', { method: 'notifications/message' });
    }), { wrong: 1 });

    test('what it was not told of, though it was owed', () => {
      const ledger = new SessionLedger();
      ledger.changed(TOOLS);
      const stream = new HeardStream(ledger, ANNA);
      assert.deepEqual(ledger.unheard(stream, [TOOLS, uriOf(ANNA)]), []);
      ledger.changed(TOOLS);
      ledger.changed(uriOf(ANNA));
      stream.event('1-1', CHANGED);
      assert.deepEqual(ledger.unheard(stream, [TOOLS, uriOf(ANNA)]), [uriOf(ANNA)]);
      stream.close();
      assert.deepEqual(ledger.unheard(stream, [TOOLS, uriOf(ANNA)]), []);
    });
  });
});
