// The servers that the MCP project publishes.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { scriptOf } from '../start.mjs';

const DOCUMENT = 'demo://resource/static/document/features.md';
const TASKS = 'without simulate-research-query, which can be called only as a task: tasks pass where client and server speak the same form of them';
const everything = {
  package: '@modelcontextprotocol/server-everything',
  form: 'short',
  eras: ['legacy'],
  call: [
    { name: 'echo', arguments: { message: 'grüße' } },
    { name: 'get-sum', arguments: { a: 1.5, b: 2 } },
    { name: 'get-structured-content', arguments: { location: 'Chicago' } },
    { name: 'get-tiny-image' },
    { name: 'get-annotated-message', arguments: { messageType: 'error', includeImage: true } },
    { name: 'get-resource-links', arguments: { count: 3 } }
  ],
  bad: [{ name: 'get-sum', arguments: { a: 'one' } }, { name: 'get-annotated-message', arguments: { messageType: 'loud' } }],
  prompt: [{ name: 'simple-prompt' }, { name: 'args-prompt', arguments: { city: 'Paris', state: 'Texas' } }],
  read: [DOCUMENT],
  completion: { ref: { type: 'ref/prompt', name: 'completable-prompt' }, argument: { name: 'department', value: 'E' } },
  progress: { name: 'trigger-long-running-operation', arguments: { duration: 0.3, steps: 3 }, count: 3 },
  elicitation: { name: 'trigger-elicitation-request' },
  sampling: { name: 'trigger-sampling-request', arguments: { prompt: 'Which city?' } },
  roots: { name: 'get-roots-list' },
  change: {
    list: 'resources',
    trigger: { name: 'gzip-file-as-resource', arguments: { name: 'new.gz', data: 'data:text/plain,hello' } },
    added: 'demo://resource/session/new.gz'
  },
  taskOnly: ['simulate-research-query'],
  notes: { 'other era': TASKS },
  // The server requests roots some time after a client has connected.
  settled: { name: 'get-roots-list', text: 'file:///compat' },
  cancellation: {
    name: 'trigger-long-running-operation',
    arguments: { duration: 2, steps: 20 },
    next: { name: 'echo', arguments: { message: 'still here' } }
  },
  update: { uri: DOCUMENT, trigger: { name: 'toggle-subscriber-updates' } },
  normalise: [[/for session [^"\\]*/g, 'for session'], [/"sessionId":"[^"]*"/g, '']]
};
const everythingOver = (mode, via, path, more = {}) => ({
  ...everything,
  name: `server-everything, ${mode}`,
  via,
  path,
  script: () => [scriptOf(everything.package), mode],
  ...more
});

// The gateway reads the lists for each caller instead of caching them.
const LIVE = { form: 'full', settings: { refresh_strategy: 'direct_proxy' } };

const official = (name, more) => {
  const row = { package: `@modelcontextprotocol/${name}`, name, form: 'full', via: 'stdio', eras: ['legacy'] };
  return { ...row, script: () => [scriptOf(row.package)], ...more };
};

export const OFFICIAL = [
  everythingOver('stdio', 'stdio'),
  everythingOver('sse', 'sse', '/sse'),
  everythingOver('streamableHttp', 'http', '/mcp'),
  everythingOver('streamableHttp', 'http', '/mcp', { ...LIVE, name: 'server-everything, streamableHttp, listed live' }),
  official('server-filesystem', {
    form: 'short',
    prepare: (folder) => {
      for (const name of ['files', 'more']) mkdirSync(join(folder, name));
      writeFileSync(join(folder, 'files/note.txt'), 'one\ntwo – “three”\n');
    },
    // The folder on the command line is allowed until a client's roots replace it.
    script: ({ folder }) => [scriptOf('@modelcontextprotocol/server-filesystem'), join(folder, 'files')],
    clientRoots: ({ folder }) => [{ uri: pathToFileURL(join(folder, 'files')).href, name: 'files' }, { uri: pathToFileURL(join(folder, 'more')).href, name: 'more' }],
    call: [{ name: 'list_allowed_directories' }],
    bad: [{ name: 'read_text_file', arguments: { path: '/etc/passwd' } }, { name: 'read_text_file', arguments: {} }],
    settled: { name: 'list_allowed_directories', text: 'more' }
  }),
  official('server-memory', {
    form: 'short',
    env: ({ own }) => ({ MEMORY_FILE_PATH: join(own, 'memory.json') }),
    call: [
      { name: 'create_entities', arguments: { entities: [{ name: 'Ada', entityType: 'person', observations: ['counts'] }] } },
      { name: 'search_nodes', arguments: { query: 'Ada' } },
      { name: 'delete_entities', arguments: { entityNames: ['Ada'] } },
      { name: 'read_graph' }
    ],
    // The server's file survives a restart, so this call is repeatable.
    steady: { name: 'read_graph' }
  }),
  official('server-sequential-thinking', {
    form: 'short',
    call: [{ name: 'sequentialthinking', arguments: { thought: 'First', nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 2 } }],
    // The server counts the thoughts since its start.
    normalise: [[/thoughtHistoryLength\\*": \d+/g, 'thoughtHistoryLength']]
  }),
  official('server-github', { env: () => ({ GITHUB_PERSONAL_ACCESS_TOKEN: 'none' }) }),
  official('server-gitlab', { env: () => ({ GITLAB_PERSONAL_ACCESS_TOKEN: 'none', GITLAB_API_URL: 'http://127.0.0.1:9/api' }) }),
  official('server-slack', { env: () => ({ SLACK_BOT_TOKEN: 'none', SLACK_TEAM_ID: 'T0' }) }),
  official('server-brave-search', { env: () => ({ BRAVE_API_KEY: 'none' }) }),
  official('server-google-maps', { env: () => ({ GOOGLE_MAPS_API_KEY: 'none' }) }),
  official('server-everart', { env: () => ({ EVERART_API_KEY: 'none' }) }),
  // The server's database cannot be reached, so it lists its tools but not its tables.
  official('server-postgres', {
    script: () => [scriptOf('@modelcontextprotocol/server-postgres'), 'postgresql://127.0.0.1:9/none'],
    settings: { fail_fast_on_startup: false },
    without: ['resources'],
    call: [{ name: 'query', arguments: { sql: 'SELECT 1' } }]
  }),
  official('server-pdf', { script: () => [scriptOf('@modelcontextprotocol/server-pdf'), '--stdio'], call: [{ name: 'list_pdfs' }], read: 'ui://pdf-viewer/mcp-app.html' })
];
