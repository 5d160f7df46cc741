// Programs that live as long as a suite of tests.
import { after, before } from 'node:test';

/**
 * Calls `start` with an empty list before the tests of the suite; what it puts there is stopped after them, the last one
 * first.
 */
export function runningPrograms(start) {
  const programs = [];
  before(() => start(programs));
  after(async () => {
    for (const program of programs.toReversed()) await program.stop();
  });
}
