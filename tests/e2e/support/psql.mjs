// Runs psql on the database of a cluster, as an administrator would.
import { execFileSync } from 'node:child_process';

import { spawnChild } from './children.mjs';

const OPTIONS = ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1'];

/** Runs statements, several of them as one transaction, and returns the selected rows as lines. */
export function sql(dsn, statements) {
  return execFileSync('psql', [...OPTIONS, '-c', statements, dsn], { encoding: 'utf8', timeout: 20_000 }).trim();
}

/** Opens a session: `say(statements)` runs statements and returns the selected rows, `stop()` ends the session. */
export function openSession(dsn) {
  const child = spawnChild('psql', [...OPTIONS, dsn], { stdio: ['pipe', 'pipe', 'inherit'] });
  let seen = '';
  let wake = () => {};
  child.stdout.on('data', (data) => {
    seen += data;
    wake();
  });
  const say = async (statements) => {
    child.stdin.write(`${statements};\n\\echo done\n`);
    while (!seen.includes('done\n')) await Promise.race([new Promise((next) => (wake = next)), child.closed.then((code) => Promise.reject(new Error(`psql ended with ${code}`)))]);
    const [said] = seen.split('done\n');
    seen = seen.slice(said.length + 'done\n'.length);
    return said.trim();
  };
  return {
    say,
    stop: async () => {
      child.stdin.end();
      await child.closed;
    }
  };
}
