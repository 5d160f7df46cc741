// Starts and stops the programs under test. PROTEUS_BIN names another folder to take them from.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');

const START_TIMEOUT_MS = 20_000;
const STOP_TIMEOUT_MS = 10_000;

/** The path of a program, or an error that says how to get it. */
export function program(name) {
  const path = join(process.env.PROTEUS_BIN ?? join(root, 'build/release/bin'), name);
  if (!existsSync(path)) throw new Error(`${path} does not exist; \`make build\` builds it`);
  return path;
}

/** Waits for `promise`, and fails with `what` after `ms`; the timer never keeps the process alive. */
export function within(ms, what, promise) {
  let timer;
  const timeout = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: nothing within ${ms} ms`)), ms);
  });
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}

/** How much memory a process has, in KiB. */
export function residentKib(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);
}

/** Waits until `done()` holds. */
export async function eventually(what, done, ms = 15_000) {
  const end = Date.now() + ms;
  while (!(await done())) {
    if (Date.now() > end) throw new Error(`${what}: not within ${ms} ms`);
    await new Promise((next) => setTimeout(next, 5));
  }
}

/**
 * Starts a program that prints "listening on <url>" when it is ready; `env` is added to its environment. The result has `url`, `pid`, `log()` with what it
 * wrote to standard error, `running()`, `signal(name)`, `standStill()` until SIGCONT, `ended`, and `stop()`, which resolves to its exit code or the signal
 * that ended it.
 */
export async function startServer(name, args, options) {
  return start(name, program(name), args, options);
}

/** The same for a program in JavaScript; `args` are those of node. */
export async function startScript(name, args, options) {
  return start(name, process.execPath, args, options);
}

async function start(name, path, args, { env = {} } = {}) {
  const child = spawn(path, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  let log = '';
  child.stderr.on('data', (data) => (log += data));
  const ended = new Promise((done) => {
    child.once('error', (error) => done(error.message));
    child.once('exit', (code, signal) => done(signal ?? code));
  });
  const ready = new Promise((done) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const match = /^listening on (http\S+)$/.exec(line);
      if (match) done(match[1]);
    });
  });
  const died = ended.then((how) => {
    throw new Error(`${name} ended with ${how} before it was listening\n${log}`);
  });
  died.catch(() => {});

  async function stop() {
    child.kill('SIGTERM');
    return within(STOP_TIMEOUT_MS, name, ended).catch(() => {
      child.kill('SIGKILL');
      return ended;
    });
  }
  // A signal is on its way for a while, and what it stops goes on until then.
  async function standStill() {
    child.kill('SIGSTOP');
    const threads = `/proc/${child.pid}/task`;
    await eventually('it stands still', () => readdirSync(threads).every((thread) => /\) T /.test(readFileSync(join(threads, thread, 'stat'), 'utf8'))));
  }
  try {
    const url = await within(START_TIMEOUT_MS, `${name} starting`, Promise.race([ready, died]));
    const running = () => child.exitCode === null && !child.signalCode;
    return { url, pid: child.pid, log: () => log, running, signal: (name) => child.kill(name), standStill, ended, stop };
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}
