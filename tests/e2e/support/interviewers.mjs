// Servers of either era, made with the official SDKs, that ask questions in several rounds and count events by token.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

import { toNodeHandler } from '@modelcontextprotocol/node';
import { McpServer as LegacyServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { acceptedContent, createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod/v4';

const ARGUMENTS = { token: z.string(), rounds: z.number().int() };
const ANSWER = { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] };
const question = (token, round) => ({ message: `${token}?${round}`, requestedSchema: ANSWER });

/** Counts how often the call with a token began, was answered in a round, ended, and was given up. */
class Counts {
  began = new Map();
  answered = new Map();
  ended = new Map();
  givenUp = new Map();

  static add(counts, key) {
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }

  begin(token) {
    Counts.add(this.began, token);
  }

  answer(token, round) {
    Counts.add(this.answered, `${token}?${round}`);
  }

  giveUp(token) {
    Counts.add(this.givenUp, token);
  }

  end(token, answers) {
    Counts.add(this.ended, token);
    return { content: [{ type: 'text', text: JSON.stringify({ token, answers }) }] };
  }
}

async function serve(handler, counts, end) {
  const server = createServer(handler);
  // On a busy machine a connection may be idle for more than the default of five seconds, and close under a request.
  server.keepAliveTimeout = 0;
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${server.address().port}/mcp`,
    counts,
    stop: async () => {
      await end();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    }
  };
}

function startLegacy() {
  const counts = new Counts();
  const sessions = new Map();
  const open = async () => {
    const server = new LegacyServer({ name: 'interviewer', version: '1.0.0' });
    server.registerTool('interview', { description: 'Asks', inputSchema: ARGUMENTS }, async ({ token, rounds }, extra) => {
      counts.begin(token);
      const answers = [];
      for (let round = 1; round <= rounds; ++round) {
        const options = { relatedRequestId: extra.requestId, signal: extra.signal };
        const { content } = await server.server.elicitInput(question(token, round), options).catch((error) => {
          counts.giveUp(token);
          throw error;
        });
        counts.answer(token, round);
        answers.push(content.answer);
      }
      return counts.end(token, answers);
    });
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => sessions.set(id, transport),
      onsessionclosed: (id) => sessions.delete(id)
    });
    await server.connect(transport);
    return transport;
  };
  const handler = async (request, response) => {
    const known = sessions.get(request.headers['mcp-session-id']);
    if (known || !request.headers['mcp-session-id']) return (known ?? (await open())).handleRequest(request, response);
    response.writeHead(404).end();
  };
  return serve(handler, counts, () => Promise.all([...sessions.values()].map((transport) => transport.close())));
}

function startModern() {
  const counts = new Counts();
  const handler = createMcpHandler(
    () => {
      const server = new McpServer({ name: 'interviewer', version: '1.0.0' });
      server.registerTool('interview', { description: 'Asks', inputSchema: z.object(ARGUMENTS) }, async ({ token, rounds }, { mcpReq }) => {
        const state = mcpReq.requestState();
        const answers = state === undefined ? [] : JSON.parse(state);
        if (state === undefined) {
          counts.begin(token);
        } else {
          answers.push(acceptedContent(mcpReq.inputResponses, 'question').answer);
          counts.answer(token, answers.length);
        }
        if (answers.length === rounds) return counts.end(token, answers);
        const inputRequests = { question: inputRequired.elicit(question(token, answers.length + 1)) };
        return inputRequired({ inputRequests, requestState: JSON.stringify(answers) });
      });
      return server;
    },
    { legacy: 'reject' }
  );
  return serve(toNodeHandler(handler), counts, () => handler.close());
}

/**
 * Starts a server. Its tool `interview` asks `{token}?{round}` in each round and returns its token and the answers. The
 * result has `url`, `counts` and `stop()`.
 */
export function startInterviewer(era) {
  return era === 'legacy' ? startLegacy() : startModern();
}
