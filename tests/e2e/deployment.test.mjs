// Builds the root directory of the image, runs the gateway in it, and checks the Containerfile.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';

import { makeFolder, spawnChild } from './support/children.mjs';
import { program, root, within } from './support/programs.mjs';

const KNOWN = ['FROM', 'WORKDIR', 'COPY', 'RUN', 'ENV', 'USER', 'VOLUME', 'EXPOSE', 'ENTRYPOINT', 'CMD'];

/** Returns the stages of a Containerfile, each a list of `{ word, rest }`. */
function stages(text) {
  const lines = text.replaceAll(/^\s*#.*\n/gm, '').replaceAll(/\\\n/g, ' ').split('\n');
  const all = [];
  for (const line of lines.map((one) => one.trim()).filter((one) => one !== '')) {
    const [, word, rest] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? assert.fail(`no instruction: ${line}`);
    assert.ok(KNOWN.includes(word), `${word} is not expected`);
    if (word === 'FROM') all.push([]);
    all.at(-1).push({ word, rest: rest.replaceAll(/\s+/g, ' ') });
  }
  return all;
}

test('the Containerfile builds from Debian 12 and ends in an image without anything else, not as root', () => {
  const [build, image, ...more] = stages(readFileSync(join(root, 'deploy/Containerfile'), 'utf8'));
  assert.deepEqual(more, []);
  const of = (stage, word) => stage.filter((one) => one.word === word).map((one) => one.rest);
  assert.match(of(build, 'FROM')[0], /debian:12(-slim)? AS build$/);
  for (const copied of of(build, 'COPY')) {
    const sources = copied.split(' ').slice(0, -1);
    for (const source of sources) assert.ok(existsSync(join(root, source)), source);
  }
  for (const run of of(build, 'RUN')) {
    for (const [script] of run.matchAll(/\b(?:scripts|deploy)\/\S+\.sh/g)) assert.ok(existsSync(join(root, script)), script);
  }
  // The build is configured from nothing but what is copied.
  const source = makeFolder();
  for (const copied of of(build, 'COPY')) {
    const parts = copied.split(' ');
    const to = parts.pop();
    for (const from of parts) {
      const target = to.endsWith('/') ? join(source, to, basename(from)) : join(source, to);
      cpSync(join(root, from), target, { recursive: true, filter: (path) => !path.includes('node_modules') });
    }
  }
  // The npm packages of the page are installed by a step of their own.
  execFileSync('cmake', ['--preset', 'release', '-DPROTEUS_PAGE=OFF'], { cwd: source, stdio: 'pipe' });
  assert.deepEqual(of(image, 'FROM'), ['scratch']);
  assert.deepEqual(of(image, 'COPY'), ['--from=build /image /']);
  assert.deepEqual(of(image, 'RUN'), []);
  assert.deepEqual(of(image, 'USER'), ['65532:65532']);
  assert.deepEqual(JSON.parse(of(image, 'ENTRYPOINT')[0]), ['/usr/bin/proteus']);
  assert.deepEqual(JSON.parse(of(image, 'CMD')[0]), ['serve']);
  const documented = readFileSync(join(root, 'docs/configuration.md'), 'utf8');
  for (const [, name] of of(image, 'ENV').join(' ').matchAll(/(\w+)=/g)) {
    assert.ok(name === 'SSL_CERT_FILE' || documented.includes(`| \`${name}\``), name);
  }
});

/** Returns the command that changes the root directory, or undefined if this machine does not permit that. */
function changingRoot() {
  if (process.getuid() === 0) return ['chroot', '--userspec=65532:65532'];
  const mapped = ['unshare', '--user', '--map-root-user', 'chroot'];
  try {
    execFileSync(mapped[0], [...mapped.slice(1), '/', '/bin/true'], { stdio: 'ignore' });
    return mapped;
  } catch {
    return undefined;
  }
}

test('the gateway runs with what the image holds, and drains', async (context) => {
  const enter = changingRoot();
  if (!enter) return context.skip('neither root nor a user namespace');
  const folder = makeFolder();
  execFileSync(join(root, 'deploy/image-root.sh'), [program('proteus'), folder], { timeout: 60_000 });
  assert.ok(!existsSync(join(folder, 'bin/sh')) && !existsSync(join(folder, 'usr/bin/sh')));
  const env = { SSL_CERT_FILE: '/etc/ssl/certs/ca-certificates.crt', PROTEUS_LISTEN: '127.0.0.1:0', PROTEUS_DATA: '/data', PATH: process.env.PATH };
  // mkdtemp makes a folder that only its owner may enter.
  execFileSync('chmod', ['755', folder]);
  const [command, ...args] = [...enter, folder, '/usr/bin/proteus', 'serve'];
  const child = spawnChild(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  child.stderr.on('data', (data) => (log += data));
  const listening = new Promise((done) => {
    createInterface({ input: child.stdout }).on('line', (line) => done(line.replace('listening on ', '')));
  });
  context.after(() => (child.kill('SIGKILL'), child.closed));
  const url = await within(20_000, 'listening', Promise.race([listening, child.closed.then((how) => assert.fail(`ended with ${how}: ${log}`))]));
  assert.equal((await fetch(new URL('/healthz', url))).status, 200);
  assert.ok(existsSync(join(folder, 'data/proteus.db')));
  child.kill('SIGTERM');
  assert.equal(await within(15_000, 'the end', child.closed), 0, log);
});
