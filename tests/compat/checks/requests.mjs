// Checks of calls, prompts, resources and completion: the same request must get the same answer.
import { members } from '../wire/json_text.mjs';
import { outcomeText } from '../wire/peer.mjs';

// Members that each modern server, including the gateway, adds itself.
const STAMPS = new Set(['resultType', '_meta', 'ttlMs', 'cacheScope']);

/** Returns what is compared of an answer: the text of a result, or code, message and data of an error. */
export function comparable(side, answer) {
  if (answer.error) return `error ${answer.error.code} ${answer.error.message} ${JSON.stringify(answer.error.data)}`;
  const text = outcomeText(answer);
  if (side.peer.era === 'legacy') return text;
  return [...members(text)].filter(([key]) => !STAMPS.has(key)).map(([key, value]) => `${key}:${value}`).join();
}

export async function call(side, { name, arguments: args = {}, patience }, more = {}) {
  return side.peer.request('tools/call', { name: side.name(name), arguments: args, ...more }, patience);
}

const asMany = (value) => (value === undefined ? [] : Array.isArray(value) ? value : [value]);

async function calls(side, wanted) {
  const seen = [];
  for (const one of asMany(wanted)) seen.push(`${one.name}: ${comparable(side, await call(side, one))}`);
  return seen;
}

/** Returns the calls of the row, or calls with wrong arguments of the first tool that requires some. */
async function badCalls(side) {
  if (side.row.bad) return asMany(side.row.bad);
  const tools = (await side.tools()).filter((tool) => tool.inputSchema?.required?.length > 0);
  const tool = tools.sort((a, b) => (a.name < b.name ? -1 : 1))[0];
  if (!tool) return [];
  const name = side.ownName(tool.name);
  return [
    { name, arguments: {} },
    { name, arguments: Object.fromEntries(tool.inputSchema.required.map((key) => [key, { not: ['what', 'was', 'meant'] }])) }
  ];
}

/** Requests what does not exist. A gateway knows the lists and must refuse; some servers answer without an error. */
async function refusals(direct, through) {
  const wanted = [];
  const found = [];
  const refuses = async (method, params) => {
    const answer = await through.peer.request(method, params);
    wanted.push(`${method} refused`);
    found.push(`${method} ${answer.error || answer.result.isError ? 'refused' : 'answered'}`);
  };
  await refuses('tools/call', { name: through.name('no-such-tool'), arguments: {} });
  await refuses('prompts/get', { name: through.name('no-such-prompt') });
  await refuses('resources/read', { uri: 'nowhere://at/all' });
  await refuses('no/such/method', {});
  return [wanted, found];
}

export const REQUESTS = [
  { name: 'call', offered: (side) => side.row.call, observe: (side) => calls(side, side.row.call) },
  { name: 'bad arguments', offered: (side) => side.capabilities.tools, observe: async (side) => calls(side, await badCalls(side)) },
  { name: 'unknown', offered: () => true, compare: refusals },
  {
    name: 'prompt',
    offered: (side) => side.row.prompt,
    observe: async (side) => {
      const seen = [];
      for (const { name, arguments: args } of asMany(side.row.prompt)) {
        seen.push(comparable(side, await side.peer.request('prompts/get', { name: side.name(name), ...(args ? { arguments: args } : {}) })));
      }
      return seen;
    }
  },
  {
    name: 'read',
    offered: (side) => side.row.read,
    observe: async (side) => {
      const seen = [];
      for (const uri of asMany(side.row.read)) seen.push(comparable(side, await side.peer.request('resources/read', { uri })));
      return seen;
    }
  },
  {
    name: 'completion',
    offered: (side) => side.row.completion,
    observe: async (side) => {
      const seen = [];
      for (const { ref, argument } of asMany(side.row.completion)) {
        const named = ref.name === undefined ? ref : { ...ref, name: side.name(ref.name) };
        seen.push(comparable(side, await side.peer.request('completion/complete', { ref: named, argument })));
      }
      return seen;
    }
  }
];
