// What a server lists, in its own bytes.
import { elements, members } from '../wire/json_text.mjs';
import { outcomeText } from '../wire/peer.mjs';

/** Every page of a list, as the texts of its elements; an answer that is an error is thrown. */
export async function listed(peer, method, key) {
  const found = [];
  for (let cursor; ; ) {
    const answer = await peer.request(method, cursor === undefined ? {} : { cursor });
    if (answer.error) throw Object.assign(new Error(`${method}: ${JSON.stringify(answer.error)}`), { answer });
    found.push(...elements(members(outcomeText(answer)).get(key)));
    cursor = answer.result.nextCursor;
    if (cursor === undefined) return found;
  }
}

/** A definition without its name, in the bytes of its author. */
function nameless(text) {
  return [...members(text)].filter(([key]) => key !== 'name').map(([key, value]) => `${JSON.stringify(key)}:${value}`).join();
}

/** Definitions by the server's own name; sorted, because a gateway has an order of its own. */
export async function definitions(side, method, key) {
  const texts = await listed(side.peer, method, key);
  const lines = texts.map((text) => [side.ownName(JSON.parse(text).name), nameless(text)]);
  return lines.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, rest]) => `${name} ${rest}`);
}

/** The same of what has no name that a gateway changes. */
async function unchanged(side, method, key) {
  return (await listed(side.peer, method, key)).sort();
}

const has = (capability) => (side) => side.capabilities[capability] !== undefined;

/** A server may declare resources and know no templates; whoever asks it directly is told so. */
async function orRefusal(list) {
  try {
    return await list;
  } catch (error) {
    if (error.answer?.error.code !== -32601) throw error;
    return [];
  }
}

export const LISTS = [
  { name: 'tools', offered: has('tools'), observe: (side) => definitions(side, 'tools/list', 'tools') },
  { name: 'prompts', offered: has('prompts'), observe: (side) => orRefusal(definitions(side, 'prompts/list', 'prompts')) },
  {
    name: 'resources',
    offered: has('resources'),
    observe: async (side) => [
      ...(await orRefusal(unchanged(side, 'resources/list', 'resources'))),
      ...(await orRefusal(unchanged(side, 'resources/templates/list', 'resourceTemplates')))
    ]
  }
];
