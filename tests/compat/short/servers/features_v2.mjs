// A server of the TypeScript SDK v2 for both eras. It requests input in the form of the client's era.
import { completable, inputRequired, inputResponse, McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import * as z from 'zod/v4';

const text = (value) => ({ content: [{ type: 'text', text: value }] });
const say = (value) => ({ messages: [{ role: 'user', content: { type: 'text', text: value } }] });
const NAME = { type: 'object', properties: { name: { type: 'string', title: 'Your name' } }, required: ['name'] };
const CAPABILITIES = { tools: { listChanged: true }, prompts: { listChanged: true }, resources: { subscribe: true, listChanged: true }, logging: {}, completions: {} };

/** State beyond one request. `announce`, if set, notifies all listeners of changes, not only one connection. */
export const house = { grown: false, cancelled: 0, announce: undefined };

function addTools(server, era) {
  const tool = (name, inputSchema, run, more = {}) =>
    server.registerTool(name, { description: `Does ${name} – “${name}”`, inputSchema: z.object(inputSchema), ...more }, run);

  tool('echo', { message: z.string() }, async ({ message }) => text(`Echo: ${message}`), { annotations: { readOnlyHint: true }, title: 'Echo' });
  tool('weigh', { parts: z.array(z.number()) }, async ({ parts }) => {
    const structuredContent = { sum: parts.reduce((a, b) => a + b, 0), count: parts.length };
    return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
  }, { outputSchema: z.object({ sum: z.number(), count: z.number() }) });
  tool('fail', {}, async () => {
    throw new Error('it always does');
  });
  tool('count', { steps: z.number().int() }, async ({ steps }, { mcpReq }) => {
    for (let progress = 1; progress <= steps; ++progress) {
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken: mcpReq._meta?.progressToken, progress, total: steps } });
    }
    return text(`Counted to ${steps}`);
  });
  tool('log', {}, async (_, { mcpReq }) => {
    await mcpReq.log('debug', 'a detail');
    await mcpReq.log('warning', 'a worry');
    return text('logged');
  });
  tool('ask', {}, async (_, { mcpReq }) => {
    const hello = (answer) => text(answer.action === 'accept' ? `Hello ${answer.content.name}` : `You chose to ${answer.action}`);
    const question = { message: 'Who are you?', requestedSchema: NAME };
    if (era === 'legacy') return hello(await mcpReq.elicitInput(question));
    const answer = inputResponse(mcpReq.inputResponses, 'name');
    return answer.kind === 'missing' ? inputRequired({ inputRequests: { name: inputRequired.elicit(question) } }) : hello(answer);
  });
  tool('sample', { prompt: z.string() }, async ({ prompt }, { mcpReq }) => {
    const question = { messages: [{ role: 'user', content: { type: 'text', text: prompt } }], maxTokens: 100 };
    if (era === 'legacy') return text(`The model says: ${(await mcpReq.requestSampling(question)).content.text}`);
    const answer = inputResponse(mcpReq.inputResponses, 'model');
    if (answer.kind === 'sampling') return text(`The model says: ${answer.result.content.text}`);
    return inputRequired({ inputRequests: { model: inputRequired.createMessage(question) } });
  });
  tool('roots', {}, async (_, { mcpReq }) => {
    const list = (roots) => text(roots.map((root) => root.uri).join('\n'));
    if (era === 'legacy') return list((await mcpReq.send({ method: 'roots/list' })).roots);
    const answer = inputResponse(mcpReq.inputResponses, 'roots');
    return answer.kind === 'roots' ? list(answer.roots) : inputRequired({ inputRequests: { roots: inputRequired.listRoots() } });
  });
  tool('wait', {}, async (_, { mcpReq }) => {
    const given = new Promise((done) => mcpReq.signal.addEventListener('abort', done, { once: true }));
    await mcpReq.notify({ method: 'notifications/progress', params: { progressToken: mcpReq._meta?.progressToken, progress: 1 } });
    await given;
    ++house.cancelled;
    return text('never told');
  });
  tool('cancelled', {}, async () => text(String(house.cancelled)));
  const grown = () => tool('grown', { size: z.number() }, async ({ size }) => text(`grown by ${size}`));
  tool('grow', {}, async () => {
    if (era === 'legacy' || !house.announce) grown();
    else house.grown = true;
    house.announce?.toolsChanged();
    return text('grew');
  });
  if (house.grown) grown();
  tool('touch', { uri: z.string() }, async ({ uri }) => {
    if (era === 'modern' && house.announce) house.announce.resourceUpdated(uri);
    else await server.server.sendResourceUpdated({ uri });
    return text('touched');
  });
}

export function featuresV2({ era } = {}) {
  const server = new McpServer({ name: 'house-v2', version: '1.0.0' }, { capabilities: CAPABILITIES, instructions: 'Ask for echo.' });
  addTools(server, era);
  if (era === 'legacy') {
    server.server.setRequestHandler('resources/subscribe', async () => ({}));
    server.server.setRequestHandler('resources/unsubscribe', async () => ({}));
  }
  const name = completable(z.string(), (start) => ['Ada', 'Alan', 'Grace'].filter((candidate) => candidate.startsWith(start)));
  server.registerPrompt('greeting', { description: 'Greets', argsSchema: z.object({ name }) }, async (given) => say(`Please greet ${given.name}`));
  const note = (uri, value) => ({ contents: [{ uri: uri.href, mimeType: 'text/plain', text: value }] });
  server.registerResource('today', 'note://today', { mimeType: 'text/plain', description: 'What is to be done' }, async (uri) => note(uri, 'Buy milk'));
  const days = new ResourceTemplate('note://of/{day}', { list: undefined, complete: { day: (start) => ['monday', 'tuesday'].filter((day) => day.startsWith(start)) } });
  server.registerResource('any', days, { mimeType: 'text/plain' }, async (uri, { day }) => note(uri, `For ${day}`));
  return server;
}
