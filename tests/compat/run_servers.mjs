// Runs the servers of the matrix, a few at a time.
import { compareRow } from './compare.mjs';
import { SERVERS } from './servers/all.mjs';

const SIDE_BY_SIDE = Number(process.env.COMPAT_JOBS ?? 2);

/** Calls `work` for each item, a few at a time, and returns the results in order. */
export async function eachOf(items, work) {
  const results = [];
  let next = 0;
  const worker = async () => {
    for (let index; (index = next++) < items.length; ) results[index] = await work(items[index]);
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, worker));
  return results;
}

export const SIGN = { same: '✓', 'not offered': '–', cannot: '○', differs: '✗' };

function report(row, era, result, tally, seconds) {
  const title = `${row.name} (${era})`;
  if (result.unable) {
    ++tally.failed;
    console.log(`FAILED  ${title}: ${result.unable}`);
    return;
  }
  const signs = [...result.verdicts.values()].map(({ verdict }) => SIGN[verdict]).join('');
  console.log(`${signs}  ${title}, ${seconds} s`);
  for (const [check, { verdict, reason }] of result.verdicts) {
    if (verdict === 'same') ++tally.passed;
    if (verdict === 'cannot') {
      ++tally.skipped;
      console.log(`skipped: ${title}, ${check}: ${reason}`);
    }
    if (verdict !== 'differs') continue;
    ++tally.failed;
    console.log(`          FAILED  ${title}, ${check}: ${reason}`);
  }
}

/** Compares every server of the form and returns `[{ row, era, result }]`. */
export async function runServers(form, only, tally) {
  const rows = SERVERS.filter((row) => form === 'full' || row.form === 'short').flatMap((row) => row.eras.map((era) => ({ row, era })));
  const chosen = rows.filter(({ row, era }) => !only || `${row.name} (${era})`.toLowerCase().includes(only));
  console.log(`${chosen.length} servers, directly and through the gateway`);
  return eachOf(chosen, async ({ row, era }) => {
    const started = Date.now();
    const result = await compareRow(row, era);
    report(row, era, result, tally, ((Date.now() - started) / 1000).toFixed(1));
    return { row, era, result };
  });
}
