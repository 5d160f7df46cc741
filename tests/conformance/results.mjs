// Reads the output of `conformance --output-dir`: one folder per scenario, named <prefix><scenario>-<time>, with
// checks.json. If a scenario's name has a slash, its folder is one level deeper.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const TIME = /-\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}-\d{3}Z$/;

// The suite adds this check to nearly every scenario, even if it checks nothing else.
const ADDED_BY_THE_SUITE = 'wire-schema-valid';

/** Returns a map from scenario to its checks, or to undefined if the suite wrote none, as when a scenario throws. */
export function readResults(folder, prefix = '') {
  const results = new Map();
  if (!existsSync(folder)) return results;
  for (const entry of readdirSync(folder, { recursive: true })) {
    if (!entry.startsWith(prefix) || !TIME.test(entry)) continue;
    const file = join(folder, entry, 'checks.json');
    const name = entry.slice(prefix.length).replace(TIME, '');
    results.set(name, existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined);
  }
  return results;
}

/**
 * Judges a scenario. It passes if at least one check of its own succeeded, and none failed or warned. This is stricter
 * than the suite, which accepts warnings and scenarios that check nothing.
 */
export function judge(checks) {
  if (checks === undefined) return { passed: false, detail: 'no result: the scenario did not run', faults: [] };
  const count = (status) => checks.filter((check) => check.status === status).length;
  const faults = checks
    .filter((check) => check.status === 'FAILURE' || check.status === 'WARNING')
    .map((check) => `${check.status} ${check.id}: ${check.errorMessage ?? check.description}`);
  const known = new Set(['SUCCESS', 'FAILURE', 'WARNING', 'SKIPPED', 'INFO']);
  for (const check of checks) if (!known.has(check.status)) faults.push(`unknown status ${check.status} of ${check.id}`);
  const proven = checks.some((check) => check.status === 'SUCCESS' && check.id !== ADDED_BY_THE_SUITE);
  if (!proven) faults.push('nothing was checked');
  const detail = [
    `${count('SUCCESS')} ok`,
    count('FAILURE') && `${count('FAILURE')} failed`,
    count('WARNING') && `${count('WARNING')} warnings`,
    count('SKIPPED') && `${count('SKIPPED')} skipped`
  ];
  return { passed: faults.length === 0, detail: detail.filter(Boolean).join(', '), faults };
}
