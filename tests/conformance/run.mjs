// Runs the official conformance suite with our server and client, and prints one line per scenario.
//
//   run.mjs [--single-era] [server|client|gateway|cluster]
//
//   server    everything-server, speaking both eras; with --single-era only the era of the revision
//   client    conformance-client
//   gateway   `proteus serve` in front of an everything-server of one era: each revision with each era
//   cluster   the same with three `proteus serve` processes that share a PostgreSQL, behind nginx with round robin
//
// Without an argument, runs all four; with --single-era, only the first.
//
// There is no list of expected failures: every scenario of scenarios.mjs must run and pass without a warning.
import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { hasNginx, startBalancer } from '../e2e/support/balancer.mjs';
import { knowsPeers, startPeer } from '../e2e/support/peers.mjs';
import { hasPostgres, startPostgres } from '../e2e/support/postgres.mjs';
import { program, root, startServer, stopAll } from '../e2e/support/programs.mjs';
import { judge, readResults } from './results.mjs';
import { CLIENT, SERVER } from './scenarios.mjs';

const SUITE = join(root, 'tests/e2e/node_modules/@modelcontextprotocol/conformance/dist/index.js');
const LOGS = join(root, 'build/logs/conformance');
const ERA = { '2025-11-25': 'legacy', '2026-07-28': 'modern' };

// The tool of this scenario closes its client's connection, which behind a gateway is the gateway's.
const DIRECT_ONLY = ['server-sse-polling'];

const singleEra = process.argv.includes('--single-era');
const only = process.argv.slice(2).find((argument) => !argument.startsWith('--'));
let passed = 0;
let failed = 0;

function report(scenario, verdict) {
  console.log(`  ${verdict.passed ? 'ok    ' : 'FAILED'}  ${scenario.padEnd(48)} ${verdict.detail}`);
  for (const fault of verdict.faults) console.log(`            ${fault.slice(0, 300)}`);
  if (verdict.passed) passed++;
  else failed++;
}

/** Empties `folder`, runs the suite with its output there, and resolves to its exit code. */
function suite(folder, args) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, [SUITE, ...args, '--output-dir', folder], { cwd: root });
    let output = '';
    child.stdout.on('data', (data) => (output += data));
    child.stderr.on('data', (data) => (output += data));
    child.once('error', fail);
    child.once('close', (code) => {
      writeFileSync(join(folder, 'output.txt'), output);
      done(code);
    });
  });
}

/** Stops a program; returns its exit code, or what went wrong. */
const endOf = (program) => program?.stop().catch((error) => error.message);

async function runServer(revision, era) {
  const { required, also } = SERVER[revision];
  console.log(`\nServer at ${revision}, everything-server --era ${era}: ${required.length} scored and ${also.length} more`);
  const folder = join(LOGS, `server-${revision}-${era}`);
  const server = await startServer('everything-server', ['--port', '0', '--era', era]);
  let running;
  let end;
  try {
    await suite(folder, ['server', '--url', server.url, '--requirements', revision]);
    running = server.running();
  } finally {
    end = await endOf(server);
    writeFileSync(join(folder, 'server.log'), server.log());
  }
  const results = readResults(folder, 'server-');
  for (const scenario of [...required, ...also]) report(scenario, judge(results.get(scenario)));
  report('(the server outlives the run, SIGTERM ends it)', { passed: running && end === 0, detail: `${end}`, faults: [] });
}

/** Starts a gateway in front of one upstream, without a prefix. */
async function startGateway(upstream, folder) {
  mkdirSync(folder, { recursive: true });
  const config = join(folder, 'proteus.toml');
  writeFileSync(config, `[server]\nlisten = "127.0.0.1:0"\n[[upstreams]]\nname = "fixture"\nurl = "${upstream.url}"\nprefix = ""\nfail_fast_on_startup = true\n`);
  return startServer('proteus', ['serve', '--config', config, '--data', join(folder, 'data')]);
}

async function runGateway(revision, era) {
  const { required } = SERVER[revision];
  const also = SERVER[revision].also.filter((scenario) => !DIRECT_ONLY.includes(scenario));
  console.log(`\nThrough the gateway at ${revision}, upstream --era ${era}: ${required.length} scored and ${also.length} more`);
  const folder = join(LOGS, `gateway-${revision}-${era}`);
  rmSync(`${folder}-state`, { recursive: true, force: true });
  const upstream = await startServer('everything-server', ['--port', '0', '--era', era]);
  let gateway;
  let running = false;
  let end;
  try {
    gateway = await startGateway(upstream, `${folder}-state`);
    await suite(folder, ['server', '--url', gateway.url, '--requirements', revision]);
    running = gateway.running();
  } finally {
    end = await endOf(gateway);
    if (gateway) writeFileSync(join(folder, 'gateway.log'), gateway.log());
    await upstream.stop();
  }
  const results = readResults(folder, 'server-');
  for (const scenario of [...required, ...also]) report(scenario, judge(results.get(scenario)));
  report('(the gateway outlives the run, SIGTERM ends it)', { passed: running && end === 0, detail: `${end}`, faults: [] });
}

