// Third-party servers and proxies over HTTP.
import { join } from 'node:path';

import { here, scriptOf } from '../start.mjs';

const FASTMCP = join(here, 'full/servers/fastmcp.mjs');
const HOUSE = join(here, 'short/servers/sdk_v1.mjs');

const fastmcp = {
  package: 'fastmcp',
  form: 'full',
  call: [{ name: 'echo', arguments: { message: 'grüße' } }, { name: 'count', arguments: { steps: 2 } }],
  bad: [{ name: 'echo', arguments: {} }, { name: 'echo', arguments: { message: 7 } }],
  prompt: [{ name: 'greeting', arguments: { name: 'Ada' } }],
  read: ['note://today', 'note://of/monday'],
  completion: { ref: { type: 'ref/prompt', name: 'greeting' }, argument: { name: 'name', value: 'A' } },
  logging: { name: 'log', count: 1 },
  progress: { name: 'count', arguments: { steps: 3 }, count: 3 }
};
const fastmcpOver = (mode, via, more = {}) => ({ ...fastmcp, name: `fastmcp, ${mode}`, via, path: '/mcp', eras: ['legacy'], script: ({ port }) => [FASTMCP, mode, port], ...more });

const overHttp = (name, label, path, args, more = {}) => ({
  name: `${name}, ${label}`,
  package: name,
  form: 'full',
  via: 'http',
  path,
  eras: ['legacy'],
  script: ({ port }) => [scriptOf(name), ...args(port)],
  ...more
});

const CALLS = {
  call: [{ name: 'echo', arguments: { message: 'grüße' } }],
  bad: [{ name: 'echo', arguments: { message: 7 } }],
  prompt: [{ name: 'greeting', arguments: { name: 'Ada' } }],
  read: ['note://today']
};
const MORE = { progress: { name: 'count', arguments: { steps: 3 }, count: 3 }, elicitation: { name: 'ask' }, sampling: { name: 'sample', arguments: { prompt: 'Which city?' } } };
const house = [process.execPath, HOUSE, 'stdio'];
const supergateway = (output, label, path, more) =>
  overHttp('supergateway', label, path, (port) => ['--stdio', house.join(' '), '--outputTransport', ...output, '--port', port, '--logLevel', 'none'], { ...CALLS, ...more });

const BROADCAST = 'supergateway sends what its one program asks to all of its clients, and takes the first answer; a gateway has a connection for each session beside its own';
const FIRST_CALL = 'supergateway sends every question on the stream of its oldest call; when that call ends, a question that another call asked is lost';
const LOSSY = 'mcp-proxy loses progress that comes right before an answer, also directly';
// The gateway shows the list of the modern side to clients of both eras.
const TASKLESS = {
  normalise: [[',"execution":{"taskSupport":"forbidden"}', '']],
  notes: { tools: 'but for taskSupport: "forbidden", which is the default: the modern side of mcp-proxy does not list it, the legacy side does' }
};

export const OVER_HTTP = [
  fastmcpOver('stdio', 'stdio', { path: undefined }),
  fastmcpOver('http', 'http'),
  fastmcpOver('stateless', 'http', { without: ['logging', 'progress'] }),
  overHttp('@playwright/mcp', 'HTTP', '/mcp', (port) => ['--headless', '--isolated', '--no-sandbox', '--executable-path', '/usr/bin/chromium', '--allowed-hosts', '*', '--port', port]),
  overHttp('@upstash/context7-mcp', 'HTTP', '/mcp', (port) => ['--transport', 'http', '--port', port], { env: () => ({ OTEL_METRICS_EXPORTER: 'none' }) }),
  overHttp('@antv/mcp-server-chart', 'HTTP', '/mcp', (port) => ['--transport', 'streamable', '--port', port]),
  overHttp('@antv/mcp-server-chart', 'old SSE', '/sse', (port) => ['--transport', 'sse', '--port', port], { via: 'sse' }),
  supergateway(['streamableHttp', '--stateful'], 'HTTP with sessions', '/mcp', { ...MORE, cannot: { 'asking at once': FIRST_CALL } }),
  supergateway(['streamableHttp'], 'HTTP without sessions', '/mcp'),
  supergateway(['sse'], 'old SSE', '/sse', { ...MORE, via: 'sse', cannot: { 'other era, asking': BROADCAST, sampling: BROADCAST, elicitation: BROADCAST, 'asking at once': BROADCAST } }),
  overHttp('mcp-proxy', 'HTTP', '/mcp', (port) => ['--port', port, '--server', 'stream', '--', ...house], { ...CALLS, ...MORE, ...TASKLESS, eras: ['legacy', 'modern'], cannot: { progress: LOSSY } }),
  overHttp('mcp-proxy', 'old SSE', '/sse', (port) => ['--port', port, '--server', 'sse', '--', ...house], { ...CALLS, via: 'sse' })
];
