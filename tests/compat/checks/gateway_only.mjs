// What only a gateway can do for a client: its server restarts, or speaks the other era. What must come out is what came out directly.
import { readdirSync, readFileSync } from 'node:fs';

import { members } from '../wire/json_text.mjs';
import { outcomeText, Peer } from '../wire/peer.mjs';
import { definitions } from './lists.mjs';
import { call, comparable } from './requests.mjs';

const ASKED_AT_ONCE = 4;

function childrenOf(pid) {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ')).filter(Boolean).map(Number);
}

/** What must be the same whatever happened: the tools, and the content of a call. */
async function essence(side) {
  const seen = side.capabilities.tools ? await definitions(side, 'tools/list', 'tools') : [];
  const [first] = [side.row.steady ?? side.row.call ?? []].flat();
  // What a call says of a server that remembers depends on what was done before.
  if (!first || side.row.remembers) return seen;
  const answer = await call(side, first);
  return [...seen, answer.error ? comparable(side, answer) : members(outcomeText(answer)).get('content')];
}

/** Tries again until the answer is the one that is wanted; gives the last one. */
async function eventually(side, wanted, look) {
  let last;
  for (const end = Date.now() + side.patience; Date.now() < end; await new Promise((next) => setTimeout(next, 100))) {
    last = await look().catch((error) => [error.message]);
    if (side.same(last, wanted)) return last;
  }
  return last;
}

function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // It has ended by itself meanwhile.
    if (error.code !== 'ESRCH') throw error;
  }
}

/** A gateway asks nobody twice for a call that may have run; so the client tries again, over the same session. */
async function restart(direct, through) {
  const wanted = direct.fresh;
  if (through.restart) await through.restart();
  else for (const child of childrenOf(through.gateway.pid)) kill(child);
  return [wanted, await eventually(through, wanted, () => essence(through))];
}

const other = (era) => (era === 'legacy' ? 'modern' : 'legacy');

async function otherEra(direct, through) {
  // A server that was started again is as this one is now, before the checks that change it.
  direct.fresh = await essence(direct);
  // Each era has its own form of tasks.
  const isTask = (line) => direct.row.taskOnly?.some((name) => line.startsWith(`${name} `));
  const wanted = direct.fresh.filter((line) => !isTask(line));
  const peer = await Peer.open(through.gateway.target, other(through.peer.era), { roots: through.peer.roots });
  try {
    return [wanted, await essence({ ...through, peer })];
  } finally {
    await peer.close();
  }
}

/** The same while the server asks in the middle of a call: several at once, so that they meet different workers of the gateway. */
async function otherEraAsking(direct, through) {
  const content = async (side) => members(outcomeText(await call(side, side.row.elicitation))).get('content');
  const wanted = Array(ASKED_AT_ONCE).fill(await content(direct));
  const peer = await Peer.open(through.gateway.target, other(through.peer.era), { roots: through.peer.roots });
  try {
    return [wanted, await Promise.all(wanted.map(() => content({ ...through, peer })))];
  } finally {
    await peer.close();
  }
}

/** `compare` gives what is wanted and what was found. */
export const OTHER_ERA = { name: 'other era', offered: () => true, compare: otherEra };
export const OTHER_ERA_ASKING = { name: 'other era, asking', offered: ({ row }) => row.elicitation, compare: otherEraAsking };
export const RESTART = { name: 'restart', offered: () => true, compare: restart };
