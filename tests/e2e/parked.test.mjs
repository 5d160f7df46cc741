// Calls that wait for input of their clients, many at once, with upstreams of both eras. PROTEUS_PARKED_UPSTREAMS=10
// and PROTEUS_PARKED_CLIENTS=100 are the full size.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';

import { makeFolder } from './support/children.mjs';
import { CLIENTS, Session, textOf } from './support/clients.mjs';
import { startGateway } from './support/gateway.mjs';
import { startInterviewer } from './support/interviewers.mjs';
import { eventually, program } from './support/programs.mjs';
import { runningPrograms, stopAfter } from './support/programs_of_suite.mjs';
import { events, send } from './support/raw.mjs';

const UPSTREAMS = Number(process.env.PROTEUS_PARKED_UPSTREAMS ?? 4);
const CLIENTS_AT_ONCE = Number(process.env.PROTEUS_PARKED_CLIENTS ?? 20);
const ROUNDS = 3;
const PRINCIPALS = 5;
const WAVES = 6;
// Each wave uses the memory of the one before again; this much may vary with the pages of the heap.
const GROWTH_KIB = 4096;
const PATIENCE_MS = 50_000;

const [v1Legacy, v2Legacy, v2Modern] = CLIENTS;
const KINDS = [v1Legacy, v2Modern, v2Legacy, v2Modern];

const range = (count) => Array.from({ length: count }, (_, i) => i);
const secret = (principal) => `secret-of-${principal}`;
const env = Object.fromEntries(range(PRINCIPALS).map((i) => [`PARKED_${i}`, secret(i)]));
const tokens = range(PRINCIPALS).map((i) => ({ name: `principal-${i}`, token_env: `PARKED_${i}` }));

function residentKib(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);
}

/** Waits until `count` calls are parked. */
function parkedBecome(count, gateway) {
  return eventually(`${count} calls are parked`, async () => {
    const text = await (await fetch(new URL('/metrics', gateway.url))).text();
    const value = /^proteus_parked_calls (\d+)$/m.exec(text)?.[1];
    assert.notEqual(value, undefined, 'there is a metric of parked calls');
    return Number(value) === count;
  });
}

async function startUpstreams(programs) {
  const started = [];
  for (const i of range(UPSTREAMS)) {
    const era = i % 2 === 0 ? 'legacy' : 'modern';
    const server = await startInterviewer(era);
    programs.push(server);
    started.push({ name: `u${i}`, era, ...server });
  }
  return started;
}

function startOver(upstreams, more = {}) {
  const limits = { parked_calls: 100_000, parked_calls_per_principal: 10_000, calls_per_principal: 10_000, streams_per_principal: 10_000 };
  return startGateway({ upstreams: upstreams.map(({ name, url }) => ({ name, url })), tokens, env, limits, ...more });
}

describe(`${CLIENTS_AT_ONCE} clients of both eras, ${UPSTREAMS} upstreams of both eras, ${ROUNDS} rounds`, () => {
  let upstreams;
  let gateway;
  runningPrograms(async (programs) => {
    upstreams = await startUpstreams(programs);
    gateway = await startOver(upstreams);
    programs.push(gateway);
  });

  /** Calls every upstream at once, and gives each question an answer that no other client or question gets. */
  async function interview(name, i) {
    const session = await Session.open(KINDS[i % KINDS.length], { url: gateway.url, token: secret(i % PRINCIPALS) });
    try {
      const answer = (message) => `${message} says ${name}`;
      session.answer('elicitation/create', ({ message }) => ({ action: 'accept', content: { answer: answer(message) } }));
      const told = await Promise.all(
        upstreams.map(async (upstream) => {
          const token = `${name}@${upstream.name}`;
          const params = { name: `${upstream.name}_interview`, arguments: { token, rounds: ROUNDS } };
          const result = await session.sdk.call(session.client, params, { timeout: PATIENCE_MS });
          const answers = range(ROUNDS).map((round) => answer(`${token}?${round + 1}`));
          assert.deepEqual(JSON.parse(textOf(result)), { token, answers });
          return { upstream, token };
        })
      );
      // Otherwise the gateway would keep the session for a while.
      if (session.era === 'legacy') await session.transport.terminateSession();
      return told;
    } finally {
      await session.close();
    }
  }

  /** Runs all clients once, and checks what the upstreams counted. */
  async function wave(name) {
    const told = (await Promise.all(range(CLIENTS_AT_ONCE).map((i) => interview(`${name}-${i}`, i)))).flat();
    assert.equal(told.length, CLIENTS_AT_ONCE * UPSTREAMS);
    for (const { upstream, token } of told) {
      const { began, answered, ended } = upstream.counts;
      assert.equal(began.get(token), 1, `${token} began`);
      assert.equal(ended.get(token), 1, `${token} ended`);
      for (const round of range(ROUNDS)) assert.equal(answered.get(`${token}?${round + 1}`), 1, `${token} in round ${round + 1}`);
    }
  }

  test('BRG-01 BRG-02 BRG-03 each call runs once, each answer reaches its own call, and nothing stays parked', { timeout: 600_000 }, async (context) => {
    const resident = [];
    for (const number of range(WAVES)) {
      await wave(`wave-${number}`);
      for (const { counts } of upstreams) assert.equal(counts.began.size, CLIENTS_AT_ONCE * (number + 1));
      await parkedBecome(0, gateway);
      resident.push(residentKib(gateway.pid));
    }
    context.diagnostic(`resident after each wave: ${resident.join(', ')} KiB`);
    assert.ok(resident.at(-1) < resident[1] * 1.05 + GROWTH_KIB, `${resident.at(-1)} KiB after ${resident[1]} KiB`);
  });
});

