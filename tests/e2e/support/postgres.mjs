// A dedicated PostgreSQL server for a suite. PostgreSQL refuses to run as root, so root starts it as user postgres.
import { execFileSync } from 'node:child_process';
import { chownSync, existsSync } from 'node:fs';
import { join } from 'node:path';

import { makeFolder, run, spawnChild } from './children.mjs';
import { eventually } from './programs.mjs';

const PROGRAMS = '/usr/lib/postgresql/15/bin';
const START_MS = 60_000;

export const hasPostgres = existsSync(join(PROGRAMS, 'postgres'));

function asItsUser(command) {
  if (process.getuid() !== 0) return command;
  return ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', '--pdeathsig=KILL', ...command];
}

/** Runs a program of PostgreSQL to its end. */
async function finish([path, ...args], options = {}) {
  const { code, stderr } = await run(path, args, { cwd: '/', timeout: START_MS, ...options });
  if (code !== 0) throw new Error(`${path} ended with ${code}\n${stderr}`);
}

/**
 * Starts a server with a socket in its own folder and runs the statements `sql`. The result has `dsn`, `socket` with
 * the path, `halt()` and `resume()`, which stop and start the server, `restart()`, `query(sql)`, which returns rows as
 * text, and `stop()`.
 */
export async function startPostgres(sql = '') {
  const folder = makeFolder('pg');
  if (process.getuid() === 0) {
    const id = (flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
    chownSync(folder, id('-u'), id('-g'));
  }
  const data = join(folder, 'data');
  await finish(asItsUser([join(PROGRAMS, 'initdb'), '-D', data, '-A', 'trust', '-N', '-U', 'postgres', '--locale=C.UTF-8', '-E', 'UTF8']));
  const [program, ...args] = asItsUser([join(PROGRAMS, 'postgres'), '-D', data, '-k', folder, '-h', '', '-F']);
  let server;
  const accepts = async () => {
    if (server.exitCode !== null) throw new Error(`PostgreSQL ended with ${server.exitCode}`);
    return (await run(join(PROGRAMS, 'pg_isready'), ['-h', folder, '-t', '1'])).code === 0;
  };
  const resume = () => {
    server = spawnChild(program, args, { stdio: 'ignore', cwd: '/' });
    return eventually('PostgreSQL accepts connections', accepts, START_MS);
  };
  const halt = async () => {
    server.kill('SIGQUIT');
    await server.closed;
  };
  // Like `pg_ctl restart -m immediate`, without blocking this process.
  const restart = async () => {
    await halt();
    await resume();
  };
  const psql = ['-h', folder, '-U', 'postgres', '-v', 'ON_ERROR_STOP=1', '-q'];
  const query = (text) => execFileSync(join(PROGRAMS, 'psql'), [...psql, '-At', '-c', text, 'postgres'], { encoding: 'utf8' }).trim();
  await resume();
  await finish([join(PROGRAMS, 'psql'), ...psql, '-f', '-', 'postgres'], { input: sql });
  return {
    dsn: `postgres://postgres@/postgres?host=${folder}`,
    socket: join(folder, '.s.PGSQL.5432'),
    halt,
    resume,
    restart,
    query,
    stop: halt
  };
}
