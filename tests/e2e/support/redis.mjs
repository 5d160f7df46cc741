// A dedicated Redis server for a suite, without persistence.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

import { spawnChild } from './children.mjs';
import { freePort, OWN_ADDRESS } from './loopback.mjs';
import { eventually } from './programs.mjs';

const PROGRAM = '/usr/bin/redis-server';

export const hasRedis = existsSync(PROGRAM);

/**
 * Starts a Redis server. The result has `url`, `address` as for `connect` of node:net, `run(...words)`, which runs a
 * command as another client, `signal(name)`, `halt()` and `resume()`, after which the server is empty, and `stop()`.
 */
export async function startRedis() {
  const port = await freePort();
  const run = (...words) => execFileSync('redis-cli', ['-h', OWN_ADDRESS, '-p', String(port), ...words], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  let server;
  const answers = () => {
    if (server.exitCode !== null) throw new Error(`redis-server ended with ${server.exitCode}`);
    try {
      return run('PING') === 'PONG';
    } catch {
      return false;
    }
  };
  const resume = async () => {
    server = spawnChild(PROGRAM, ['--port', String(port), '--bind', OWN_ADDRESS, '--save', '', '--appendonly', 'no', '--dir', '/tmp'], { stdio: 'ignore' });
    await eventually('Redis answers', answers);
  };
  const halt = async () => {
    server.kill('SIGKILL');
    await server.closed;
  };
  await resume();
  return {
    url: `redis://${OWN_ADDRESS}:${port}`,
    address: { host: OWN_ADDRESS, port },
    run,
    signal: (name) => server.kill(name),
    halt,
    resume,
    stop: halt
  };
}

const marks = (redis) => redis.run('KEYS', 'proteus:1:process:*').split('\n').filter(Boolean);

/** Waits until exactly `processes` processes report that Redis has the records of all their sessions. */
export function recordsKept(redis, processes) {
  return eventually('the records of all are there', () => {
    const keys = marks(redis);
    return keys.length === processes && keys.every((key) => redis.run('GET', key) === 'kept');
  }, 30_000);
}

/** Removes the marks by which processes notice that Redis was emptied. */
export function removeMarks(redis) {
  for (const key of marks(redis)) redis.run('UNLINK', key);
}

/** Returns how many commands have run, including those of scripts, except those that processes send regularly. */
export function commands(redis) {
  const counts = [...redis.run('INFO', 'commandstats').matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)];
  return counts.reduce((sum, [, name, calls]) => (['getex', 'ping', 'info'].includes(name) ? sum : sum + Number(calls)), 0);
}