describe('calls that are parked when the gateway is killed', () => {
  let upstreams;
  let folder;
  runningPrograms(async (programs) => {
    folder = makeFolder();
    upstreams = await startUpstreams(programs);
  });

  const capabilities = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } };
  /** Sends one round of a call without a client library, and returns the message that ends it. */
  async function round(gateway, { upstream, token, principal }, more = {}) {
    const params = { name: `${upstream.name}_interview`, arguments: { token, rounds: ROUNDS }, _meta: capabilities, ...more };
    const response = await send(gateway.url, 'tools/call', params, { token: secret(principal) });
    if (!response.headers.get('content-type').startsWith('text/event-stream')) return response.json();
    for await (const message of events(response)) {
      if (message.id !== undefined) return message;
    }
    throw new Error('the stream ended without an answer');
  }

  /** Returns the parameters with which a client retries after a question. */
  function retry({ result }, token) {
    assert.equal(result?.resultType, 'input_required', JSON.stringify(result));
    const [[key, request]] = Object.entries(result.inputRequests);
    assert.match(request.params.message, new RegExp(`^${token}\\?\\d$`));
    const inputResponses = { [key]: { action: 'accept', content: { answer: 'by hand' } } };
    return { requestState: result.requestState, inputResponses };
  }

  const callsOf = (name, era) =>
    range(CLIENTS_AT_ONCE).flatMap((i) =>
      upstreams
        .filter((upstream) => upstream.era === era)
        .map((upstream) => ({ upstream, token: `${name}-${i}@${upstream.name}`, principal: i % PRINCIPALS }))
    );

  test('BRG-06 PRO-10 each retry gets an error that says so, none runs twice, and the next call works', { timeout: 600_000 }, async (context) => {
    const own = stopAfter(context);
    const killed = own(await startOver(upstreams, { folder }));
    const parked = callsOf('killed', 'legacy');
    // Half of the calls are in their second round.
    const retries = await Promise.all(
      parked.map(async (call, i) => {
        const first = retry(await round(killed, call), call.token);
        return i % 2 === 0 ? first : retry(await round(killed, call, first), call.token);
      })
    );
    await parkedBecome(parked.length, killed);
    await killed.kill();

    const gateway = own(await startOver(upstreams, { folder }));
    const refused = await Promise.all(parked.map((call, i) => round(gateway, call, retries[i])));
    for (const { error } of refused) {
      assert.equal(error?.code, -32602);
      assert.match(error.message, /not run again|does not wait|restarted/);
    }
    for (const [i, { upstream, token }] of parked.entries()) {
      const { began, answered, ended } = upstream.counts;
      assert.equal(began.get(token), 1, `${token} began`);
      assert.equal(answered.get(`${token}?1`), i % 2 === 0 ? undefined : 1, `${token} in its first round`);
      assert.equal(answered.get(`${token}?2`), undefined, `${token} in its second round`);
      assert.equal(ended.get(token), undefined, `${token} ended`);
    }
    await parkedBecome(0, gateway);
    // A server that keeps the streams of its calls does not notice a broken connection, so the gateway must notify
    // it.
    await eventually('the upstreams have given up what was parked', () =>
      parked.every(({ upstream, token }) => upstream.counts.givenUp.get(token) === 1)
    );

    const anew = { ...parked[0], token: 'anew' };
    let answer = await round(gateway, anew);
    for (const _ of range(ROUNDS)) answer = await round(gateway, anew, retry(answer, anew.token));
    assert.deepEqual(JSON.parse(textOf(answer.result)).answers, range(ROUNDS).map(() => 'by hand'));
    await parkedBecome(0, gateway);
  });

  test('BRG-06 a program that is an upstream ends with the gateway, and so does what is parked in it', { timeout: 60_000 }, async (context) => {
    const own = stopAfter(context);
    const command = [program('everything-server'), '--stdio', '--era', 'legacy'];
    const killed = own(await startGateway({ upstreams: [{ name: 'program', prefix: '', command }] }));
    const params = { name: 'test_elicitation', arguments: { message: 'Who?' }, _meta: capabilities };
    const { result } = await (await send(killed.url, 'tools/call', params)).json();
    assert.equal(result?.resultType, 'input_required');
    const programs = readdirSync(`/proc/${killed.pid}/task`)
      .flatMap((task) => readFileSync(`/proc/${killed.pid}/task/${task}/children`, 'utf8').trim().split(/\s+/))
      .filter((pid) => pid !== '');
    assert.ok(programs.length >= 2, 'one to list, and one for the caller');
    await killed.kill();
    const runs = (pid) => existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
    await eventually('the programs have ended', () => !programs.some(runs));
  });

  test('PRO-10 of two who come with one requestState at once, one gets on, and the call ran once', { timeout: 600_000 }, async (context) => {
    const own = stopAfter(context);
    const gateway = own(await startOver(upstreams));
    const calls = callsOf('twice', 'legacy');
    await Promise.all(
      calls.map(async (call) => {
        let answer = await round(gateway, call);
        for (const _ of range(ROUNDS)) {
          const again = retry(answer, call.token);
          const both = await Promise.all([round(gateway, call, again), round(gateway, call, again)]);
          const [errors, results] = [both.filter(({ error }) => error), both.filter(({ error }) => !error)];
          assert.deepEqual(errors.map(({ error }) => error.code), [-32602]);
          [answer] = results;
        }
        assert.equal(JSON.parse(textOf(answer.result)).token, call.token);
        const { began, ended } = call.upstream.counts;
        assert.deepEqual([began.get(call.token), ended.get(call.token)], [1, 1]);
      })
    );
    await parkedBecome(0, gateway);
  });
});
