// Only the call that a person confirmed runs, once, for the caller who sent it, if that caller is still allowed to.
import { startGateway } from '../e2e/support/gateway.mjs';
import { headersOf, send } from '../e2e/support/raw.mjs';
import { Caller, SECRET, startBackend } from '../e2e/support/sessions.mjs';
import { assert, eventually, post, range, speaking, startCanary, tool } from './support.mjs';

export const title = 'Confirmations, states and references (PRO-10, SES-11, SES-12)';

const QUESTION = { method: 'elicitation/create', params: { mode: 'form', message: 'Sure?', requestedSchema: { type: 'object', properties: {} } } };

export async function stage(own) {
  const backend = own(await startBackend());
  const asking = (params) => (params.inputResponses ? { content: [{ type: 'text', text: 'done' }] } : { resultType: 'input_required', inputRequests: { sure: QUESTION }, requestState: 'of-the-upstream' });
  const results = {
    'tools/list': { tools: [tool('ask'), tool('other')] },
    'tools/call': asking,
    'prompts/list': { prompts: [{ name: 'open' }, { name: 'secret' }] },
    'completion/complete': { completion: { values: ['x'] } }
  };
  const upstream = own(await startCanary(speaking(results)));
  const upstreams = [{ name: 'up', url: `${upstream.origin}/mcp` }];
  const tokens = ['ann', 'bob'].map((name) => ({ name, token_env: name.toUpperCase(), contexts: ['*'] }));
  const contexts = { narrow: { exclude: ['prompt:*secret'] } };
  const env = { ANN: 'token-of-ann', BOB: 'token-of-bob', PROTEUS_ADMIN_SECRET: SECRET };
  const gateway = own(await startGateway({ upstreams, tokens, contexts, env }));
  const caller = new Caller(gateway.url, 4);
  own({ stop: () => caller.close() });
  const destructive = (name) => ({ name, description: 'Pays.', url: backend.url(`/${name}`), annotations: { destructiveHint: true }, inputSchema: { type: 'object', additionalProperties: true } });
  for (const who of ['s', 't']) {
    const session = { session_id: who, user_token: `token-of-${who}`, user_id: who };
    const { status } = await caller.admin('/admin/tools/register', { ...session, tools: [destructive('pay'), destructive('pay_more')] });
    assert.equal(status, 200);
  }
  return { url: gateway.url, gateway, backend, upstream, upstreams, tokens, contexts };
}

const CAN_ASK = '{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}';

/**
 * Sends a call whose arguments are raw text, so that they can be something that no JSON library would write. `more` is
 * text with further members of the params.
 */
