// Runs the attack drills: attacks by untrusted clients, callers and upstreams that the gateway must withstand.
//
//   node tests/attack/run.mjs [--full] [theme…]      PROTEUS_BIN is another folder with the programs
//
// A theme is a file in this folder. It exports a `title`, `cases(full)`, and optionally `stage(own)`, which sets up
// what its cases share. A case describes in `tried` what its `run` does. `run` returns figures for the table, and
// throws if the gateway does not withstand the attack.
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

/** Runs `act`, then stops everything that `act` passed to `own`. Stopping a gateway throws if a worker has stalled. */
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
  // Stopping the shared gateway throws if a worker stalled in any of the cases.
  await owning(all).catch((error) => row(staged ? 'no worker stalls in any of these' : 'the stage', error));
}

console.log(`\n${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed === 0 ? 0 : 1;
