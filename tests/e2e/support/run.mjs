// Runs a program to its end.
import { execFile } from 'node:child_process';

/** What a program says and ends with; `env` is added to its environment. */
export function run(path, args, { env = {}, timeout = 20_000 } = {}) {
  return new Promise((done) => {
    execFile(path, args, { timeout, env: { ...process.env, ...env } }, (error, stdout, stderr) => done({ code: error ? error.code : 0, stdout, stderr }));
  });
}
