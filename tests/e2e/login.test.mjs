// UPC-16: a person signs in on the command line, and all commands of `proteus client` act for that person until logout.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { makeFolder, run, spawnChild } from './support/children.mjs';
import { signIn } from './support/headless_user.mjs';
import { startProtected } from './support/identity.mjs';
import { program, within } from './support/programs.mjs';
import { runningPrograms, stopAfter } from './support/programs_of_suite.mjs';

const PATIENCE = 60_000;

/** Runs `proteus client login`: `shown` is its URL for the browser, `ended` its exit code and log. */
function login(url, env) {
  const child = spawnChild(program('proteus'), ['client', 'login', url, '--no-browser'], { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  const ended = child.closed.then((code) => ({ code, log }));
  const shown = new Promise((done) => {
    child.stderr.on('data', (data) => {
      log += data;
      const match = /^ {2}(http\S+)\n/m.exec(log);
      if (match) done(match[1]);
    });
    void ended.then(() => done(undefined));
  });
  const stop = () => (child.kill(), child.closed);
  return { shown: within(PATIENCE, 'the URL for the browser', shown), ended: within(PATIENCE, 'the login', ended), stop };
}

describe('signing in from the command line', () => {
  let parts;
  const env = { PROTEUS_SIGN_INS: join(makeFolder(), 'kept') };
  runningPrograms(async (programs) => {
    parts = await startProtected(programs, {
      provider: { people: { ada: { groups: ['ops'] } }, refreshTokens: true, expiresIn: 3600 },
      rules: [{ match: { groups: ['ops'] }, upstreams: ['*'] }]
    });
  });

  const client = (...args) => run(program('proteus'), ['client', ...args], { env, timeout: PATIENCE });
  const kept = () => readdirSync(env.PROTEUS_SIGN_INS).map((name) => join(env.PROTEUS_SIGN_INS, name));

  async function signInAs(subject, own) {
    const { shown, ended } = own(login(parts.gateway.url, env));
    const url = await shown;
    assert.ok(url, (await Promise.race([ended, { log: '' }])).log);
    assert.equal(new URL(url).searchParams.get('resource'), parts.resource);
    const back = await signIn(url, subject);
    // Other users of this machine cannot end the sign-in, because it needs the right state.
    const foreign = new URL(back);
    foreign.searchParams.set('state', 'another');
    assert.equal((await fetch(foreign)).status, 404);
    const page = await fetch(back);
    assert.equal(page.status, 200);
    assert.match(await page.text(), /close this page/);
    const { code, log } = await ended;
    assert.equal(code, 0, log);
  }

  test('without a sign-in the command says how to get one', async () => {
    const { code, stderr } = await client('list', parts.gateway.url);
    assert.equal(code, 1);
    assert.match(stderr, /proteus client login/);
  });

  test('login keeps tokens for their owner alone, and list and call use them', async (context) => {
    await signInAs('ada', stopAfter(context));
    const [file, ...others] = kept();
    assert.deepEqual(others, []);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.equal(statSync(env.PROTEUS_SIGN_INS).mode & 0o777, 0o700);
    const listed = await client('list', parts.gateway.url, '--json');
    assert.equal(listed.code, 0, listed.stderr);
    assert.deepEqual(JSON.parse(listed.stdout).tools.map(({ name }) => name).sort(), ['delete_report', 'read_report', 'write_report']);
    const called = await client('call', parts.gateway.url, 'read_report', '{"year":1}', '--json');
    assert.equal(called.code, 0, called.stderr);
    assert.deepEqual(JSON.parse(called.stdout).structuredContent, { tool: 'read_report', arguments: { year: 1 } });
  });

  test('a token that has ended is renewed, and what is new is kept', async () => {
    const [file] = kept();
    const before = JSON.parse(readFileSync(file, 'utf8'));
    assert.ok(before.tokens.refresh_token, 'the provider gave a refresh token');
    const ended = { ...before, tokens: { ...before.tokens, expires: Math.floor(Date.now() / 1000) - 1 } };
    writeFileSync(file, JSON.stringify(ended));
    const listed = await client('list', parts.gateway.url, '--json');
    assert.equal(listed.code, 0, listed.stderr);
    const renewed = JSON.parse(readFileSync(file, 'utf8'));
    assert.notEqual(renewed.tokens.access_token, before.tokens.access_token);
    assert.ok(renewed.tokens.expires > ended.tokens.expires);
  });

  test('logout revokes the tokens and forgets them', async () => {
    const asked = parts.provider.asked('/token/revocation');
    const { code, stderr } = await client('logout', parts.gateway.url);
    assert.equal(code, 0, stderr);
    assert.equal(parts.provider.asked('/token/revocation'), asked + 1);
    assert.deepEqual(kept(), []);
    assert.equal((await client('list', parts.gateway.url)).code, 1);
    assert.match((await client('logout', parts.gateway.url)).stderr, /no sign-in/);
  });

  test('a person who declines is not signed in', async (context) => {
    const { shown, ended } = stopAfter(context)(login(parts.gateway.url, env));
    const url = new URL(await shown);
    const back = new URL(url.searchParams.get('redirect_uri'));
    back.search = new URLSearchParams({ error: 'access_denied', state: url.searchParams.get('state'), iss: parts.provider.issuer });
    assert.equal((await fetch(back)).status, 200);
    const { code, log } = await ended;
    assert.equal(code, 1);
    assert.match(log, /access_denied/);
    assert.deepEqual(kept(), []);
  });

  test('a login whose tokens cannot be kept fails and says so', async (context) => {
    const file = join(makeFolder(), 'file');
    writeFileSync(file, '');
    const { shown, ended } = stopAfter(context)(login(parts.gateway.url, { PROTEUS_SIGN_INS: join(file, 'kept') }));
    assert.equal((await fetch(await signIn(await shown, 'ada'))).status, 200);
    const { code, log } = await ended;
    assert.equal(code, 1, log);
    assert.match(log, /the sign-in could not be kept: .*Not a directory/);
    assert.doesNotMatch(log, /Signed in/);
  });
});
