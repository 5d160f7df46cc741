// Checks of what only a gateway can do for a client: the server restarts, or speaks the other era. The outcome must be
// the same as that of a direct connection.
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

/** Returns what must be the same in all cases: the tools, and the content of a call. */
async function essence(side) {
  const seen = side.capabilities.tools ? await definitions(side, 'tools/list', 'tools') : [];
  const [first] = [side.row.steady ?? side.row.call ?? []].flat();
  // The result of a call to a server that remembers depends on earlier calls.
  if (!first || side.row.remembers) return seen;
  const answer = await call(side, first);
  return [...seen, answer.error ? comparable(side, answer) : members(outcomeText(answer)).get('content')];
}

/** Repeats `look` until it returns what is wanted, or time is up. Returns the last outcome. */
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
    // The process has already ended.
    if (error.code !== 'ESRCH') throw error;
  }
}

/** Restarts the server. The client must retry, in the same session: the gateway repeats no call that may have run. */
async function restart(direct, through) {
  const wanted = direct.fresh;
  if (through.restart) await through.restart();
  else for (const child of childrenOf(through.gateway.pid)) kill(child);
  return [wanted, await eventually(through, wanted, () => essence(through))];
}

const other = (era) => (era === 'legacy' ? 'modern' : 'legacy');

async function otherEra(direct, through) {
  // Remembered for `restart`: a restarted server is in the same state as this one is now.
  direct.fresh = await essence(direct);
  // The eras have different forms of tasks, so tools that need them are left out.
  const isTask = (line) => direct.row.taskOnly?.some((name) => line.startsWith(`${name} `));
  const wanted = direct.fresh.filter((line) => !isTask(line));
  const peer = await Peer.open(through.gateway.target, other(through.peer.era), { roots: through.peer.roots });
  try {
    return [wanted, await essence({ ...through, peer })];
  } finally {
    await peer.close();
  }
}

/** Calls the server in the other era, with questions during the calls. Several at once reach different workers. */
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

/** `compare` returns what is wanted and what was found. */
export const OTHER_ERA = { name: 'other era', offered: () => true, compare: otherEra };
export const OTHER_ERA_ASKING = { name: 'other era, asking', offered: ({ row }) => row.elicitation, compare: otherEraAsking };
export const RESTART = { name: 'restart', offered: () => true, compare: restart };
