// Runs the compatibility matrix: third-party servers and clients, directly and through the gateway.
//
//   run.mjs [short|full] [--servers] [--clients] [--load] [--only=TEXT] [--write]
//
// The last line is "<n> passed, <n> failed, <n> skipped". `full --write` also writes docs/compatibility.md.
import { pageFaults, writePage } from './document.mjs';
import { runLoad } from './load.mjs';
import { runClients } from './run_clients.mjs';
import { runServers } from './run_servers.mjs';

const options = process.argv.slice(2);
const form = options.includes('full') ? 'full' : 'short';
const only = options.find((option) => option.startsWith('--only='))?.slice('--only='.length).toLowerCase();
const parts = ['--servers', '--clients', '--load'].filter((part) => options.includes(part));
const wants = (part) => parts.length === 0 || parts.includes(part);
const isWhole = parts.length === 0 && !only;

const tally = { passed: 0, failed: 0, skipped: 0 };
const servers = wants('--servers') ? await runServers(form, only, tally) : [];
const clients = wants('--clients') ? await runClients(form, only, tally) : [];
if (isWhole && form === 'full' && options.includes('--write')) writePage(servers, clients, tally);
if (isWhole) {
  const faults = pageFaults();
  if (faults.length === 0) ++tally.passed;
  else ++tally.failed;
  for (const fault of faults) console.log(`FAILED  docs/compatibility.md lacks ${JSON.stringify(fault)}; make compat writes it`);
}
if (form === 'full' && wants('--load') && !only) await runLoad(tally);
console.log(`\n${tally.passed} passed, ${tally.failed} failed, ${tally.skipped} skipped`);
process.exitCode = tally.failed === 0 ? 0 : 1;
