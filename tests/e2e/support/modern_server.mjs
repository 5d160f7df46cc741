// A modern-only server made with the official TypeScript SDK v2, so its protocol code is not ours.
import { createServer } from 'node:http';

import { toNodeHandler } from '@modelcontextprotocol/node';
import { acceptedContent, createMcpHandler, inputRequired, inputResponse, McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import * as z from 'zod/v4';

const text = (value) => ({ content: [{ type: 'text', text: value }] });

const NAME = { type: 'object', properties: { name: { type: 'string', title: 'Your name' } }, required: ['name'] };
const askForName = (message) => ({ name: inputRequired.elicit({ message, requestedSchema: NAME }) });

/** Adds tools, prompts and resources, as a server's author would. `house` holds the state that outlives a request. */
function furnish(server, house) {
  const tool = (name, inputSchema, run) => server.registerTool(name, { description: `Does ${name}`, inputSchema: z.object(inputSchema) }, run);

  tool('echo', { message: z.string() }, async ({ message }) => text(`Echo: ${message}`));

  tool('count', { steps: z.number().int() }, async ({ steps }, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (let progress = 1; progress <= steps; ++progress) {
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: steps } });
    }
    return text(`Counted to ${steps}`);
  });

  tool('wait', {}, async (_, { mcpReq }) => {
    const cancelled = new Promise((done) => mcpReq.signal.addEventListener('abort', done, { once: true }));
    await mcpReq.notify({ method: 'notifications/progress', params: { progressToken: mcpReq._meta?.progressToken, progress: 1 } });
    await cancelled;
    house.cancelled();
    return text('never told');
  });

  tool('log', {}, async (_, { mcpReq }) => {
    await mcpReq.log('debug', 'a detail');
    await mcpReq.log('warning', 'a worry');
    return text('logged');
  });

  tool('ask', {}, async (_, { mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'name');
    if (answer.kind === 'missing') return inputRequired({ inputRequests: askForName('Who are you?') });
    return text(answer.action === 'accept' ? `Hello ${answer.content.name}` : `You chose to ${answer.action}`);
  });

  tool('ask_twice', {}, async (_, { mcpReq }) => {
    const name = acceptedContent(mcpReq.inputResponses, 'name')?.name;
    const first = mcpReq.requestState();
    if (name === undefined) return inputRequired({ inputRequests: askForName('First?') });
    if (first === undefined) return inputRequired({ inputRequests: askForName('Second?'), requestState: name });
    return text(`First ${first}, then ${name}`);
  });

  tool('sample', { prompt: z.string() }, async ({ prompt }, { mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'model');
    if (answer.kind === 'sampling') return text(`The model says: ${answer.result.content.text}`);
    const messages = [{ role: 'user', content: { type: 'text', text: prompt } }];
    return inputRequired({ inputRequests: { model: inputRequired.createMessage({ messages, maxTokens: 100 }) } });
  });

  tool('roots', {}, async (_, { mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'roots');
    if (answer.kind === 'roots') return text(answer.roots.map((root) => root.uri).join('\n'));
    return inputRequired({ inputRequests: { roots: inputRequired.listRoots() } });
  });

  tool('grow', {}, async () => {
    house.grown.push(`grown_${house.grown.length + 1}`);
    house.notify.toolsChanged();
    return text(house.grown.at(-1));
  });
  for (const name of house.grown) tool(name, {}, async () => text(`${name} ran`));

  tool('touch', { uri: z.string() }, async ({ uri }) => {
    house.notify.resourceUpdated(uri);
    return text('touched');
  });

  const described = { description: 'Greets', argsSchema: z.object({ name: z.string() }) };
  const say = (value) => ({ messages: [{ role: 'user', content: { type: 'text', text: value } }] });
  server.registerPrompt('greeting', described, async ({ name }) => say(`Please greet ${name}`));
  server.registerPrompt('curious', { description: 'Asks first' }, async ({ mcpReq }) => {
    const answer = acceptedContent(mcpReq.inputResponses, 'name');
    return answer ? say(`Please greet ${answer.name}`) : inputRequired({ inputRequests: askForName('Whom?') });
  });

  const note = (uri, value) => ({ contents: [{ uri: uri.href, mimeType: 'text/plain', text: value }] });
  server.registerResource('today', 'note://today', { mimeType: 'text/plain' }, async (uri) => note(uri, 'Buy milk'));
  server.registerResource('any', new ResourceTemplate('note://of/{day}', { list: undefined }), {}, async (uri, { day }) => note(uri, `For ${day}`));
}

/** Starts a server on a free port. The result has `url`, `stop()` and `cancelled()`, the count of cancelled calls. */
export async function startModernServer() {
  let cancelled = 0;
  const house = { grown: [], cancelled: () => ++cancelled };
  const capabilities = { tools: { listChanged: true }, prompts: {}, resources: { subscribe: true }, logging: {} };
  const handler = createMcpHandler(
    () => {
      const server = new McpServer({ name: 'modern', version: '1.0.0' }, { capabilities });
      furnish(server, house);
      return server;
    },
    { legacy: 'reject' }
  );
  house.notify = handler.notify;
  const server = createServer(toNodeHandler(handler));
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${server.address().port}/mcp`,
    cancelled: () => cancelled,
    stop: async () => {
      await handler.close();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    }
  };
}
