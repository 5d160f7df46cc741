// Runs the official conformance suite against a server of yours, directly and through the gateway.
//
//   PROTEUS_REFERENCE_SERVER="node …/everything-server.js" \
//     reference.mjs [--era=auto|legacy|modern] [--requirements=REVISION]
//
// The command must start a server on $PORT with its endpoint at /mcp, such as the reference server of the suite's
// repository (examples/servers/typescript). A scenario that passes directly must pass through the gateway; the last
// line counts those that do.
import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

import { judge, readResults } from '../conformance/results.mjs';
import { startGateway } from '../e2e/support/gateway.mjs';
import { eventually, root } from '../e2e/support/programs.mjs';

const SUITE = join(root, 'tests/e2e/node_modules/@modelcontextprotocol/conformance/dist/index.js');
const LOGS = join(root, 'build/logs/conformance-reference');

// The tool of this scenario closes its client's connection, which is the gateway's. The gateway reconnects after the
// time in `retry`, and the client gets the answer. But version 1.29 of the TypeScript SDK, which the reference server
// uses, loses an answer that is sent while no client is connected.
const DIRECT_ONLY = ['server-sse-polling'];
// Recommendations that the gateway cannot follow here: the server announces changes of its lists without an event
// stream and without changing them, but the gateway announces only lists that have changed.
const NOT_FOLLOWED = ['sep-2575-server-sends-tools-list-changed-on-subscription', 'sep-2575-server-sends-prompts-list-changed-on-subscription'];
const isFault = (fault) => !NOT_FOLLOWED.some((id) => fault.startsWith(`WARNING ${id}:`));

const option = (name, fallback) => process.argv.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3) ?? fallback;

function freePort() {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}

async function startReference(command) {
  const port = await freePort();
  const child = spawn('sh', ['-c', `exec ${command}`], { stdio: 'ignore', detached: true, env: { ...process.env, PORT: String(port) } });
  const url = `http://localhost:${port}/mcp`;
  await eventually('the reference server', () => fetch(url).then((response) => (response.body?.cancel(), true), () => false), 30_000);
  return { url, stop: () => process.kill(-child.pid, 'SIGKILL') };
}

/** Runs the suite and returns a map from scenario to verdict. */
async function runSuite(folder, url, requirements) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await new Promise((done) => {
    const child = spawn(process.execPath, [SUITE, 'server', '--url', url, '--requirements', requirements, '--output-dir', folder], { cwd: root });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
    child.once('close', () => {
      writeFileSync(join(folder, 'output.txt'), output);
      done();
    });
  });
  return new Map([...readResults(folder, 'server-')].map(([scenario, checks]) => [scenario, judge(checks)]));
}

const command = process.env.PROTEUS_REFERENCE_SERVER;
if (!command) {
  console.log('skipped: PROTEUS_REFERENCE_SERVER names no server\n0 passed, 0 failed, 1 skipped');
  process.exit(0);
}
const era = option('era', 'auto');
const requirements = option('requirements', '2025-11-25');
const reference = await startReference(command);
let passed = 0;
let failed = 0;
try {
  const directly = await runSuite(join(LOGS, `${requirements}-direct`), reference.url, requirements);
  const gateway = await startGateway({ upstreams: [{ name: 'reference', url: reference.url, prefix: '', era }], limits: { worker_stall: '2s' } });
  try {
    const through = await runSuite(join(LOGS, `${requirements}-${era}`), gateway.url, requirements);
    const count = (results) => [...results.values()].filter((verdict) => verdict.passed).length;
    console.log(`${requirements}, era = "${era}": ${count(directly)} of ${directly.size} scenarios pass directly, ${count(through)} through the gateway`);
    for (const [scenario, verdict] of directly) {
      if (!verdict.passed || DIRECT_ONLY.includes(scenario)) continue;
      const faults = (through.get(scenario)?.faults ?? ['did not run']).filter(isFault);
      if (faults.length === 0) ++passed;
      else ++failed;
      if (faults.length > 0) console.log(`FAILED  ${scenario}: ${faults.join('; ').slice(0, 400)}`);
    }
  } finally {
    await gateway.stop();
  }
} finally {
  reference.stop();
}
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
