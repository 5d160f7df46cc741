// The drills of a hostile trial: what strangers, callers and upstreams try, and what must hold all the same.
//
//   node tests/attack/run.mjs [--full] [theme…]      PROTEUS_BIN names another folder to take the programs from
//
// A theme is a file beside this one. It has a `title`, may have a `stage(own)` with what its cases share, and has `cases(full)`: each says what is
// `tried` and runs it; its result is figures for the table, and an exception is a case that did not hold.
import { performance } from 'node:perf_hooks';

const THEMES = ['wire', 'crowd', 'browsers', 'urls', 'binding', 'contexts', 'terminals', 'advisories', 'durability', 'stall'];

const full = process.argv.includes('--full');
const wanted = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const unknown = wanted.filter((name) => !THEMES.includes(name));
if (unknown.length > 0) throw new Error(`there is no theme ${unknown.join(', ')}; there are ${THEMES.join(', ')}`);

const counts = { passed: 0, failed: 0 };

function row(tried, fault, figures = '') {
  const cell = (text) => String(text).replaceAll('|', '\\|').replaceAll('\n', ' ');
  counts[fault ? 'failed' : 'passed'] += 1;
  console.log(`| ${cell(tried)} | ${fault ? 'DID NOT HOLD' : 'held'} | ${cell(fault ? fault.message : figures).slice(0, 600)} |`);
}

/** Runs `act`, and stops what it was given to `own`; a gateway that stalled fails when it is stopped. */
async function owning(act) {
  const owned = [];
  const own = (program) => (owned.push(program), program);
  try {
    return await act(own);
  } finally {
    let fault;
    for (const program of owned.reverse()) await Promise.resolve(program.stop()).catch((error) => (fault ??= error));
    if (fault) throw fault;
  }
}

async function attempt(tried, act) {
  const began = performance.now();
  try {
    const figures = await owning(act);
    const seconds = `${((performance.now() - began) / 1000).toFixed(1)} s`;
    row(tried, undefined, figures ? `${figures}; ${seconds}` : seconds);
  } catch (error) {
    row(tried, error);
    if (process.env.PROTEUS_ATTACK_TRACE) console.log(error.stack);
  }
}

for (const name of THEMES) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const theme = await import(`./${name}.mjs`);
  console.log(`\n${theme.title}\n\n| tried | held | figures |\n|---|---|---|`);
  let staged = false;
  const all = async (own) => {
    const stage = await theme.stage?.(own, full);
    staged = true;
    for (const { tried, run } of theme.cases(full)) await attempt(tried, (own) => run({ ...stage, own }));
  };
  // What the cases share is stopped at the end: no worker may have stalled in any of them.
  await owning(all).catch((error) => row(staged ? 'no worker stalls in any of these' : 'the stage', error));
}

console.log(`\n${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed === 0 ? 0 : 1;
