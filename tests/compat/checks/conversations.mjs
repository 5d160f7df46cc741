// Checks of messages that a server sends on its own: notifications and requests.
import { patiently } from '../wire/peer.mjs';
import { definitions } from './lists.mjs';
import { call, comparable } from './requests.mjs';

// Removes the members that differ between the connection to the client and the connection to the server.
const withoutMeta = ({ _meta, progressToken, requestId, ...rest }) => JSON.stringify(rest);

/** Waits for `count` notifications of `method` since `from`. Returns those that arrived, even if there are fewer. */
async function notifications(side, method, count, from) {
  const some = () => side.peer.told.slice(from).filter((message) => message.method === method);
  const enough = side.peer.heard(() => some().length >= count, `${count} of ${method}`, side.patience);
  await enough.catch(() => {});
  return some().map((message) => withoutMeta(message.params ?? {}));
}

async function logging(side, wanted) {
  const from = side.peer.told.length;
  if (side.peer.era === 'modern') side.peer.level = 'debug';
  else await side.peer.request('logging/setLevel', { level: 'debug' });
  const answer = comparable(side, await call(side, wanted));
  const said = await notifications(side, 'notifications/message', wanted.count ?? 1, from);
  side.peer.level = undefined;
  return [answer, ...said.filter((text) => !wanted.only || wanted.only.test(text))];
}

/** Makes a call during which the server sends requests. Returns the answer and the requests. */
async function questions(side, wanted) {
  const from = side.peer.asked.length;
  const answer = comparable(side, await call(side, wanted));
  const asked = side.peer.asked.slice(from).filter((message) => message.method === wanted.method);
  return [answer, ...asked.map((message) => `${message.method} ${withoutMeta(message.params ?? {})}`)];
}

async function until(what, patience, done) {
  const end = Date.now() + patience;
  for (;;) {
    const value = await done();
    if (value !== undefined) return value;
    if (Date.now() > end) throw new Error(`${what}: not within ${patience} ms`);
    await new Promise((next) => setTimeout(next, 20));
  }
}

/**
 * Cancels a call: there is no answer, the server is notified if it can report that, and the connection stays usable.
 */
async function cancellation(side, { name, arguments: args = {}, count, next }) {
  const before = count && comparable(side, await call(side, { name: count }));
  const from = side.peer.told.length;
  const params = { name: side.name(name), arguments: args, _meta: { progressToken: 'cancel-me' } };
  const { id, answered } = await side.peer.post('tools/call', params);
  let outcome = 'no answer';
  void answered.then((answer) => { outcome = `answered ${JSON.stringify(answer.error ?? answer.result)}`; });
  await side.peer.heard((message) => side.peer.told.indexOf(message) >= from && message.method === 'notifications/progress', 'progress of the call', side.patience);
  await side.peer.cancel(id);
  let after = 'cannot tell';
  if (count) {
    await until('the server was told', side.patience, async () => (comparable(side, await call(side, { name: count })) === before ? undefined : true));
    after = 'the server was told';
  }
  const goesOn = next ? comparable(side, await call(side, next)) : 'not tried';
  return [after, goesOn, outcome];
}

/** Makes a call that changes a list: the change is announced, the list contains the new entry, and it can be used. */
async function change(side, { trigger, list, added, use }) {
  const from = side.peer.told.length;
  await side.peer.subscribe();
  const answer = comparable(side, await call(side, trigger));
  const [method, key] = list === 'tools' ? ['tools/list', 'tools'] : ['resources/list', 'resources'];
  const announced = `notifications/${list}/list_changed`;
  const isNew = (message) => side.peer.told.indexOf(message) >= from && message.method === announced;
  await side.peer.heard(isNew, announced, side.patience);
  const found = await until(`${added} is listed`, side.patience, async () => {
    const lines = list === 'tools' ? await definitions(side, method, key) : (await side.peer.request(method)).result[key].map((entry) => JSON.stringify(entry));
    return lines.find((line) => line.includes(added));
  });
  return [answer, announced, found, ...(use ? [comparable(side, await call(side, use))] : [])];
}

async function update(side, { uri, trigger }) {
  await side.peer.subscribe({ uris: [uri] });
  const from = side.peer.told.length;
  const answer = comparable(side, await call(side, trigger));
  const isNew = (message) => side.peer.told.indexOf(message) >= from && message.method === 'notifications/resources/updated' && message.params.uri === uri;
  const heard = await side.peer.heard(isNew, 'notifications/resources/updated', side.patience);
  return [answer, withoutMeta(heard.params)];
}

const ofRow = (key) => (side) => side.row[key];

export const CONVERSATIONS = [
  { name: 'logging', offered: ofRow('logging'), observe: (side) => logging(side, side.row.logging) },
  { name: 'logging aside', offered: (side) => side.peer.era === 'legacy' && side.row.loggingAside, observe: (side) => logging(side, side.row.loggingAside) },
  {
    name: 'progress',
    offered: ofRow('progress'),
    observe: async (side) => {
      const from = side.peer.told.length;
      const { count, ...wanted } = side.row.progress;
      const answer = comparable(side, await call(side, wanted, { _meta: { progressToken: 'steps' } }));
      return [answer, ...(await notifications(side, 'notifications/progress', count, from))];
    }
  },
  {
    name: 'other notifications',
    offered: ofRow('herald'),
    observe: async (side) => {
      const from = side.peer.told.length;
      const { method, ...wanted } = side.row.herald;
      return [comparable(side, await call(side, wanted)), ...(await notifications(side, method, 1, from))];
    }
  },
  { name: 'roots', offered: ofRow('roots'), observe: (side) => questions(side, { method: 'roots/list', ...side.row.roots }) },
  { name: 'sampling', offered: ofRow('sampling'), observe: (side) => questions(side, { method: 'sampling/createMessage', ...side.row.sampling }) },
  { name: 'elicitation', offered: ofRow('elicitation'), observe: (side) => questions(side, { method: 'elicitation/create', ...side.row.elicitation }) },
  {
    name: 'asking at once',
    offered: ofRow('elicitation'),
    observe: (side) => Promise.all(Array.from({ length: 3 }, async () => comparable(side, await call(side, side.row.elicitation))))
  },
  { name: 'cancellation', offered: ofRow('cancellation'), observe: (side) => cancellation(side, side.row.cancellation) },
  { name: 'updates', offered: ofRow('update'), observe: (side) => update(side, side.row.update) },
  { name: 'list changed', offered: ofRow('change'), observe: (side) => patiently('the change', change(side, side.row.change), 3 * side.patience) }
];
