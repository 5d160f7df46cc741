// Records which changes of things were acknowledged, each thing with one writer, and checks observers against that.

/** Returns a generator of pseudo-random numbers from 0 to 1 for this seed. */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Each change of a thing has a number, and a thing that exists shows the number of the change that put it. `possible`
 * holds the states that it may be in: one after an acknowledged change, more if an outcome is unknown.
 */
export class Ledger {
  faults = { lost: [], resurrected: [], 'out of order': [], unexplained: [] };
  counts = { acknowledged: 0, refused: 0, unknown: 0, seen: 0 };
  #things = new Map();

  #thing(key) {
    const made = { begun: 0, possible: [{ n: 0, there: false }], everywhere: { n: 0, there: false }, removals: [] };
    return this.#things.get(key) ?? (this.#things.set(key, made), made);
  }

  keys() {
    return [...this.#things.keys()];
  }

  begin(key, there) {
    const thing = this.#thing(key);
    const state = { n: ++thing.begun, there };
    if (!there) thing.removals.push(state.n);
    return state;
  }

  /** Records how a change ended: `acknowledged`, `refused` or `unknown`; `everywhere` if all had applied it. */
  end(key, state, how, everywhere = false) {
    const thing = this.#thing(key);
    this.counts[how] += 1;
    if (how === 'acknowledged') thing.possible = [state];
    if (how === 'unknown') thing.possible = [...thing.possible, state];
    if (how === 'acknowledged' && everywhere) thing.everywhere = state;
  }

  /** Whether the thing exists, as far as its writer knows; certain once `resolve` was called. */
  there(key) {
    return this.#thing(key).possible.at(-1).there;
  }
  isSure(key) {
    return this.#thing(key).possible.length === 1;
  }
  /** Returns the number of the newest change, whatever its outcome. */
  begun(key) {
    return this.#thing(key).begun;
  }

  /** Fixes the state of a thing to change `n`, once all processes agree and no change is under way. */
  resolve(key, n) {
    const thing = this.#thing(key);
    const found = thing.possible.filter((state) => (n === undefined ? !state.there : state.there && state.n === n));
    if (found.length > 0) thing.possible = [found.at(-1)];
    else this.#judge(key, thing, n, 'resolved');
  }

  #judge(key, thing, n, where) {
    const expected = thing.possible.map((state) => (state.there ? state.n : `none since ${state.n}`)).join(' or ');
    const text = `${key} at ${where}: ${n ?? 'none'}, not ${expected}`;
    this.faults[n !== undefined && thing.possible.every((state) => !state.there) ? 'resurrected' : 'lost'].push(text);
  }

  /** Returns the newest change of each thing that all processes had applied when an observer begins to read. */
  floors() {
    return new Map([...this.#things].map(([key, thing]) => [key, thing.everywhere]));
  }

  /** Checks number `n` that an observer sees; undefined if there is nothing. `memory` is the observer's own map. */
  see(where, memory, floors, key, n) {
    const thing = this.#thing(key);
    const before = memory.get(key) ?? { n: 0, gone: false };
    const floor = floors.get(key) ?? { n: 0, there: false };
    this.counts.seen += 1;
    if (n === undefined) {
      memory.set(key, { n: before.n, gone: true });
      if (floor.there && !thing.removals.some((removal) => removal > floor.n)) this.faults.lost.push(`${key} at ${where}: gone after ${floor.n}`);
      return;
    }
    memory.set(key, { n, gone: false });
    if (n > thing.begun) this.faults.unexplained.push(`${key} at ${where}: ${n} of ${thing.begun}`);
    if (n < before.n) this.faults['out of order'].push(`${key} at ${where}: ${n} after ${before.n}`);
    else if (n === before.n && before.gone) this.faults.resurrected.push(`${key} at ${where}: ${n} was gone`);
    if (n <= floor.n && !floor.there) this.faults.resurrected.push(`${key} at ${where}: ${n}, removed everywhere by ${floor.n}`);
    if (n < floor.n && floor.there) this.faults['out of order'].push(`${key} at ${where}: ${n}, everywhere it was ${floor.n}`);
  }

  /** Checks the final state, after all writers have stopped. */
  finish(where, key, n) {
    const thing = this.#thing(key);
    if (!thing.possible.some((state) => (n === undefined ? !state.there : state.there && state.n === n))) this.#judge(key, thing, n, where);
  }
}
