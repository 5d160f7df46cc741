// Writes the generated part of docs/compatibility.md, between two markers, from the results of a full run.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { root } from '../e2e/support/programs.mjs';
import { CHECKS } from './checks/all.mjs';
import { CLIENTS, STEPS } from './clients.mjs';
import { SERVERS } from './servers/all.mjs';
import { versionOf } from './start.mjs';

export const PAGE = join(root, 'docs/compatibility.md');
const BEGIN = '<!-- begin: written by make compat -->';
const END = '<!-- end: written by make compat -->';
const SIGN = { same: '✓', 'not offered': '–', cannot: '○', differs: '✗' };

const line = (cells) => `| ${cells.join(' | ')} |`;
const head = (cells) => [line(cells), `|${cells.map(() => '---|').join('')}`];
const clean = (text) => text.replaceAll(/\/tmp\/\S*?proteus-compat-\w+/g, '…').replaceAll(/[|\n<>]/g, ' ').slice(0, 260);

const SERVER_HEAD = ['server', 'version', 'era', ...CHECKS.map(({ name }) => name)];
const CLIENT_HEAD = ['client', 'version', ...STEPS];

/** Returns the cells of a row. Reasons become footnotes; equal reasons share one. */
function cells(result, names, notes) {
  const note = (reason) => {
    if (!notes.includes(reason)) notes.push(reason);
    return `<sup>${notes.indexOf(reason) + 1}</sup>`;
  };
  if (result.unable) return names.map((_, index) => (index === 0 ? `✗${note(clean(result.unable))}` : ''));
  return names.map((name) => {
    const { verdict, reason } = result.verdicts.get(name);
    return reason ? `${SIGN[verdict]}${note(clean(reason))}` : SIGN[verdict];
  });
}

function generated(servers, clients, tally, date) {
  const notes = [];
  const checks = CHECKS.map(({ name }) => name);
  const lines = [
    `Run on ${date}: ${tally.passed} comparisons were the same, ${tally.failed} were not, ${tally.skipped} cannot be made.`,
    '',
    '### Servers',
    '',
    ...head(SERVER_HEAD),
    ...servers.map(({ row, era, result }) => line([row.name, versionOf(row.package), era, ...cells(result, checks, notes)])),
    '',
    '### Clients',
    '',
    ...head(CLIENT_HEAD),
    ...clients.map(({ row, result }) => line([row.name, versionOf(row.package), ...cells(result, STEPS, notes)]))
  ];
  if (notes.length > 0) lines.push('', '### Notes', '', ...notes.map((text, index) => `${index + 1}. ${text}`));
  return lines.join('\n');
}

/** Replaces the generated part of the page. */
export function writePage(servers, clients, tally) {
  const page = readFileSync(PAGE, 'utf8');
  const [before, after] = [page.slice(0, page.indexOf(BEGIN)), page.slice(page.indexOf(END))];
  const date = new Date().toISOString().slice(0, 10);
  writeFileSync(PAGE, `${before}${BEGIN}\n\n${generated(servers, clients, tally, date)}\n\n${after}`);
}

/** Returns the columns and rows of the matrix that the page lacks. */
export function pageFaults() {
  const page = readFileSync(PAGE, 'utf8');
  const wanted = [
    line(SERVER_HEAD),
    line(CLIENT_HEAD),
    ...SERVERS.flatMap((row) => row.eras.map((era) => [row.name, era])).map(([name, era]) => ({ name, era })),
    ...CLIENTS.map(({ name }) => ({ name }))
  ];
  const rows = page.split('\n').filter((text) => text.startsWith('| '));
  return wanted.filter((one) => {
    if (typeof one === 'string') return !rows.includes(one);
    return !rows.some((text) => text.startsWith(`| ${one.name} | `) && (!one.era || text.split(' | ')[2] === one.era));
  });
}
