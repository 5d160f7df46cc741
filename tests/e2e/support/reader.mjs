// A reader of the documentation who types its commands, on a machine like that after `make run`.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { makeFolder, run, spawnChild } from './children.mjs';
import { eventually, program, root, startServer, within } from './programs.mjs';

// Used up only on a busy machine.
const PATIENCE_MS = 40_000;
const TOKEN = 'of-the-reader';
// Configuration that the pages assume besides the quickstart.
const MORE = (everything) => `
[[auth.tokens]]
name = "reader"
token_env = "TOKEN"

[[upstreams]]
name = "shop"
url = "${everything}"
trust = "pin"

[contexts.sec]
display_name = "SEC filings"
`;

export class Reader {
  /** Starts a reader. `servers` has the addresses of the quickstart's servers: `bank`, `everything` and `backend`. */
  static async start(servers) {
    const reader = new Reader(servers);
    try {
      await reader.setUp();
      return reader;
    } catch (error) {
      await reader.stop();
      throw error;
    }
  }

  constructor(servers) {
    this.servers = servers;
    const folder = makeFolder();
    Object.assign(this, { folder, watching: [] });
    for (const name of ['bin', 'drafts', 'proteus-data', 'mappings']) mkdirSync(join(folder, name), { mode: 0o700 });
    symlinkSync(program('proteus'), join(folder, 'bin/proteus'));
    copyFileSync(join(root, 'tests/fixtures/stdio_server.py'), join(folder, 'server.py'));
    this.env = {
      ...process.env,
      PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
      ACME_DSN: `sqlite://${join(folder, 'company.db')}`,
      PROTEUS_MAPPINGS: join(folder, 'mappings'),
      PROTEUS_LISTEN: '127.0.0.1:0',
      TOKEN,
      PROTEUS_TOKEN: TOKEN,
      EDITOR: 'true',
      OLD: 'the-pepper-of-before',
      NEW: 'the-pepper-of-now'
    };
  }

  async setUp() {
    const quickstart = join(root, 'examples/quickstart');
    execFileSync('python3', [join(quickstart, 'company.py'), '--out', join(this.folder, 'company.db')]);
    const { bank, everything } = this.servers;
    const settings = readFileSync(join(quickstart, 'proteus.toml'), 'utf8')
      .replace('http://127.0.0.1:9301/mcp', bank)
      .replace('http://127.0.0.1:9302/mcp', everything);
    writeFileSync(join(this.folder, 'proteus.toml'), settings + MORE(everything));
    const options = { cwd: this.folder, env: this.env };
    execFileSync('proteus', ['dataset', 'ratify', join(quickstart, 'acme.toml'), '--by', 'make run'], { ...options, stdio: 'ignore' });
    const folder = this.folder;
    this.gateway = await startServer('proteus', ['serve', '--config', join(folder, 'proteus.toml'), '--data', join(folder, 'proteus-data')], { env: this.env });
    this.address = new URL(this.gateway.url).host;
    this.env.PROTEUS_LISTEN = this.address;
    this.env.SECRET = execFileSync('proteus', ['admin-secret'], { ...options, encoding: 'utf8' }).trim();
    await eventually('being ready', async () => (await fetch(`http://${this.address}/readyz`)).ok, PATIENCE_MS);
    await this.admin('/admin/session/init', { session_id: 'demo', user_token: 'demo-token', user_id: 1 });
  }

  async admin(path, body) {
    const answer = await fetch(`http://${this.address}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { 'x-admin-secret': this.env.SECRET },
      body: body && JSON.stringify(body)
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }

  /** Returns the command with the addresses, secret and ids of this setup. */
  async adapt(command) {
    if (/pin-[0-9a-f]{16}/.test(command)) {
      const { proposals } = await this.admin('/admin/proposals');
      command = command.replaceAll(/pin-[0-9a-f]{16}/g, proposals[0].id);
    }
    return command
      .replaceAll('build/release/bin/', '')
      .replaceAll(/(127\.0\.0\.1|localhost):8080/g, this.address)
      .replaceAll(/(127\.0\.0\.1|localhost):(8866|9303)/g, this.servers.backend)
      .replaceAll('https://example.com/mcp', this.gateway.url)
      .replaceAll('<secret>', this.env.SECRET);
  }

  /** Runs a command and waits for its end, unless it runs until it is interrupted. */
  async type(written) {
    const command = await this.adapt(written);
    if (/^(\w+=\S* )*proteus serve/.test(command)) return this.serve(command);
    if (/proteus client watch/.test(command)) return this.watch(command);
    // A failed request must fail the command. A stream that never ends (-N) is read for a second.
    const curl = 'curl() { command curl -fsS --max-time $([[ " $* " == *" -N "* ]] && echo 1 || echo 10) "$@" || (($? == 28)); }\n';
    return run('bash', ['-c', curl + command], { cwd: this.folder, env: this.env, timeout: PATIENCE_MS });
  }

  /** Starts a second gateway, and stops it once it is ready. */
  async serve(command) {
    const env = { ...this.env, PROTEUS_LISTEN: '127.0.0.1:0', PROTEUS_DATA: join(this.folder, 'another'), PROTEUS_MAPPINGS: join(this.folder, 'none') };
    const child = spawnChild('bash', ['-c', `exec env ${command}`], { cwd: this.folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let stderr = '';
    child.stderr.on('data', (data) => (stderr += data));
    const listening = new Promise((done) => {
      createInterface({ input: child.stdout }).on('line', (line) => done(line.replace('listening on ', '')));
    });
    try {
      const url = await within(PATIENCE_MS, command, Promise.race([listening, child.closed]));
      if (child.exitCode === null) await eventually('being ready', async () => (await fetch(new URL('/readyz', url))).ok, PATIENCE_MS);
      child.kill('SIGTERM');
      return { code: await within(PATIENCE_MS, `the end of ${command}`, child.closed), stdout: '', stderr };
    } finally {
      child.kill('SIGKILL');
    }
  }

  async watch(command) {
    const child = spawnChild('bash', ['-c', `exec env ${command}`], { cwd: this.folder, env: this.env, stdio: ['ignore', 'pipe', 'pipe'] });
    const watch = { command, child, seen: '', said: '' };
    child.stdout.on('data', (data) => (watch.seen += data));
    child.stderr.on('data', (data) => (watch.said += data));
    this.watching.push(watch);
    await eventually(`${command}: ${watch.said}`, () => watch.said !== '' || watch.seen !== '' || child.exitCode !== null, PATIENCE_MS);
    return { code: child.exitCode ?? 0, stdout: '', stderr: watch.said };
  }

  /** Presses Ctrl-C in each watching command once it has shown a change. It may miss the first ones. */
  async stopWatching() {
    for (const watch of this.watching.splice(0)) {
      try {
        const change = () => /^[+~-] /m.test(watch.seen);
        for (let attempt = 0; attempt < 5 && !change(); ++attempt) {
          await eventually('a change', change, 2000).catch(() => this.connectAnew());
        }
        if (!change()) throw new Error(`${watch.command} showed nothing but ${watch.seen}`);
      } finally {
        watch.child.kill('SIGINT');
        await within(PATIENCE_MS, watch.command, watch.child.closed);
      }
    }
  }

  /** Makes changes of which all listeners are notified. */
  async connectAnew() {
    await this.admin('/admin/datasets/acme/connect', {});
    await this.admin('/admin/datasets/acme/disconnect', {});
  }

  async stop() {
    for (const { child } of this.watching) child.kill('SIGKILL');
    await this.gateway?.stop();
  }
}
