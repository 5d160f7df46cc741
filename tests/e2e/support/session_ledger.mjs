// Checks what clients and upstreams see of sessions, calls and streams against what the gateway promises.

// Every call carries a unique mark, such as `anna.0.2#17`: call 17 of the drill, in session 2 in place 0 of anna.
const MARK = /\b[a-z]+\.\w+\.\d+#\d+\b/g;
const PLACE = /memo:\/\/[a-z]+\.\w+/g;

/** Returns the resource that only sessions in the owner's place subscribe to. */
export const uriOf = (owner) => `memo://${owner.split('.').slice(0, 2).join('.')}`;
export const TOOLS = 'tools';
const isModern = (owner) => owner.split('.')[1] === 'modern';

/**
 * An owner is a session or a modern client. Each call has a mark, and a `plan`: `accept` and `decline` are what the
 * user will answer when asked to confirm. Changes have keys: a URI, or TOOLS.
 */
export class SessionLedger {
  faults = { 'ran twice': [], 'confirmed another': [], lost: [], 'cross-talk': [], wrong: [], 'ended without cause': [] };
  counts = {};
  #calls = new Map();
  #owners = new Map();  // owner of each session at an upstream
  #sessions = new Map();  // session at an upstream of each owner
  #changes = new Map();

  count(what) {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }
  fault(kind, text) {
    this.faults[kind].push(text);
  }

  /** Registers a call that is about to be sent, and returns its mark. */
  begin(owner, plan = 'run') {
    const mark = `${owner}#${this.#calls.size + 1}`;
    this.#calls.set(mark, { owner, plan, said: plan === 'run', ran: 0 });
    return mark;
  }
  /** Records that the user is about to accept. */
  accept(mark) {
    this.#calls.get(mark).said = true;
  }

  /** Records that an upstream ran a call; `session` is the upstream's session, if it has sessions. */
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
    // A legacy session has one session at the upstream for life, whichever process holds it.
    const before = this.#sessions.get(call.owner) ?? session;
    this.#sessions.set(call.owner, session);
    if (before !== session && !isModern(call.owner)) this.fault('wrong', `${mark} reached another session at the upstream than before`);
    return undefined;
  }

  /** Checks that a message to a client concerns only that client. */
  received(owner, message) {
    const text = JSON.stringify(message);
    for (const [mark] of text.matchAll(MARK)) if (!mark.startsWith(`${owner}#`)) this.fault('cross-talk', `${owner} got ${text}`);
    for (const [place] of text.matchAll(PLACE)) if (place !== uriOf(owner)) this.fault('cross-talk', `${owner} got ${text}`);
  }

  /** Checks that the question to the user of a call names that call. */
  asked(mark, question) {
    if (!(question.match(MARK) ?? []).includes(mark)) this.fault('cross-talk', `${mark} was asked ${question}`);
  }

  /** Checks the text of the answer to a call. */
  answered(mark, text, expected) {
    this.count('acknowledged');
    const { plan, ran } = this.#calls.get(mark);
    if (text !== expected) this.fault('wrong', `${mark}: ${text}, not ${expected}`);
    else if (plan === 'accept' && ran === 0) this.fault('wrong', `${mark}: ${text}, and it did not run`);
  }

  /** Records that the gateway no longer knows a session, which is a fault unless `may`. */
  ended(owner, may) {
    this.count(`sessions ended: ${may ? 'with their process, and Redis had lost them' : 'without cause'}`);
    if (!may) this.fault('ended without cause', owner);
  }

  changed(what) {
    this.#changes.set(what, performance.now());
  }
  /** Returns the things that changed after the stream was opened and that it was not notified of. */
  unheard(stream, things) {
    return things.filter((what) => {
      const at = this.#changes.get(what);
      return at !== undefined && at > stream.since && !((stream.heard.get(what) ?? 0) >= at);
    });
  }
}

/** The events that one client has received on its standing stream, over all its connections. */
export class HeardStream {
  heard = new Map();
  since = performance.now();  // earlier changes are not owed
  last = undefined;  // id of the last event
  #ledger;
  #numbers = new Map();  // number of the last event of each stream
  #events = new Map();
  #resumed = false;

  constructor(ledger, owner) {
    this.#ledger = ledger;
    this.owner = owner;
  }

  /** Records that a connection was opened; `resumed` if it continues behind the last event. */
  open(resumed) {
    this.#resumed = resumed;
    if (!resumed) {
      this.since = performance.now();
      this.#numbers.clear();
    }
  }

  /** Records that the connection is gone and will not be resumed. */
  close() {
    this.since = Infinity;
  }
  /** Records that the gateway no longer keeps the events behind the last one. */
  forget() {
    this.last = undefined;
  }

  /** Records an event; `id` may be undefined. */
  event(id, message) {
    this.#ledger.received(this.owner, message);
    if (id !== undefined) this.#follow(id, JSON.stringify(message));
    if (message.method === 'notifications/tools/list_changed') this.heard.set(TOOLS, performance.now());
    if (message.method === 'notifications/resources/updated') this.heard.set(message.params.uri, performance.now());
  }

  // A process that continues a session sends all its announcements to a client that names an event of another process:
  // some events may come twice, but none may be missing.
  #follow(id, text) {
    const [stream, number] = id.split('-');
    const before = this.#numbers.get(stream) ?? (this.#resumed ? 0 : Number(number) - 1);
    if (Number(number) > before + 1) this.#ledger.fault('lost', `${this.owner}: ${id} after ${this.last}`);
    if (Number(number) <= before) this.#ledger.count('events that came twice');
    if ((this.#events.get(id) ?? text) !== text) this.#ledger.fault('wrong', `${this.owner}: ${id} is ${text}, and was ${this.#events.get(id)}`);
    this.#events.set(id, text);
    this.#numbers.set(stream, Math.max(before, Number(number)));
    this.last = id;
  }
}
