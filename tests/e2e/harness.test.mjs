// The helpers of these tests: if they overlooked a crash, a stall or a program that stays, no test would find it.
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { makeFolder, run, spawnChild } from './support/children.mjs';
import { startGateway } from './support/gateway.mjs';
import { eventually, isRunning, startServer, stopAll } from './support/programs.mjs';

const CHILDREN = import.meta.resolve('./support/children.mjs');

describe('stopping a program', () => {
  const { PROTEUS_BIN } = process.env;
  const folder = makeFolder();
  before(() => (process.env.PROTEUS_BIN = folder));
  after(() => {
    if (PROTEUS_BIN === undefined) delete process.env.PROTEUS_BIN;
    else process.env.PROTEUS_BIN = PROTEUS_BIN;
  });

  /** Makes a program that does this on SIGTERM, after it has written `log`. */
  function make(name, onTerm, log = '') {
    const text = ['#!/bin/sh', `trap '${onTerm}' TERM`, `printf '%s' '${log}' >&2`, 'echo listening on http://127.0.0.1:1/mcp', 'while :; do sleep 0.01; done'];
    writeFileSync(join(folder, name), `${text.join('\n')}\n`, { mode: 0o700 });
  }

  test('succeeds if it ends with 0', async () => {
    make('good', 'exit 0');
    const program = await startServer('good', []);
    assert.equal(program.running(), true);
    assert.equal(await program.stop(), 0);
    assert.equal(await program.stop(), 0, 'once more');
  });

  test('fails if it ends otherwise, with the end of its log', async () => {
    make('bad', 'exit 23', 'a leak was found');
    await assert.rejects((await startServer('bad', [])).stop(), /bad ended with 23\na leak was found/);
    make('crashing', 'kill -ABRT $$');
    await assert.rejects((await startServer('crashing', [])).stop(), /crashing ended with SIGABRT/);
  });

  test('fails if something else has killed it, and succeeds if the test has', async () => {
    make('good', 'exit 0');
    const dead = await startServer('good', []);
    process.kill(dead.pid, 'SIGKILL');
    await dead.ended;
    await assert.rejects(dead.stop(), /good ended with SIGKILL/);
    const killed = await startServer('good', []);
    assert.equal(await killed.kill(), 'SIGKILL');
    assert.equal(await killed.stop(), 'SIGKILL');
  });

  test('fails if a worker of a gateway has stalled, however the gateway ends', async () => {
    make('proteus', 'exit 0', 'worker-0 stalled: one handler has run for 60000 ms of CPU time, at read\n');
    const gateway = await startGateway({});
    await eventually('the line is read', () => gateway.stalls().length === 1);
    await assert.rejects(gateway.stop(), /a worker stalled:\nworker-0 stalled/);
    const killed = await startGateway({});
    await eventually('the line is read', () => killed.stalls().length === 1);
    await assert.rejects(killed.kill(), /a worker stalled/);
  });

  test('is done for all programs, the last one first, although some of them fail', async () => {
    const stopped = [];
    const part = (name, fails) => ({
      stop: async () => {
        stopped.push(name);
        if (fails) throw new Error(`${name} fails`);
      }
    });
    await assert.rejects(stopAll([part('a'), part('b', true), undefined, part('c', true), { close: () => stopped.push('d') }]), /c fails\nb fails/);
    assert.deepEqual(stopped, ['d', 'c', 'b', 'a']);
  });
});

describe('waiting', () => {
  test('ends at its limit, also while what it waits for is under way', async () => {
    await assert.rejects(eventually('nothing', () => false, 20), /nothing: not within 20 ms/);
    await assert.rejects(eventually('never', () => new Promise(() => {}), 20), /never: not within 20 ms/);
  });

  test('fails if what it waits for fails', async () => {
    await assert.rejects(eventually('a fault', () => Promise.reject(new Error('broken'))), /broken/);
  });
});

describe('what a test leaves behind', () => {
  // Starts a program, prints its id, and then does more.
  const script = (more) => `
    const { makeFolder, spawnChild } = await import('${CHILDREN}');
    const child = spawnChild('sleep', ['600']);
    child.once('spawn', () => { console.log(child.pid); ${more} });
  `;

  test('ends and is removed with the process of the test', async () => {
    const { code, stdout } = await run(process.execPath, ['--input-type=module', '-e', script('console.log(makeFolder()); process.exit(0);')]);
    assert.equal(code, 0);
    const [pid, folder] = stdout.trim().split('\n');
    await eventually('the program has ended', () => !isRunning(pid));
    assert.equal(existsSync(folder), false);
  });

  test('ends even if the process of the test is killed', async () => {
    const parent = spawnChild(process.execPath, ['--input-type=module', '-e', script('')], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await parent.stdout.setEncoding('utf8').take(1).toArray();
    const pid = line.trim();
    assert.equal(isRunning(pid), true);
    parent.kill('SIGKILL');
    await eventually('the program has ended', () => !isRunning(pid));
  });
});
