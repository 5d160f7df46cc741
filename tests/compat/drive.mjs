// drive.mjs MODULE TARGET PREFIX: makes one client take every step, and prints the outcome of each as a line of JSON.
//
// A client is a module with `connect(target)`, where `target` is `{ url }` or `{ command, args }`. It returns an object
// with `list()`, which returns the tools as the client shows them, each with its `name`; `call(name, arguments)`; and
// `close()`.
const [module, target, prefix] = process.argv.slice(2);
const { connect } = await import(module);
const STEP_MS = 20_000;

const say = (step, seen) => console.log(JSON.stringify({ step, ...seen }));
const within = (promise) => {
  let timer;
  const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error(`nothing within ${STEP_MS} ms`)), STEP_MS)));
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
};
// Removes what differs through a gateway: serverInfo in modern results, and the prefix of names.
const SERVER_INFO = /"io.modelcontextprotocol\/serverInfo":\{[^}]*\}/g;
const own = (text) => (prefix === '' ? text : text.replaceAll(prefix, '')).replaceAll(SERVER_INFO, '"serverInfo":0');

async function take(step, action) {
  try {
    const seen = await within(action());
    say(step, { seen: own(JSON.stringify(seen) ?? 'undefined') });
    return true;
  } catch (error) {
    say(step, { error: own(String(error?.message ?? error)).slice(0, 500) });
    return false;
  }
}

/** Returns what a client makes of a failed call: a thrown error, or a result. */
const outcome = (promise) => promise.then((result) => ({ result }), (error) => ({ thrown: String(error.message).split('\n')[0] }));

let client;
const sorted = async () => (await client.list()).toSorted((a, b) => (a.name < b.name ? -1 : 1));
const grown = async () => {
  for (const end = Date.now() + STEP_MS / 2; Date.now() < end; await new Promise((next) => setTimeout(next, 200))) {
    const found = (await sorted()).find((tool) => tool.name.endsWith('grown'));
    if (found) return found;
  }
  throw new Error('the new tool is not listed');
};

const STEPS = [
  ['connect', async () => ((client = await connect(JSON.parse(target))), 'connected')],
  ['list', sorted],
  ['call', () => client.call(`${prefix}echo`, { message: 'grüße' })],
  ['error', async () => [await outcome(client.call(`${prefix}fail`, {})), await outcome(client.call(`${prefix}echo`, { message: 7 }))]],
  ['list again', async () => (await client.call(`${prefix}grow`, {}), grown())],
  ['new tool', () => client.call(`${prefix}grown`, { size: 2 })],
  ['disconnect', async () => (await client.close(), 'closed')]
];
for (const [step, action] of STEPS) if (!(await take(step, action)) && step === 'connect') break;
process.exit(0);
