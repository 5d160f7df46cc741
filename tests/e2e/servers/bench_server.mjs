// A server of the official TypeScript SDK v2, for comparison in `make bench`: the tool bench_1k and N more. Prints
// "listening on <url>".
//
//   bench_server.mjs [--tools N]
import { createServer } from 'node:http';

import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod/v4';

const position = process.argv.indexOf('--tools');
const tools = position < 0 ? 0 : Number(process.argv[position + 1]);

// Made once at start-up, as the author of a server would.
const schema = z.object({ text: z.string().describe('what to answer') });
const listed = z.object({
  query: z.string().describe('what to look for'),
  limit: z.number().int().min(1).max(100).optional().describe('how many at most')
});
const echo = async ({ text }) => ({ content: [{ type: 'text', text }] });
const nothing = async () => ({ content: [] });

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'bench', version: '1.0.0' });
  server.registerTool('bench_1k', { description: 'Answers with its argument', inputSchema: schema }, echo);
  for (let i = 0; i < tools; i++) {
    const name = `bench_tool_${String(i).padStart(4, '0')}`;
    server.registerTool(name, { description: `Looks things up in collection ${i}`, inputSchema: listed }, nothing);
  }
  return server;
});

const server = createServer(toNodeHandler(handler));
server.listen(0, '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${server.address().port}/mcp`));
