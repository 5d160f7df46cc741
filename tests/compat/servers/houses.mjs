// Our own servers, made with the official SDKs. They offer the same features on each transport of the SDKs.
import { join } from 'node:path';

import { here } from '../start.mjs';

const V1 = join(here, 'short/servers/sdk_v1.mjs');
const V2 = join(here, 'short/servers/sdk_v2.mjs');

const house = {
  form: 'short',
  call: [{ name: 'echo', arguments: { message: 'grüße  \u2028 "quoted"' } }, { name: 'weigh', arguments: { parts: [1, 2.5, 1e21] } }, { name: 'fail' }],
  bad: [{ name: 'echo', arguments: {} }, { name: 'echo', arguments: { message: 7 } }, { name: 'weigh', arguments: { parts: 'none' } }],
  prompt: [{ name: 'greeting', arguments: { name: 'Ada' } }, { name: 'greeting', arguments: {} }],
  read: ['note://today', 'note://of/monday'],
  completion: [
    { ref: { type: 'ref/prompt', name: 'greeting' }, argument: { name: 'name', value: 'A' } },
    { ref: { type: 'ref/resource', uri: 'note://of/{day}' }, argument: { name: 'day', value: 'm' } }
  ],
  logging: { name: 'log', count: 2 },
  progress: { name: 'count', arguments: { steps: 3 }, count: 3 },
  roots: { name: 'roots' },
  sampling: { name: 'sample', arguments: { prompt: 'Which city?' } },
  elicitation: { name: 'ask' },
  cancellation: { name: 'wait', count: 'cancelled', next: { name: 'echo', arguments: { message: 'still here' } } },
  update: { uri: 'note://today', trigger: { name: 'touch', arguments: { uri: 'note://today' } } },
  change: { list: 'tools', trigger: { name: 'grow' }, added: 'grown', use: { name: 'grown', arguments: { size: 2 } } }
};

const V1_PACKAGE = '@modelcontextprotocol/sdk';
const V2_PACKAGE = '@modelcontextprotocol/server';
const aside = { loggingAside: { name: 'log_aside', count: 1 }, herald: { name: 'herald', method: 'notifications/house/herald' } };
// Without a session, a server cannot send requests, accept subscriptions, or receive cancellations.
const sessionless = { without: ['other era, asking', 'roots', 'sampling', 'elicitation', 'asking at once', 'cancellation', 'updates', 'list changed', 'logging aside'] };
// Without streams, a server can send nothing before the answer.
const streamless = { without: ['other era, asking', 'logging', 'progress', 'other notifications', 'roots', 'sampling', 'elicitation', 'asking at once', 'cancellation'] };

// The gateway reads the lists for each caller instead of caching them.
const LIVE = { form: 'full', settings: { refresh_strategy: 'direct_proxy' } };

const v1 = (name, mode, via, more = {}) => ({ name: `SDK v1, ${name}`, package: V1_PACKAGE, via, eras: ['legacy'], script: () => [V1, mode], ...house, ...aside, ...more });
const v2 = (name, mode, via, eras, more = {}) => ({ name: `SDK v2, ${name}`, package: V2_PACKAGE, via, eras, script: () => [V2, mode], ...house, ...more });

export const HOUSES = [
  v1('stdio', 'stdio', 'stdio'),
  v1('HTTP with sessions', 'http', 'http'),
  v1('HTTP without sessions', 'stateless', 'http', sessionless),
  v1('HTTP, JSON answers', 'json', 'http', streamless),
  v1('old SSE', 'sse', 'sse'),
  v1('old SSE, found by its URL', 'sse', 'sse', { form: 'full', settings: { transport: undefined } }),
  v1('stdio, listed live', 'stdio', 'stdio', LIVE),
  v2('stdio', 'stdio', 'stdio', ['legacy', 'modern']),
  v2('stdio, modern only', 'stdio-modern', 'stdio', ['modern']),
  v2('HTTP, both eras', 'http', 'http', ['modern']),
  v2('HTTP, both eras, legacy without sessions', 'http', 'http', ['legacy'], sessionless),
  v2('HTTP, JSON answers', 'http-json', 'http', ['modern'], { without: ['logging', 'progress', 'cancellation'] }),
  v2('HTTP, modern only', 'http-modern', 'http', ['modern']),
  v2('HTTP, legacy with sessions', 'http-sessions', 'http', ['legacy', 'modern']),
  v2('HTTP, listed live', 'http-sessions', 'http', ['legacy', 'modern'], LIVE)
];
