// A legacy server over stdio or HTTP that sends notifications and requests within, outside and after its calls.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema, ResultSchema, RootsListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

const LATER_MS = 20;
const TOOLS = {
  inside: 'Sends `messages` on the stream of the call',
  beside: 'Sends `messages` outside of the stream of the call, while it runs',
  later: 'Sends `messages` after the call was answered',
  ask_later: 'Sends the requests `messages` after the call was answered; `report` has what became of them',
  ask: 'Sends the first of the requests `messages` as soon as `accompany` runs, and gives what it was answered',
  accompany: 'Is answered a while after `ask` has asked, whatever becomes of that',
  sample: 'Asks for a message within the call, tells the client what it hears of the progress, and gives the answer',
  take_back: 'Cancels the requests that are not answered yet',
  report: 'What the client told, what it answered, and which roots it has'
};

async function connect(transport) {
  const server = new Server({ name: 'talker', version: '1' }, { capabilities: { tools: {}, logging: {} } });
  const heard = [];
  const answers = {};
  const unwanted = new AbortController();
  const accompanied = Promise.withResolvers();
  const asked = Promise.withResolvers();
  let roots = 'nobody asked';

  const send = (message, options) => transport.send({ jsonrpc: '2.0', ...message }, options);
  const ask = async ({ method, params }) => {
    try {
      answers[method] = await server.request({ method, params }, ResultSchema, { signal: unwanted.signal });
    } catch (error) {
      answers[method] = { error: error.message };
    }
  };
  const askForRoots = async () => {
    try {
      const answer = await server.listRoots();
      // Like a server that reads the directories first.
      await new Promise((looked) => setTimeout(looked, LATER_MS));
      roots = answer.roots;
    } catch (error) {
      roots = error.message;
    }
  };
  const run = {
    inside: async (messages, { requestId, _meta }) => {
      for (const message of messages) await send(message, { relatedRequestId: requestId });
      if (_meta?.progressToken === undefined) return;
      const params = { progressToken: _meta.progressToken, progress: 1 };
      await send({ method: 'notifications/progress', params }, { relatedRequestId: requestId });
    },
    beside: async (messages) => {
      for (const message of messages) await send(message);
      // Everything sent before the ping has arrived when the ping is answered.
      await server.ping();
    },
    later: (messages) => void setTimeout(() => messages.forEach((message) => send(message)), LATER_MS),
    ask_later: (messages) => void setTimeout(() => messages.forEach(ask), LATER_MS),
    ask: async ([{ method, params }]) => {
      await accompanied.promise;
      const answered = server.request({ method, params }, ResultSchema);
      asked.resolve();
      return answered.catch((error) => ({ error: error.message }));
    },
    accompany: async () => {
      accompanied.resolve();
      await asked.promise;
      await new Promise((done) => setTimeout(done, 10 * LATER_MS));
    },
    sample: (messages, { requestId }) => {
      const options = { relatedRequestId: requestId };
      const onprogress = ({ progress }) => send({ method: 'notifications/of/nobody', params: { data: progress } }, options);
      return server.request({ method: 'sampling/createMessage', params: { messages, maxTokens: 1 } }, ResultSchema, { ...options, onprogress });
    },
    take_back: () => unwanted.abort('changed its mind'),
    report: () => ({ heard, answers, roots })
  };

  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: Object.entries(TOOLS).map(([name, description]) => ({ name, description, inputSchema: { type: 'object' } }))
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const said = await run[params.name](params.arguments?.messages ?? [], extra);
    return { content: [{ type: 'text', text: JSON.stringify(said ?? null) }] };
  });
  server.setNotificationHandler(RootsListChangedNotificationSchema, askForRoots);
  server.fallbackNotificationHandler = async (notification) => void heard.push(notification);
  server.oninitialized = () => server.getClientCapabilities()?.roots && askForRoots();
  await server.connect(transport);
}

if (process.argv[2] === 'stdio') {
  await connect(new StdioServerTransport());
} else {
  const sessions = new Map();
  const http = createServer(async (request, response) => {
    const known = sessions.get(request.headers['mcp-session-id']);
    if (known) return known.handleRequest(request, response);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => sessions.set(id, transport)
    });
    await connect(transport);
    await transport.handleRequest(request, response);
  });
  http.keepAliveTimeout = 0;
  http.listen(0, '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${http.address().port}/mcp`));
}
