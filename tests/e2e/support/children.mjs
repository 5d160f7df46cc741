// Child processes and folders that do not outlive the tests, however the tests end. A program that a child starts may.
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const running = new Set();
const folders = new Set();

// Also runs when --test-force-exit ends this process.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
  // A child may still be writing while it dies.
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
});

/** Makes a temporary folder, which is removed when this process ends. `purpose` is a part of its name. */
export function makeFolder(purpose = 'e2e') {
  const folder = mkdtempSync(join(tmpdir(), `proteus-${purpose}-`));
  folders.add(folder);
  return folder;
}

/** Returns a command whose process the kernel kills when this process dies. */
const guarded = (command) => ['setpriv', '--pdeathsig=KILL', ...command];

/**
 * Like `spawn` of node:child_process, for a program that dies with this process. The result has `closed`, which
 * resolves to the exit code, or to the signal that ended the program, once all its output was read.
 */
export function spawnChild(path, args = [], options = {}) {
  const [guard, ...rest] = guarded([path, ...args]);
  const child = spawn(guard, rest, options);
  running.add(child);
  child.closed = new Promise((done) => {
    child.once('error', (error) => done(error.message));
    child.once('close', (code, signal) => done(signal ?? code));
  });
  void child.closed.then(() => running.delete(child));
  return child;
}

/**
 * Runs a program to its end and returns its exit code, or the signal that ended it, as `code`, and its output. `env` is
 * added to the environment, and `input` is the standard input.
 */
export function run(path, args, { env = {}, timeout = 20_000, input, ...options } = {}) {
  const [guard, ...rest] = guarded([path, ...args]);
  return new Promise((done) => {
    const child = execFile(guard, rest, { timeout, maxBuffer: 64 << 20, ...options, env: { ...process.env, ...env } }, (error, stdout, stderr) => {
      done({ code: error ? (error.code ?? error.signal) : 0, stdout, stderr });
    });
    child.stdin.on('error', () => {});  // a program may end before it has read everything
    if (input !== undefined) child.stdin.end(input);
  });
}
