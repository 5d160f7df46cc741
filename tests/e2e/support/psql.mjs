// What somebody does in the database of a cluster by hand.
import { execFileSync, spawn } from 'node:child_process';

const OPTIONS = ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1'];

/** Runs statements, as one transaction where there are several; gives what they select, in lines. */
export function sql(dsn, statements) {
  return execFileSync('psql', [...OPTIONS, '-c', statements, dsn], { encoding: 'utf8', timeout: 20_000 }).trim();
}

/** A session that stays open: `say(statements)` waits until they are done and gives what they select, `end()` ends it. */
export function openSession(dsn) {
  const child = spawn('psql', [...OPTIONS, dsn], { stdio: ['pipe', 'pipe', 'inherit'] });
  let seen = '';
  let wake = () => {};
  child.stdout.on('data', (data) => {
    seen += data;
    wake();
  });
  const ended = new Promise((done) => child.once('exit', done));
  const say = async (statements) => {
    child.stdin.write(`${statements};\n\\echo done\n`);
    while (!seen.includes('done\n')) await Promise.race([new Promise((next) => (wake = next)), ended.then((code) => Promise.reject(new Error(`psql ended with ${code}`)))]);
    const [said] = seen.split('done\n');
    seen = seen.slice(said.length + 'done\n'.length);
    return said.trim();
  };
  return {
    say,
    end: async () => {
      child.stdin.end();
      await ended;
    }
  };
}
