// A PostgreSQL of its own for a suite. It refuses to run as root, so there it runs as its own user.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { eventually } from './programs.mjs';

const PROGRAMS = '/usr/lib/postgresql/15/bin';

export const hasPostgres = existsSync(join(PROGRAMS, 'postgres'));

function asItsUser(command) {
  if (process.getuid() !== 0) return command;
  return ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', '--pdeathsig=KILL', ...command];
}

/** Starts a server on a socket in a directory of its own, with these statements run. The result has `dsn`, the path of its `socket`, `halt()` and `resume()`, by which the server is away for a while, `restart()`, `query(sql)`, which gives the text of its rows, and `stop()`. */
export function startPostgres(sql = '') {
  const folder = mkdtempSync(join(tmpdir(), 'proteus-pg-'));
  if (process.getuid() === 0) {
    const id = (flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
    chownSync(folder, id('-u'), id('-g'));
  }
  const data = join(folder, 'data');
  const run = ([program, ...args], options = {}) => execFileSync(program, args, { stdio: ['pipe', 'ignore', 'ignore'], cwd: '/', ...options });
  run(asItsUser([join(PROGRAMS, 'initdb'), '-D', data, '-A', 'trust', '-N', '-U', 'postgres', '--locale=C.UTF-8', '-E', 'UTF8']));
  const [program, ...args] = asItsUser([join(PROGRAMS, 'postgres'), '-D', data, '-k', folder, '-h', '', '-F']);
  let server;
  let ended;
  const launch = () => {
    server = spawn(program, args, { stdio: 'ignore', cwd: '/' });
    ended = new Promise((done) => server.once('exit', done));
  };
  const resume = () => {
    launch();
    // pg_isready waits by itself for as long as it is told.
    for (let tries = 0; ; ++tries) {
      try {
        return run([join(PROGRAMS, 'pg_isready'), '-h', folder, '-t', '1']);
      } catch (error) {
        if (tries === 200) throw error;
      }
    }
  };
  const halt = async () => {
    server.kill('SIGQUIT');
    await ended;
  };
  // As `pg_ctl restart -m immediate` does; tests go on meanwhile.
  const restart = async () => {
    await halt();
    launch();
    const asked = () => new Promise((done) => execFile(join(PROGRAMS, 'pg_isready'), ['-h', folder, '-t', '1'], (error) => done(!error)));
    await eventually('PostgreSQL', asked, 60_000);
  };
  const query = (text) => execFileSync(join(PROGRAMS, 'psql'), ['-h', folder, '-U', 'postgres', '-v', 'ON_ERROR_STOP=1', '-qAt', '-c', text, 'postgres'], { encoding: 'utf8' }).trim();
  resume();
  run([join(PROGRAMS, 'psql'), '-h', folder, '-U', 'postgres', '-v', 'ON_ERROR_STOP=1', '-q', '-f', '-', 'postgres'], { input: sql });
  return {
    dsn: `postgres://postgres@/postgres?host=${folder}`,
    socket: join(folder, '.s.PGSQL.5432'),
    halt,
    resume,
    restart,
    query,
    stop: async () => {
      await halt();
      rmSync(folder, { recursive: true, force: true });
    }
  };
}
