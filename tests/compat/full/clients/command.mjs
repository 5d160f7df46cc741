// For clients that are command-line programs: each step runs the program once.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MODULES = join(dirname(fileURLToPath(import.meta.url)), '../node_modules');

export function scriptOf(name) {
  const { bin } = JSON.parse(readFileSync(join(MODULES, name, 'package.json'), 'utf8'));
  return join(MODULES, name, typeof bin === 'string' ? bin : Object.values(bin)[0]);
}

/** Runs the program of a package and returns its standard output as JSON. Rejects if the output is not JSON. */
export function runJson(name, args) {
  return new Promise((done, failed) => {
    execFile(process.execPath, [scriptOf(name), ...args], { timeout: 30_000, maxBuffer: 1 << 24 }, (error, stdout, stderr) => {
      try {
        done(JSON.parse(stdout));
      } catch {
        failed(new Error(`${stderr || stdout || error?.message}`.trim().split('\n').filter((line) => !/^\s+at /.test(line)).join(' ')));
      }
    });
  });
}
