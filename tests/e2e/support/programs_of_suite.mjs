// Programs that run for a whole suite of tests, or for one test.
import { after, before } from 'node:test';

import { stopAll } from './programs.mjs';

/**
 * Calls `start` with an empty list before the tests of the suite. After the tests, stops the programs that `start`
 * added to the list, the last one first.
 */
export function runningPrograms(start) {
  const programs = [];
  before(() => start(programs));
  after(() => stopAll(programs));
}

/**
 * Returns a function that takes a program or a session and returns it. All that it took are stopped or closed after the
 * test of this context, the last one first, however the test ends.
 */
export function stopAfter(context) {
  const programs = [];
  context.after(() => stopAll(programs));
  return (program) => {
    programs.push(program);
    return program;
  };
}