async function call(url, token, name, args, more = '') {
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${args}${more},"_meta":${CAN_ASK}}}`;
  const { text } = await post(url, body, { ...headersOf('tools/call', { name }), authorization: `Bearer ${token}` });
  const data = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  return JSON.parse(data);
}

/** Returns the members of the params that answer all questions of `answer` with yes. */
function confirming({ result }) {
  const responses = Object.fromEntries(Object.keys(result.inputRequests).map((key) => [key, { action: 'accept', content: { confirmed: true } }]));
  return `,"inputResponses":${JSON.stringify(responses)},"requestState":${JSON.stringify(result.requestState)}`;
}

const ran = (answer) => answer.result?.resultType === 'complete' && !answer.result.isError;
const asks = (answer) => answer.result?.resultType === 'input_required';

/** Obtains a confirmation for `first` and sends it with `second`. Returns how often the back end was called. */
async function swap({ url, backend }, first, second, { token = 'token-of-s', name = 'pay', context = '' } = {}) {
  const before = backend.asked.length;
  const asked = await call(url, 'token-of-s', 'pay', first);
  assert.ok(asks(asked), `nothing was asked: ${JSON.stringify(asked).slice(0, 200)}`);
  const answer = await call(url + context, token, name, second, confirming(asked));
  return { runs: backend.asked.length - before, answer };
}

const SAME = [
  ['{"n":1}', '{"n":1.0}'],
  ['{"n":1}', '{ "n" : 1e0 }'],
  ['{"a":1,"b":[2,3]}', '{"b":[2,3],"a":1}'],
  ['{"t":"\\u0041"}', '{"t":"A"}'],
  ['{"n":12345678901234567890123}', '{"n":12345678901234567890123}']
];
const OTHER = [
  ['{"n":12345678901234567890123}', '{"n":12345678901234567890999}'],
  ['{"n":9007199254740992}', '{"n":9007199254740993}'],
  ['{"n":18446744073709551615}', '{"n":18446744073709551616}'],
  ['{"n":0.1}', '{"n":0.10000000000000001}'],
  ['{"n":1e400}', '{"n":1e500}'],
  ['{"n":1e400}', '{"n":1e401}'],
  ['{"n":-1e400}', '{"n":1e400}'],
  ['{"n":1e-400}', '{"n":1e-500}'],
  ['{"n":1e-400}', '{"n":0}'],
  ['{"n":[1e400]}', '{"n":[1e999]}'],
  ['{"n":1}', '{"n":"1"}'],
  ['{"n":1}', '{"n":true}'],
  ['{"n":null}', '{}'],
  ['{"a":[1,2]}', '{"a":[2,1]}'],
  ['{"t":"a"}', '{"t":"a\\u0000"}'],
  ['{"t":"é"}', '{"t":"e\\u0301"}'],
  ['{"n":1}', '{"n":1,"m":2}'],
  ['{}', '{"n":1}']
];
const TWICE = ['{"n":1,"n":2}', '{"n":1,"\\u006e":2}', '{"o":{"n":1,"n":2}}', '{"a":[{"n":1,"n":1}]}'];

async function complete(url, ref, context = '') {
  const body = `{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{${ref},"argument":{"name":"a","value":"v"},"_meta":${CAN_ASK}}}`;
  const { text } = await post(url + context, body, { ...headersOf('completion/complete', {}), authorization: 'Bearer token-of-ann' });
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
}

export const cases = () => [
  {
    tried: 'a confirmed call that is written anew, with the same values: it runs',
    run: async (stage) => {
      for (const [first, second] of SAME) assert.equal((await swap(stage, first, second)).runs, 1, `${first} ${second}`);
      return `${SAME.length} calls`;
    }
  },
  {
    tried: 'a confirmation of other arguments: 12345678901234567890123 for …999, 1e400 for 1e500, and the like',
    run: async (stage) => {
      for (const [first, second] of OTHER) {
        const { runs, answer } = await swap(stage, first, second);
        assert.equal(runs, 0, `${first} was confirmed, and ${second} ran`);
        assert.ok(!ran(answer));
      }
      return `${OTHER.length} pairs`;
    }
  },
  {
    tried: 'arguments of 200 KB and of 3 MB, answered with one byte changed',
    run: async ({ url }) => {
      for (const length of [200_000, 3_000_000]) {
        const args = (last) => `{"text":"${'x'.repeat(length)}${last}"}`;
        const asked = await call(url, 'token-of-ann', 'up_ask', args('a'));
        assert.ok(asks(asked), `nothing was asked: ${JSON.stringify(asked).slice(0, 200)}`);
        assert.ok(!ran(await call(url, 'token-of-ann', 'up_ask', args('b'), confirming(asked))), `${length} bytes, changed`);
        assert.ok(ran(await call(url, 'token-of-ann', 'up_ask', args('a'), confirming(asked))), `${length} bytes, the same`);
      }
      return '2 of 2';
    }
  },
  {
    tried: 'arguments with a key twice, asked about and confirmed',
    run: async ({ url, backend }) => {
      const before = backend.asked.length;
      for (const args of TWICE) {
        const answer = await call(url, 'token-of-s', 'pay', args);
        assert.ok(!asks(answer) && !ran(answer), `${args}: ${JSON.stringify(answer).slice(0, 200)}`);
        const { runs } = await swap({ url, backend }, '{"n":2}', args);
        assert.equal(runs, 0, args);
      }
      assert.equal(backend.asked.length, before);
      return `${TWICE.length} texts`;
    }
  },
  {
    tried: 'the same where an upstream asks: no state is given for it, and none of other arguments opens it',
    run: async ({ url, upstream }) => {
      const answered = () => upstream.seen.filter(({ body }) => body.includes('inputResponses')).length;
      const before = answered();
      const asked = await call(url, 'token-of-ann', 'up_ask', '{"to":"ann"}');
      assert.ok(asks(asked));
      for (const args of ['{"to":"ann","to":"ann"}', '{"to":"ann","to":"eve"}', '{"o":{"to":"ann","\\u0074o":"eve"}}']) {
        const answer = await call(url, 'token-of-ann', 'up_ask', args);
        assert.ok(!asks(answer) && !ran(answer), `${args}: ${JSON.stringify(answer).slice(0, 200)}`);
        assert.ok(!ran(await call(url, 'token-of-ann', 'up_ask', args, confirming(asked))), args);
      }
      assert.equal(answered(), before, 'the upstream got the answer');
    }
  },
  {
    tried: 'a null that is left out beside numbers no double can hold: the back end gets them as they were written',
    run: async ({ own, gateway }) => {
      const back = own(await startCanary());
      const caller = new Caller(gateway.url, 1);
      own({ stop: () => caller.close() });
      const inputSchema = { type: 'object', properties: { gone: { type: 'string' } }, additionalProperties: true };
      const session = { session_id: 'exact', user_token: 'token-of-exact', user_id: 'u' };
      const { status } = await caller.admin('/admin/tools/register', { ...session, tools: [{ name: 'take', description: 'Takes numbers.', url: `${back.origin}/take`, inputSchema }] });
      assert.equal(status, 200);
      const numbers = ['12345678901234567890123', '9007199254740993', '1.50', '1e400', '0.10000000000000001'];
      for (const number of numbers) {
        await call(gateway.url, 'token-of-exact', 'take', `{"gone":null,"n":${number}}`);
        const { body } = back.seen.at(-1);
        assert.match(body, new RegExp(`"n": ?${number}[,}]`), `${number} became ${body}`);
        assert.ok(!body.includes('gone'), body);
      }
      return `${numbers.length} numbers`;
    }
  },
  {
    tried: 'a confirmation for another tool, by another caller, with another state, or none',
    run: async (stage) => {
      const args = '{"n":1}';
      assert.equal((await swap(stage, args, args, { name: 'pay_more' })).runs, 0, 'another tool');
      assert.equal((await swap(stage, args, args, { token: 'token-of-t' })).runs, 0, 'another caller');
      const { url, backend } = stage;
      const before = backend.asked.length;
      const asked = await call(url, 'token-of-s', 'pay', args);
      const state = asked.result.requestState;
      const answers = confirming(asked);
      const flipped = range(8).map((i) => {
        const at = Math.floor((state.length * i) / 8);
        return answers.replace(state, state.slice(0, at) + (state[at] === 'A' ? 'B' : 'A') + state.slice(at + 1));
      });
      const states = [answers.replace(/,"requestState":.*/, ''), answers.replace(state, ''), answers.replace(state, `${state}A`), answers.replace(state, state.slice(0, -4)), ...flipped];
      for (const more of states) assert.ok(!ran(await call(url, 'token-of-s', 'pay', args, more)), more);
      assert.equal(backend.asked.length, before);
      return `${states.length + 2} confirmations`;
    }
  },
  {
    tried: 'one confirmation, sent twenty times at once: it runs once',
    run: async ({ url, backend }) => {
      const before = backend.asked.length;
      const asked = await call(url, 'token-of-s', 'pay', '{"n":7}');
      const answers = await Promise.all(range(20).map(() => call(url, 'token-of-s', 'pay', '{"n":7}', confirming(asked))));
      assert.equal(backend.asked.length - before, 1);
      return `${answers.filter(ran).length} were given the result`;
    }
  },
  {
    tried: 'a completion with `ref` twice, or a key of it twice: no prompt is reached that the context excludes',
    run: async ({ url, upstream }) => {
      const ref = (name) => `{"type":"ref/prompt","name":"${name}"}`;
      const refs = [
        `"ref":${ref('up_open')},"ref":${ref('up_secret')}`,
        `"ref":${ref('up_secret')},"ref":${ref('up_open')}`,
        '"ref":{"type":"ref/prompt","name":"up_open","name":"up_secret"}',
        '"ref":{"type":"ref/prompt","name":"up_secret","name":"up_open"}',
        '"ref":{"type":"ref/prompt","name":"up_open","\\u006eame":"up_secret"}',
        '"ref":{"type":"ref/prompt","type":"ref/resource","name":"up_open","uri":"x://y"}',
        `"ref":${ref('up_secret')}`
      ];
      const reached = () => upstream.seen.filter(({ body }) => body.includes('completion/complete')).length;
      const before = reached();
      for (const each of refs) assert.ok((await complete(url, each, '/narrow')).error, each);
      assert.equal(reached(), before, 'the upstream was asked');
      const open = await complete(url, `"ref":${ref('up_open')}`, '/narrow');
      assert.deepEqual(open.result?.completion?.values, ['x'], JSON.stringify(open));
      return `${refs.length} references`;
    }
  },
  {
    tried: "an answer to an upstream's question after its caller has lost the upstream, the token, or the context",
    run: async ({ url, gateway, upstream, upstreams, tokens, contexts }) => {
      const answered = () => upstream.seen.filter(({ body }) => body.includes('inputResponses')).length;
      const losses = {
        upstream: { tokens: [{ ...tokens[0], upstreams: [] }, tokens[1]] },
        context: { tokens: [{ ...tokens[0], contexts: ['narrow'] }, tokens[1]] },
        token: { tokens: [tokens[1]] },
        'the upstream itself': { upstreams: [] }
      };
      const isLost = async () => {
        const { status } = await send(url, 'tools/list', {}, { token: 'token-of-ann' });
        if (status !== 200) return true;
        const { text } = await post(url, JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: JSON.parse(CAN_ASK) } }), { ...headersOf('tools/list', {}), authorization: 'Bearer token-of-ann' });
        return !text.includes('up_ask');
      };
      const before = answered();
      for (const [what, loss] of Object.entries(losses)) {
        const asked = await call(url, 'token-of-ann', 'up_ask', '{}');
        assert.ok(asks(asked), `${what}: ${JSON.stringify(asked).slice(0, 200)}`);
        gateway.reconfigure(loss);
        await eventually(`${what} is lost`, isLost);
        const answer = await call(url, 'token-of-ann', 'up_ask', '{}', confirming(asked)).catch(() => ({}));
        assert.ok(!ran(answer), what);
        assert.equal(answered(), before, `the upstream got the answer after the loss of ${what}`);
        gateway.reconfigure({ upstreams, tokens, contexts });
        await eventually(`${what} is back`, async () => !(await isLost()));
      }
      const asked = await call(url, 'token-of-ann', 'up_ask', '{}');
      assert.ok(ran(await call(url, 'token-of-ann', 'up_ask', '{}', confirming(asked))), 'without a loss it goes on');
      assert.equal(answered(), before + 1);
      return `${Object.keys(losses).length} losses`;
    }
  }
];
