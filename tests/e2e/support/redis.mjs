// A Redis of its own for a suite, which keeps nothing on a disk.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { connect, createServer } from 'node:net';

import { eventually } from './programs.mjs';

const PROGRAM = '/usr/bin/redis-server';

export const hasRedis = existsSync(PROGRAM);

async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

const answers = (port) =>
  new Promise((done) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      done(true);
    }).on('error', () => done(false));
  });

/** Starts a Redis. The result has `url`, `run(...words)`, by which somebody else is there, `signal(name)`, `halt()` and `resume()`, by which it is restarted and empty then, and `stop()`. */
export async function startRedis() {
  const port = await freePort();
  let server;
  let ended;
  const resume = async () => {
    server = spawn('setpriv', ['--pdeathsig=KILL', PROGRAM, '--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', '/tmp'], { stdio: 'ignore' });
    ended = new Promise((done) => server.once('exit', done));
    while (!(await answers(port))) {
      if (server.exitCode !== null) throw new Error('redis-server does not start');
    }
  };
  const halt = async () => {
    server.kill('SIGKILL');
    await ended;
  };
  await resume();
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    run: (...words) => execFileSync('redis-cli', ['-p', String(port), ...words], { encoding: 'utf8' }).trim(),
    signal: (name) => server.kill(name),
    halt,
    resume,
    stop: halt
  };
}

const marks = (redis) => redis.run('KEYS', 'proteus:1:process:*').split('\n').filter(Boolean);

/** Waits until so many processes, and no other, say that Redis has the records of all their sessions. */
export function recordsKept(redis, processes) {
  return eventually('the records of all are there', () => {
    const keys = marks(redis);
    return keys.length === processes && keys.every((key) => redis.run('GET', key) === 'kept');
  }, 30_000);
}

/** Takes away what a process left there to notice that Redis was emptied. */
export function removeMarks(redis) {
  for (const key of marks(redis)) redis.run('UNLINK', key);
}

/** How many commands ran so far, those of scripts as well, without what a process asks now and then, called or not. */
export function commands(redis) {
  const counts = [...redis.run('INFO', 'commandstats').matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)];
  return counts.reduce((sum, [, name, calls]) => (['getex', 'ping', 'info'].includes(name) ? sum : sum + Number(calls)), 0);
}
