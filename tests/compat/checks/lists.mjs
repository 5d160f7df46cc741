// Checks of a server's lists, by the bytes of their entries.
import { elements, members } from '../wire/json_text.mjs';
import { outcomeText } from '../wire/peer.mjs';

/** Reads all pages of a list and returns the texts of its elements. Throws if an answer is an error. */
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

/** Returns the text of a definition without its name. */
function nameless(text) {
  return [...members(text)].filter(([key]) => key !== 'name').map(([key, value]) => `${JSON.stringify(key)}:${value}`).join();
}

/** Returns the definitions with the server's own names, sorted because a gateway may change their order. */
export async function definitions(side, method, key) {
  const texts = await listed(side.peer, method, key);
  const lines = texts.map((text) => [side.ownName(JSON.parse(text).name), nameless(text)]);
  return lines.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, rest]) => `${name} ${rest}`);
}

/** Returns the sorted entries of a list whose names a gateway does not change. */
async function unchanged(side, method, key) {
  return (await listed(side.peer, method, key)).sort();
}

const has = (capability) => (side) => side.capabilities[capability] !== undefined;

/** Treats "method not found" as an empty list: a server may declare resources without supporting templates. */
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
