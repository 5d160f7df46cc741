// Programs give memory back to the system with mimalloc, which the unit tests do not link.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';

import { makeFolder, run } from './support/children.mjs';
import { root } from './support/programs.mjs';

test('SES-24 giving memory back leaves alone what threads have allocated that have ended', async () => {
  const program = join(makeFolder('allocator'), 'ended_threads');
  const sources = [join(root, 'tests/fixtures/ended_threads.cpp'), join(root, 'src/base/memory/memory.cpp')];
  const built = await run('clang++-19', ['-std=c++23', '-O1', '-I', join(root, 'src'), ...sources, '-lmimalloc', '-o', program], { timeout: 120_000 });
  assert.equal(built.code, 0, built.stderr);
  assert.equal((await run(program, [], { timeout: 120_000 })).code, 0);
});
