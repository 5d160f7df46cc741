// Starts and stops the programs under test. PROTEUS_BIN names another folder to take them from.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { spawnChild } from './children.mjs';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');

const START_TIMEOUT_MS = 20_000;
const STOP_TIMEOUT_MS = 20_000;  // longer than the default grace time of a gateway
const LOG_END = 10_000;  // characters of the log in an error

/** Returns the path of a program. If it does not exist, throws an error that says how to build it. */
export function program(name) {
  const path = join(process.env.PROTEUS_BIN ?? join(root, 'build/release/bin'), name);
  if (!existsSync(path)) throw new Error(`${path} does not exist; \`make build\` builds it`);
  return path;
}

/** Waits for `promise`; rejects with `what` after `ms`. */
export function within(ms, what, promise) {
  let timer;
  const timeout = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: nothing within ${ms} ms`)), ms);
  });
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}

/** Returns the resident memory of a process in KiB. */
export function residentKib(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);
}

/** Whether a process runs: it exists, and has not ended. */
export function isRunning(pid) {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** Returns the ids of the processes that a process has started and that still run; none if it has ended. */
export function childrenOf(pid) {
  const startedBy = (thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  return entriesOf(`/proc/${pid}/task`).flatMap((thread) => {
    try {
      return startedBy(thread);
    } catch (error) {
      if (['ENOENT', 'ESRCH'].includes(error.code)) return [];  // the thread has ended
      throw error;
    }
  });
}

function entriesOf(folder) {
  return existsSync(folder) ? readdirSync(folder) : [];
}

/**
 * Polls `done()` until it returns true, less often the longer that takes; throws if it throws, or after `ms`, even if
 * `done()` is still pending.
 */
export async function eventually(what, done, ms = 15_000) {
  const begin = Date.now();
  const passed = () => Date.now() - begin;
  const late = () => new Error(`${what}: not within ${ms} ms`);
  let timer;
  const timeout = new Promise((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  timeout.catch(() => {});
  try {
    while (!(await Promise.race([done(), timeout]))) {
      if (passed() > ms) throw late();
      await pause(Math.min(100, 5 + passed() / 20));
    }
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Stops all programs and closes all sessions in a list, the last one first, even if one of them throws. Entries may be
 * undefined.
 */
export async function stopAll(programs) {
  const faults = [];
  for (const program of programs.toReversed()) {
    try {
      await (program?.stop ? program.stop() : program?.close());
    } catch (error) {
      faults.push(error);
    }
  }
  if (faults.length === 1) throw faults[0];
  if (faults.length > 1) throw new AggregateError(faults, faults.map(({ message }) => message).join('\n'));
}

/**
 * Starts a program that prints "listening on <url>" when it is ready. `env` is added to its environment, and `onLine`
 * gets each line of its standard error. The result has
 * - `url`, `pid`, `log()` with its standard error, `running()`, and `signal(name)`
 * - `freeze()`, which stops the program until SIGCONT
 * - `ended`, which resolves to its exit code, or to the signal that ended it
 * - `kill()`, which kills the program on purpose and waits for its end
 * - `stop()`, which sends SIGTERM, and throws unless the program ends with 0. A test that sends SIGKILL with `kill` or
 *   `signal` does so on purpose, so `stop` then accepts that end.
 */
export async function startServer(name, args, options) {
  return start(name, program(name), args, options);
}

/** Like `startServer`, for a program in JavaScript, which may end as it likes; `args` are the arguments of node. */
export async function startScript(name, args, options) {
  return start(name, process.execPath, args, { ...options, anyEnd: true });
}

async function start(name, path, args, { env = {}, onLine, anyEnd = false } = {}) {
  const child = spawnChild(path, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  const ended = child.closed;
  let log = '';
  let killed = false;
  child.stderr.setEncoding('utf8').on('data', (data) => (log += data));
  if (onLine) createInterface({ input: child.stderr }).on('line', onLine);
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

  function signal(name) {
    killed ||= name === 'SIGKILL';
    return child.kill(name);
  }
  async function kill() {
    signal('SIGKILL');
    return within(STOP_TIMEOUT_MS, `the end of ${name}, which was killed`, ended);
  }
  async function stop() {
    if (killed) return ended;
    child.kill('SIGTERM');
    child.kill('SIGCONT');
    const how = await within(STOP_TIMEOUT_MS, name, ended).catch(() => {
      child.kill('SIGKILL');
      return within(STOP_TIMEOUT_MS, `the end of ${name}, which was killed`, ended).then(() => `nothing within ${STOP_TIMEOUT_MS} ms of SIGTERM`);
    });
    if (how !== 0 && !anyEnd) throw new Error(`${name} ended with ${how}\n${log.slice(-LOG_END)}`);
    return how;
  }
  // A signal takes effect with a delay, so this waits until every thread has stopped.
  async function freeze() {
    child.kill('SIGSTOP');
    const threads = `/proc/${child.pid}/task`;
    await eventually(`${name} is frozen`, () => readdirSync(threads).every((thread) => /\) T /.test(readFileSync(join(threads, thread, 'stat'), 'utf8'))));
  }
  try {
    const url = await within(START_TIMEOUT_MS, `${name} starting`, Promise.race([ready, died]));
    const running = () => child.exitCode === null && !child.signalCode;
    return { url, pid: child.pid, log: () => log, running, signal, freeze, ended, stop, kill };
  } catch (error) {
    await kill().catch(() => {});
    throw error;
  }
}
