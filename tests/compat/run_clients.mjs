// Runs the clients of the matrix. Each takes every step twice: with our own server, and with a gateway in front of it.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { configuration } from '../e2e/support/gateway.mjs';
import { program } from '../e2e/support/programs.mjs';
import { CLIENTS, STEPS } from './clients.mjs';
import { eachOf, SIGN } from './run_servers.mjs';
import { here, scratch, startGatewayOf, startRow } from './start.mjs';

const SERVER = { v1: ['short/servers/sdk_v1.mjs'], v2: ['short/servers/sdk_v2.mjs'], 'v2 with sessions': ['short/servers/sdk_v2.mjs', 'http-sessions'] };

/** Runs a client and returns a map from step to `{ seen }` or `{ error }`. */
function drive(row, target, prefix) {
  const args = [join(here, 'drive.mjs'), join(here, row.module), JSON.stringify(target), prefix];
  return new Promise((done) => {
    execFile(process.execPath, args, { timeout: 120_000, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      const lines = stdout.split('\n').filter((line) => line.startsWith('{"step"')).map((line) => JSON.parse(line));
      const steps = new Map(lines.map(({ step, ...seen }) => [step, seen]));
      if (steps.size === 0) steps.set('connect', { error: `${stderr || error?.message}`.trim().split('\n').find((line) => /Error/.test(line)) ?? stderr.slice(0, 300) });
      done(steps);
    });
  });
}

/** Starts the servers and returns a client's direct target and its target through the gateway. Adds to `closing`. */
async function startTargets(row, folder, closing) {
  const [script, mode = row.via] = SERVER[row.server];
  const house = { name: row.name, via: row.via, script: () => [join(here, script), mode] };
  const direct = await startRow(house, folder, 'direct');
  closing.push(direct.stop);
  const behind = await startRow(house, folder, 'gateway');
  closing.push(behind.stop);
  if (row.via === 'stdio') {
    const config = join(folder, 'proteus.toml');
    writeFileSync(config, configuration({ upstreams: [{ name: 'up', ...behind.upstream }] }));
    const [command, ...args] = direct.target.command;
    return [{ command, args }, { command: program('proteus'), args: ['stdio', '--config', config, '--data', join(folder, 'data')] }];
  }
  const gateway = await startGatewayOf(behind);
  closing.push(gateway.stop);
  return [{ url: direct.target.url }, { url: gateway.url }];
}

function judge(step, wanted, found) {
  if (!wanted) return { verdict: 'differs', reason: 'directly: the step was not reached' };
  if (wanted.error) return { verdict: 'differs', reason: `directly: ${wanted.error.slice(0, 250)}` };
  if (!found) return { verdict: 'differs', reason: 'not reached through the gateway' };
  if (found.error) return { verdict: 'differs', reason: `gateway: ${found.error.slice(0, 250)}` };
  if (wanted.seen === found.seen) return { verdict: 'same' };
  let at = 0;
  while (wanted.seen[at] === found.seen[at]) ++at;
  const around = (text) => text.slice(Math.max(0, at - 60), at + 120);
  return { verdict: 'differs', reason: `direct: ${around(wanted.seen)} | gateway: ${around(found.seen)}` };
}

async function compareClient(row) {
  const { folder, forget } = scratch();
  const closing = [forget];
  const verdicts = new Map();
  try {
    const [directly, through] = await startTargets(row, folder, closing);
    const [wanted, found] = [await drive(row, directly, ''), await drive(row, through, 'up_')];
    for (const step of STEPS) verdicts.set(step, judge(step, wanted.get(step), found.get(step)));
    return { verdicts };
  } catch (error) {
    return { unable: error.message.split('\n').slice(0, 3).join(' ') };
  } finally {
    for (const close of closing.toReversed()) await Promise.resolve(close()).catch((error) => verdicts.set('end', { verdict: 'differs', reason: error.message }));
  }
}

/** Runs every client of the form and returns `[{ row, result }]`. */
export async function runClients(form, only, tally) {
  const chosen = CLIENTS.filter((row) => (form === 'full' || row.form === 'short') && (!only || row.name.toLowerCase().includes(only)));
  console.log(`\n${chosen.length} clients, directly and through the gateway`);
  return eachOf(chosen, async (row) => {
    const result = await compareClient(row);
    if (result.unable) {
      ++tally.failed;
      console.log(`FAILED  ${row.name}: ${result.unable}`);
      return { row, result };
    }
    console.log(`${[...result.verdicts.values()].map(({ verdict }) => SIGN[verdict]).join('')}  ${row.name}`);
    for (const [step, { verdict, reason }] of result.verdicts) {
      if (verdict === 'same') ++tally.passed;
      else console.log(`          FAILED  ${row.name}, ${step}: ${reason}`, ++tally.failed && '');
    }
    return { row, result };
  });
}
