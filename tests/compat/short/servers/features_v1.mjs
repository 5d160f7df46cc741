// A server of the TypeScript SDK v1 with all features of a session.
import { completable } from '@modelcontextprotocol/sdk/server/completable.js';
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SubscribeRequestSchema, UnsubscribeRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod/v4';

const text = (value) => ({ content: [{ type: 'text', text: value }] });
const say = (value) => ({ messages: [{ role: 'user', content: { type: 'text', text: value } }] });
const NAME = { type: 'object', properties: { name: { type: 'string', title: 'Your name' } }, required: ['name'] };
const CAPABILITIES = { tools: { listChanged: true }, prompts: { listChanged: true }, resources: { subscribe: true, listChanged: true }, logging: {}, completions: {} };

// The state of the process, shared by all sessions: `cancelled` counts the calls of all sessions, and `grow` adds a
// tool to all of them.
let cancelled = 0;
let isGrown = false;
const open = new Set();

function addTools(server) {
  const tool = (name, inputSchema, run, more = {}) => server.registerTool(name, { description: `Does ${name} – “${name}”`, inputSchema, ...more }, run);
  const subscribed = new Set();
  server.server.setRequestHandler(SubscribeRequestSchema, async ({ params }) => (subscribed.add(params.uri), {}));
  server.server.setRequestHandler(UnsubscribeRequestSchema, async ({ params }) => (subscribed.delete(params.uri), {}));

  tool('echo', { message: z.string() }, async ({ message }) => text(`Echo: ${message}`), { annotations: { readOnlyHint: true }, title: 'Echo' });
  tool('weigh', { parts: z.array(z.number()) }, async ({ parts }) => {
    const structuredContent = { sum: parts.reduce((a, b) => a + b, 0), count: parts.length };
    return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
  }, { outputSchema: { sum: z.number(), count: z.number() } });
  tool('fail', {}, async () => {
    throw new Error('it always does');
  });
  tool('count', { steps: z.number().int() }, async ({ steps }, { sendNotification, _meta }) => {
    for (let progress = 1; progress <= steps; ++progress) {
      await sendNotification({ method: 'notifications/progress', params: { progressToken: _meta?.progressToken, progress, total: steps } });
    }
    return text(`Counted to ${steps}`);
  });
  tool('log', {}, async (_, { sendNotification }) => {
    for (const [level, data] of [['debug', 'a detail'], ['warning', 'a worry']]) {
      await sendNotification({ method: 'notifications/message', params: { level, logger: 'house', data } });
    }
    return text('logged');
  });
  // Sends a notification that no revision of the protocol defines.
  tool('herald', {}, async (_, { sendNotification }) => {
    await sendNotification({ method: 'notifications/house/herald', params: { what: 'news' } });
    return text('heralded');
  });
  // Sends a message on the standing stream instead of the stream of the call.
  tool('log_aside', {}, async () => {
    await server.sendLoggingMessage({ level: 'error', logger: 'house', data: 'from aside' });
    return text('logged aside');
  });
  tool('ask', {}, async (_, { requestId }) => {
    const answer = await server.server.elicitInput({ message: 'Who are you?', requestedSchema: NAME }, { relatedRequestId: requestId });
    return text(answer.action === 'accept' ? `Hello ${answer.content.name}` : `You chose to ${answer.action}`);
  });
  tool('sample', { prompt: z.string() }, async ({ prompt }, { requestId }) => {
    const messages = [{ role: 'user', content: { type: 'text', text: prompt } }];
    const answer = await server.server.createMessage({ messages, maxTokens: 100 }, { relatedRequestId: requestId });
    return text(`The model says: ${answer.content.text}`);
  });
  tool('roots', {}, async (_, { requestId }) => {
    const { roots } = await server.server.listRoots({}, { relatedRequestId: requestId });
    return text(roots.map((root) => root.uri).join('\n'));
  });
  tool('wait', {}, async (_, { signal, sendNotification, _meta }) => {
    const given = new Promise((done) => signal.addEventListener('abort', done, { once: true }));
    await sendNotification({ method: 'notifications/progress', params: { progressToken: _meta?.progressToken, progress: 1 } });
    await given;
    ++cancelled;
    return text('never told');
  });
  tool('cancelled', {}, async () => text(String(cancelled)));
  const grown = () => tool('grown', { size: z.number() }, async ({ size }) => text(`grown by ${size}`));
  tool('grow', {}, async () => {
    if (!isGrown) for (const grow of open) grow();
    isGrown = true;
    return text('grew');
  });
  if (isGrown) grown();
  open.add(grown);
  server.server.onclose = () => open.delete(grown);
  tool('touch', { uri: z.string() }, async ({ uri }) => {
    if (subscribed.has(uri)) await server.server.sendResourceUpdated({ uri });
    return text('touched');
  });
}

export function featuresV1() {
  const server = new McpServer({ name: 'house-v1', version: '1.0.0' }, { capabilities: CAPABILITIES, instructions: 'Ask for echo.' });
  addTools(server);
  server.registerPrompt('greeting', { description: 'Greets', argsSchema: { name: completable(z.string(), (start) => ['Ada', 'Alan', 'Grace'].filter((name) => name.startsWith(start))) } },
    async ({ name }) => say(`Please greet ${name}`));
  const note = (uri, value) => ({ contents: [{ uri: uri.href, mimeType: 'text/plain', text: value }] });
  server.registerResource('today', 'note://today', { mimeType: 'text/plain', description: 'What is to be done' }, async (uri) => note(uri, 'Buy milk'));
  const days = new ResourceTemplate('note://of/{day}', { list: undefined, complete: { day: (start) => ['monday', 'tuesday'].filter((day) => day.startsWith(start)) } });
  server.registerResource('any', days, { mimeType: 'text/plain' }, async (uri, { day }) => note(uri, `For ${day}`));
  return server;
}