/** REP-16: a session or parked call of one process can be reached through the others. */
async function runCluster(revision, era) {
  const { required } = SERVER[revision];
  const also = SERVER[revision].also.filter((scenario) => !DIRECT_ONLY.includes(scenario));
  console.log(`\nREP-01 REP-16 Through three processes behind nginx at ${revision}, upstream --era ${era}: ${required.length} scored and ${also.length} more`);
  const folder = join(LOGS, `cluster-${revision}-${era}`);
  rmSync(`${folder}-state`, { recursive: true, force: true });
  const running = [];
  const started = (part) => {
    running.push(part);
    return part;
  };
  const processes = [];
  let outlived = false;
  const ends = [];
  try {
    const postgres = started(await startPostgres());
    const upstream = started(await startServer('everything-server', ['--port', '0', '--era', era]));
    const upstreams = [{ name: 'fixture', url: upstream.url, prefix: '' }];
    for (const name of ['one', 'two', 'three']) processes.push(await startPeer(postgres, name, { upstreams }));
    for (const process of processes) await knowsPeers(process, 3);
    const balancer = started(await startBalancer(`${folder}-state`, processes.map(({ url }) => url)));
    await suite(folder, ['server', '--url', balancer.url, '--requirements', revision]);
    outlived = processes.every((process) => process.running());
  } finally {
    for (const process of processes) {
      ends.push(await endOf(process));
      writeFileSync(join(folder, `${processes.indexOf(process)}.log`), process.log());
    }
    await stopAll(running);
  }
  const results = readResults(folder, 'server-');
  for (const scenario of [...required, ...also]) report(scenario, judge(results.get(scenario)));
  report('(the processes outlive the run, SIGTERM ends them)', { passed: outlived && ends.every((end) => end === 0), detail: `${ends}`, faults: [] });
}

async function runClientScenario(revision, scenario) {
  const folder = join(LOGS, `client-${revision}-${scenario.replaceAll('/', '-')}`);
  // Without --force, the suite skips scenarios of extensions and reports them as passed.
  const command = ['--command', program('conformance-client'), '--scenario', scenario, '--spec-version', revision, '--force'];
  const code = await suite(folder, ['client', ...command]);
  const verdict = judge(readResults(folder).get(scenario));
  // The exit code also shows that a client hung or ended with an error.
  if (code !== 0) {
    verdict.passed = false;
    verdict.faults.push(`the suite's verdict: exit code ${code}; see ${folder}/output.txt`);
  }
  return verdict;
}

async function runClient(revision) {
  const { required, also } = CLIENT[revision];
  console.log(`\nClient at ${revision}: ${required.length} scored and ${also.length} more`);
  const scenarios = [...required, ...also];
  const verdicts = new Map();
  const lane = async () => {
    for (let scenario; (scenario = waiting.shift()); ) verdicts.set(scenario, await runClientScenario(revision, scenario));
  };
  const waiting = [...scenarios];
  await Promise.all(Array.from({ length: 4 }, lane));
  for (const scenario of scenarios) report(scenario, verdicts.get(scenario));
}

const runs = [];
if (only === 'server' || only === undefined) {
  for (const revision of Object.keys(SERVER)) runs.push(() => runServer(revision, singleEra ? ERA[revision] : 'both'));
}
if ((only === 'client' || only === undefined) && !singleEra) {
  for (const revision of Object.keys(CLIENT)) runs.push(() => runClient(revision));
}
if ((only === 'gateway' || only === undefined) && !singleEra) {
  for (const revision of Object.keys(SERVER)) {
    for (const era of Object.values(ERA)) runs.push(() => runGateway(revision, era));
  }
}
if ((only === 'cluster' || only === undefined) && !singleEra) {
  const missing = [!hasPostgres && 'PostgreSQL 15', !hasNginx && 'nginx'].filter(Boolean);
  if (missing.length > 0) throw new Error(`not installed: ${missing}; \`scripts/setup.sh test\` installs them`);
  for (const revision of Object.keys(SERVER)) {
    for (const era of Object.values(ERA)) runs.push(() => runCluster(revision, era));
  }
}
for (const run of runs) {
  try {
    await run();
  } catch (error) {
    report('the run itself', { passed: false, detail: error.message, faults: [] });
  }
}
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
