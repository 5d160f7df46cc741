// Third-party servers, each with the tools and other items that show a behaviour.
import { fileURLToPath } from 'node:url';

import { startModernServer } from './modern_server.mjs';
import { startScript } from './programs.mjs';
import { startTap } from './tap.mjs';

const EVERYTHING = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'));
const ANNOUNCE_PORT = import.meta.resolve('./announce_port.mjs');
const DOCUMENT = 'demo://resource/static/document/features.md';

const everything = {
  era: 'legacy',
  tools: ['echo', 'get-sum', 'trigger-elicitation-request', 'trigger-sampling-request', 'trigger-long-running-operation'],
  echo: { name: 'echo', arguments: { message: 'grüße' }, text: 'Echo: grüße' },
  progress: { name: 'trigger-long-running-operation', arguments: { duration: 0.15, steps: 3 }, text: /completed/ },
  elicitation: { name: 'trigger-elicitation-request', accepted: /Name: Ada/, declined: /declined/ },
  sampling: { name: 'trigger-sampling-request', arguments: { prompt: 'Which city?' } },
  roots: { name: 'get-roots-list' },
  prompt: { name: 'args-prompt', arguments: { city: 'Paris', state: 'Texas' }, text: "What's weather in Paris, Texas?" },
  completion: { ref: { type: 'ref/prompt', name: 'completable-prompt' }, argument: { name: 'department', value: 'E' }, value: 'Engineering' },
  resource: { uri: DOCUMENT, text: /Everything/ },
  templated: { uri: 'demo://resource/dynamic/text/7', text: /7/ },
  update: { uri: DOCUMENT, trigger: { name: 'toggle-subscriber-updates' } },
  change: {
    list: 'resources',
    trigger: { name: 'gzip-file-as-resource', arguments: { name: 'new.gz', data: 'data:text/plain,hello' } },
    added: 'demo://resource/session/new.gz'
  },
  // Cancelled only after ten updates, a second into the call: the server asks for roots after a third of a second, and
  // a client that leaves between two rounds notifies nobody.
  endless: { name: 'trigger-long-running-operation', arguments: { duration: 60, steps: 600 }, after: 10 }
};

const modern = {
  era: 'modern',
  tools: ['echo', 'count', 'ask', 'sample', 'wait'],
  echo: { name: 'echo', arguments: { message: 'grüße' }, text: 'Echo: grüße' },
  progress: { name: 'count', arguments: { steps: 3 }, text: /Counted to 3/ },
  elicitation: { name: 'ask', accepted: /Hello Ada/, declined: /decline/ },
  sampling: { name: 'sample', arguments: { prompt: 'Which city?' } },
  roots: { name: 'roots' },
  prompt: { name: 'greeting', arguments: { name: 'Ada' }, text: 'Please greet Ada' },
  resource: { uri: 'note://today', text: /Buy milk/ },
  templated: { uri: 'note://of/monday', text: /For monday/ },
  update: { uri: 'note://today', trigger: { name: 'touch', arguments: { uri: 'note://today' } } },
  change: { list: 'tools', trigger: { name: 'grow' }, added: 'grown_1' },
  endless: { name: 'wait' },
  rounds: { name: 'ask_twice', text: 'First Ada, then Grace' },
  askingPrompt: { name: 'curious', text: 'Please greet Ada' },
  logging: { name: 'log' }
};

async function startEverything(programs) {
  const server = await startScript('server-everything', ['--import', ANNOUNCE_PORT, EVERYTHING, 'streamableHttp'], { env: { PORT: '0' } });
  programs.push(server);
  const tap = await startTap(server.url);
  programs.push(tap);
  const cancelled = () => tap.sent.filter((message) => message.method === 'notifications/cancelled').length;
  return { url: tap.url, sent: tap.sent, cancelled };
}

/**
 * `start(programs)` starts the server, adds its programs to `programs` and returns `upstream`, its entry in the
 * configuration. If the messages of the gateway can be seen, the result also has `sent` with those messages and
 * `cancelled()` with the number of cancelled calls. `live` marks servers whose lists are not cached, `briefly` servers
 * that run only the tests that the transport can affect.
 */
export const FOREIGN_SERVERS = [
  {
    name: 'server-everything over HTTP',
    ...everything,
    start: async (programs) => {
      const { url, ...seen } = await startEverything(programs);
      return { upstream: { url }, ...seen };
    }
  },
  {
    name: 'server-everything over HTTP, listed live',
    ...everything,
    live: true,
    start: async (programs) => {
      const { url, ...seen } = await startEverything(programs);
      return { upstream: { url, refresh_strategy: 'direct_proxy' }, ...seen };
    }
  },
  // Here each session runs its own program, which takes time to start.
  {
    name: 'server-everything over stdio, listed live',
    ...everything,
    live: true,
    briefly: true,
    start: async () => ({ upstream: { command: [process.execPath, EVERYTHING, 'stdio'], refresh_strategy: 'direct_proxy' } })
  },
  {
    name: 'server-everything over stdio',
    ...everything,
    briefly: true,
    start: async () => ({ upstream: { command: [process.execPath, EVERYTHING, 'stdio'] } })
  },
  {
    name: 'a modern-only server of the TypeScript SDK v2',
    ...modern,
    start: async (programs) => {
      const server = await startModernServer();
      programs.push(server);
      const tap = await startTap(server.url);
      programs.push(tap);
      return { upstream: { url: tap.url }, sent: tap.sent, cancelled: server.cancelled };
    }
  }
];
