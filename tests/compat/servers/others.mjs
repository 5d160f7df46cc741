// Third-party servers on standard streams. Most require a key; a wrong one suffices to list tools and check arguments.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { scriptOf } from '../start.mjs';

const CHROMIUM = '/usr/bin/chromium';
const PAGE = 'data:text/html,<title>Compat</title><h1>It%20browses</h1><button>Press</button>';
const KUBECONFIG = `apiVersion: v1
kind: Config
clusters: [{ name: none, cluster: { server: 'http://127.0.0.1:9' } }]
users: [{ name: none, user: {} }]
contexts: [{ name: none, context: { cluster: none, user: none } }]
current-context: none
`;

const BOTH = ['legacy', 'modern'];
const other = (name, more = {}) => ({ name, package: name, form: 'full', via: 'stdio', eras: ['legacy'], script: () => [scriptOf(name)], ...more });
const withArguments = (name, args, more = {}) => other(name, { script: () => [scriptOf(name), ...args], ...more });
const withKey = (name, ...variables) => other(name, { env: () => Object.fromEntries(variables.map((variable) => [variable, 'none'])) });

export const OTHERS = [
  withArguments('@playwright/mcp', ['--headless', '--isolated', '--no-sandbox', '--executable-path', CHROMIUM], {
    script: ({ own }) => [scriptOf('@playwright/mcp'), '--headless', '--isolated', '--no-sandbox', '--executable-path', CHROMIUM, '--output-dir', own],
    // The name of a snapshot file contains the time.
    normalise: [[/\[Snapshot\]\([^)]*\)/g, '[Snapshot]']],
    call: [
      { name: 'browser_navigate', arguments: { url: PAGE }, patience: 60_000 },
      { name: 'browser_snapshot', arguments: {}, patience: 30_000 },
      { name: 'browser_evaluate', arguments: { function: '() => document.title' }, patience: 30_000 }
    ]
  }),
  withArguments('chrome-devtools-mcp', ['--headless', '--isolated', '--executablePath', CHROMIUM, '--chromeArg=--no-sandbox'], {
    remembers: true,
    call: [{ name: 'new_page', arguments: { url: PAGE }, patience: 60_000 }, { name: 'list_pages', patience: 30_000 }]
  }),
  other('@upstash/context7-mcp', { eras: BOTH }),
  withKey('@notionhq/notion-mcp-server', 'NOTION_TOKEN'),
  other('mongodb-mcp-server', { eras: BOTH, env: () => ({ MDB_MCP_TELEMETRY: 'disabled' }), call: [{ name: 'list-connections' }], read: 'debug://mongodb' }),
  other('mcp-server-kubernetes', {
    prepare: (folder) => writeFileSync(join(folder, 'config'), KUBECONFIG),
    env: ({ folder }) => ({ KUBECONFIG: join(folder, 'config') })
  }),
  withKey('@brave/brave-search-mcp-server', 'BRAVE_API_KEY'),
  { ...withKey('exa-mcp-server', 'EXA_API_KEY'), prompt: { name: 'web_search_help' }, read: 'exa://tools/list' },
  other('@eslint/mcp', {
    prepare: (folder) => {
      writeFileSync(join(folder, 'eslint.config.js'), 'module.exports = [{ rules: { "no-unused-vars": "error" } }];\n');
      writeFileSync(join(folder, 'bad.js'), 'const unused = 1;\n');
    },
    call: ({ folder }) => [{ name: 'lint-files', arguments: { filePaths: [join(folder, 'bad.js')] } }]
  }),
  withArguments('@sentry/mcp-server', ['--access-token=none']),
  withKey('firecrawl-mcp', 'FIRECRAWL_API_KEY'),
  withKey('tavily-mcp', 'TAVILY_API_KEY'),
  withArguments('figma-developer-mcp', ['--figma-api-key=none', '--stdio']),
  other('@antv/mcp-server-chart'),
  other('@wonderwhy-er/desktop-commander', {
    prepare: (folder) => writeFileSync(join(folder, 'note.txt'), 'one\ntwo\n'),
    env: ({ own }) => ({ HOME: own }),
    call: ({ folder }) => [{ name: 'read_file', arguments: { path: join(folder, 'note.txt') } }]
  }),
  other('@cyanheads/git-mcp-server', {
    prepare: (folder) => execFileSync('git', ['init', '-q', '-b', 'main', join(folder, 'repository')]),
    env: ({ own }) => ({ LOGS_DIR: own }),
    call: ({ folder }) => [{ name: 'git_status', arguments: { path: join(folder, 'repository') } }],
    prompt: { name: 'git_wrapup', arguments: {} }
  })
];
