// A hostile modern upstream: `node hostile_upstream.mjs KIND SCALE`. Prints "listening on <url>".
import { createServer } from 'node:http';

const [kind, scale] = [process.argv[2], Number(process.argv[3])];
const LARGE = 900_000;
const PAGE = 15;  // large definitions that fit into the 16 MiB of a message

const options = (variant) => {
  const all = [];
  for (let size = 0; size < LARGE; size += 60) all.push(`{"type":"string","const":"option ${all.length} of variant ${variant}"}`);
  // With a parameter that is mirrored into headers, the gateway must read the whole definition for each call.
  const mirrored = kind === 'mirrored' ? ',"x-mcp-header":"Choice"' : '';
  return `"inputSchema":{"type":"object","properties":{"choice":{"type":"string"${mirrored}},"more":{"anyOf":[${all.join(',')}]}}}`;
};

const shared = { resultType: 'complete', ttlMs: 0, cacheScope: 'public' };
const page = (member, texts, next) =>
  `${JSON.stringify(shared).slice(0, -1)},${next ? `"nextCursor":"${next}",` : ''}"${member}":[${texts.join(',')}]}`;

/** 15 tools of 0.9 MB each (at scale 1) that change with each reading of the list. */
function largeTools() {
  const variants = [options('A'), options('B')];
  const count = 15 * scale;
  let reading = 0;
  return (cursor) => {
    const from = Number(cursor ?? 0);
    if (from === 0) reading += 1;
    const texts = [];
    for (let i = from; i < Math.min(from + PAGE, count); ++i) texts.push(`{"name":"large_${i}",${variants[reading % 2]}}`);
    return page('tools', texts, from + PAGE < count ? String(from + PAGE) : undefined);
  };
}

/** 6,000 templates (at scale 1) that a backtracking matcher would never finish matching. */
function slowTemplates() {
  const variables = Array.from({ length: 25 }, (_, i) => `{+v${i}}a`).join('');
  const texts = Array.from({ length: 6000 * scale }, (_, i) => `{"uriTemplate":"t://${variables}Q{+z${i}}","name":"t${i}"}`);
  return () => page('resourceTemplates', texts);
}

/** 9,900 tools (at scale 1) on pages of a thousand: with the healthy upstreams' tools, almost the limit of a list. */
function manyTools() {
  const count = 9900 * scale;
  return (cursor) => {
    const from = Number(cursor ?? 0);
    const texts = [];
    for (let i = from; i < Math.min(from + 1000, count); ++i) texts.push(`{"name":"many_${i}","description":"Number ${i} of many.","inputSchema":{"type":"object"}}`);
    return page('tools', texts, from + 1000 < count ? String(from + 1000) : undefined);
  };
}

const asked = { method: 'elicitation/create', params: { mode: 'form', message: 'Sure?', requestedSchema: { type: 'object', properties: {} } } };
const question = { resultType: 'input_required', inputRequests: { sure: asked }, requestState: 'x' };

/** As many one-byte values as fit into a message. */
const tokens = kind === 'tokens' ? `${JSON.stringify({ ...shared, content: [] }).slice(0, -1)},"structuredContent":{"n":[0${',0'.repeat(8_388_000)}]}}` : '';
let calls = 0;

const small = '{"name":"harmless","inputSchema":{"type":"object"}}';
const harmless = { tools: () => page('tools', [small]) };
const lists = {
  definitions: () => ({ tools: largeTools() }),
  mirrored: () => ({ tools: largeTools() }),
  proposals: () => ({ tools: largeTools() }),
  looking: () => ({ tools: manyTools() }),
  templates: () => ({ ...harmless, 'resources/templates': slowTemplates() })
};
const hostile = lists[kind]?.() ?? harmless;

const discovered = {
  ...shared,
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {}, resources: {} },
  _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'hostile', version: '1' } },
  // As many newlines as fit into a message, where each is an escape of two bytes.
  ...(kind === 'instructions' ? { instructions: `${'\n'.repeat(Math.min(800_000 * scale, 7_500_000))}Use h0_test_simple_text.` } : {})
};

const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const { id, method, params } = JSON.parse(body);
  const answer = () => {
    if (method === 'server/discover') return JSON.stringify(discovered);
    const list = /^(.*)\/list$/.exec(method)?.[1];
    if (hostile[list]) return hostile[list](params?.cursor);
    if (list) return page(list === 'resources/templates' ? 'resourceTemplates' : list, []);
    if (kind === 'tokens') return tokens;
    return JSON.stringify(kind === 'question' ? question : { ...shared, content: [] });
  };
  const text = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${answer()}}`;
  const asEvents = kind === 'tokens' && method === 'tools/call' && ++calls % 2 === 0;
  response.writeHead(200, { 'content-type': asEvents ? 'text/event-stream' : 'application/json' });
  response.end(asEvents ? `data: ${text}\n\n` : text);
});
server.listen(0, '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${server.address().port}/mcp`));
process.on('SIGTERM', () => process.exit(0));
