// What clients were promised of their sessions, calls and streams, and whether what they and the upstreams saw agrees with it.

// Everything that a client sends carries a mark of its own, `anna.0.2#17`: the 17th of session 2 in place 0 of anna.
const MARK = /\b[a-z]+\.\w+\.\d+#\d+\b/g;
const PLACE = /memo:\/\/[a-z]+\.\w+/g;

/** The resource that only sessions in that place subscribe to. */
export const uriOf = (owner) => `memo://${owner.split('.').slice(0, 2).join('.')}`;
export const TOOLS = 'tools';
const isModern = (owner) => owner.split('.')[1] === 'modern';

/**
 * An owner is a session, or a modern client. Each call has a mark, and may have a `plan`: `accept` and `decline` are what the user will say when asked. A
 * stream hears of changes by what has changed, a URI or TOOLS.
 */
export class SessionLedger {
  faults = { 'ran twice': [], 'confirmed another': [], lost: [], 'cross-talk': [], wrong: [], 'ended without cause': [] };
  counts = {};
  #calls = new Map();
  #owners = new Map();  // of sessions at an upstream
  #sessions = new Map();  // at an upstream, of owners
  #changes = new Map();

  count(what) {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }
  fault(kind, text) {
    this.faults[kind].push(text);
  }

  /** A call that is about to be sent. */
  begin(owner, plan = 'run') {
    const mark = `${owner}#${this.#calls.size + 1}`;
    this.#calls.set(mark, { owner, plan, said: plan === 'run', ran: 0 });
    return mark;
  }
  /** The user is about to say yes. */
  accept(mark) {
    this.#calls.get(mark).said = true;
  }

  /** An upstream ran it, in a session of its own if it has such. */
  ran(mark, session = undefined) {
    const call = this.#calls.get(mark);
    if (!call) return this.fault('wrong', `${mark} ran, and nobody sent it`);
    call.ran += 1;
    if (call.ran > 1) this.fault('ran twice', mark);
    if (call.plan === 'decline' || !call.said) this.fault('confirmed another', `${mark} ran, planned to ${call.plan}`);
    if (session === undefined) return undefined;
    const other = this.#owners.get(session) ?? call.owner;
    this.#owners.set(session, call.owner);
    if (other !== call.owner) this.fault('cross-talk', `${mark} reached the upstream's session of ${other}`);
    // A session has one there for as long as it lives, whoever has it.
    const before = this.#sessions.get(call.owner) ?? session;
    this.#sessions.set(call.owner, session);
    if (before !== session && !isModern(call.owner)) this.fault('wrong', `${mark} reached another session at the upstream than before`);
    return undefined;
  }

  /** Whatever a client is sent, it may only concern itself. */
  received(owner, message) {
    const text = JSON.stringify(message);
    for (const [mark] of text.matchAll(MARK)) if (!mark.startsWith(`${owner}#`)) this.fault('cross-talk', `${owner} got ${text}`);
    for (const [place] of text.matchAll(PLACE)) if (place !== uriOf(owner)) this.fault('cross-talk', `${owner} got ${text}`);
  }

  /** A user of that call is asked this. */
  asked(mark, question) {
    if (!(question.match(MARK) ?? []).includes(mark)) this.fault('cross-talk', `${mark} was asked ${question}`);
  }

  /** The text that a call was answered with, which should be this one. */
  answered(mark, text, expected) {
    this.count('acknowledged');
    const { plan, ran } = this.#calls.get(mark);
    if (text !== expected) this.fault('wrong', `${mark}: ${text}, not ${expected}`);
    else if (plan === 'accept' && ran === 0) this.fault('wrong', `${mark}: ${text}, and it did not run`);
  }

  /** A session is unknown to the gateway; it may be only where its record may have been lost. */
  ended(owner, { recorded, cause }) {
    this.count(`sessions ended: ${recorded ? 'without cause' : cause}`);
    if (recorded) this.fault('ended without cause', `${owner}: ${cause}`);
  }

  changed(what) {
    this.#changes.set(what, performance.now());
  }
  /** What of this a stream has not been told of, though it changed after that time. */
  unheard(stream, things) {
    return things.filter((what) => {
      const at = this.#changes.get(what);
      return at !== undefined && at > stream.since && !((stream.heard.get(what) ?? 0) >= at);
    });
  }
}

/** What one client has heard on its standing stream, over all connections that it had. */
export class HeardStream {
  heard = new Map();
  since = performance.now();  // what changed before is not owed
  last = undefined;  // the id of the last event
  #ledger;
  #numbers = new Map();
  #resumed = false;

  constructor(ledger, owner) {
    this.#ledger = ledger;
    this.owner = owner;
  }

  /** A connection was opened, behind the last event or without one. */
  open(resumed) {
    this.#resumed = resumed;
    if (!resumed) {
      this.since = performance.now();
      this.#numbers.clear();
    }
  }

  /** There is no connection, and none that will be resumed. */
  close() {
    this.since = Infinity;
  }
  /** The gateway no longer knows where it was. */
  forget() {
    this.last = undefined;
  }

  /** An event, with its id where it has one. */
  event(id, message) {
    this.#ledger.received(this.owner, message);
    if (id !== undefined) this.#follow(id);
    if (message.method === 'notifications/tools/list_changed') this.heard.set(TOOLS, performance.now());
    if (message.method === 'notifications/resources/updated') this.heard.set(message.params.uri, performance.now());
  }

  #follow(id) {
    const [stream, number] = id.split('-');
    const before = this.#numbers.get(stream) ?? (this.#resumed ? 0 : Number(number) - 1);
    if (Number(number) > before + 1) this.#ledger.fault('lost', `${this.owner}: ${id} after ${this.last}`);
    if (Number(number) <= before) this.#ledger.fault('wrong', `${this.owner}: ${id} again, after ${this.last}`);
    this.#numbers.set(stream, Number(number));
    this.last = id;
  }
}
