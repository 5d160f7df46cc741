// collect.mjs: lists the tools of the servers that tests/compat installs, and writes what ranking needs of them to
// tools.json, with each server's licence. Run it with the Node of tests/e2e, after scripts/setup.sh npm compat.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { OFFICIAL } from '../../tests/compat/servers/official.mjs';
import { OTHERS } from '../../tests/compat/servers/others.mjs';
import { packageFolder, scratch } from '../../tests/compat/start.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const PATIENCE = 60_000;
const DESCRIPTION = 400; // characters

// The weights were chosen on the other half, and are measured on this one.
const HELD_OUT = ['github', 'notion', 'playwright', 'git', 'google-maps', 'memory', 'kubernetes', 'chart', 'firecrawl', 'pdf', 'eslint'];

const nameOf = (name) =>
  name.replace(/^@modelcontextprotocol\/server-/, '').replace(/^@([^/]+)\/.*$/, (_, scope) => ({ 'wonderwhy-er': 'desktop-commander', cyanheads: 'git', notionhq: 'notion', antv: 'chart', upstash: 'context7' })[scope] ?? scope)
    .replace(/-?mcp-?/g, '-').replace(/-?server-?/g, '-').replace(/^-+|-+$/g, '');

/** Returns the licence of a package. If it refers to a file that the package lacks, the README names the licence. */
function licenceOf(name) {
  const folder = packageFolder(name);
  const { license = '' } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  if (!license.startsWith('SEE LICENSE')) return license;
  return /licensed under the MIT License/.test(readFileSync(join(folder, 'README.md'), 'utf8')) ? 'MIT' : license;
}
// Servers under other licences are left out.
const isOpen = (licence) => /^(MIT|Apache-2\.0)$/.test(licence);

/** Returns the beginning of a description, which is enough to say what the tool is for. */
const beginning = (text = '') => {
  const flat = text.trim().replace(/\s+/g, ' ');
  return flat.length <= DESCRIPTION ? flat : flat.slice(0, DESCRIPTION).replace(/\s\S*$/, '');
};

const typeOf = ({ type } = {}) => (typeof type === 'string' ? type : 'string');
const reduced = ({ name, title, annotations, description, inputSchema }) => ({
  name,
  ...(title ?? annotations?.title ? { title: title ?? annotations.title } : {}),
  description: beginning(description),
  inputSchema: {
    type: 'object',
    properties: Object.fromEntries(Object.entries(inputSchema?.properties ?? {}).map(([key, value]) => [key, { type: typeOf(value) }]))
  }
});

/** Starts a server on standard streams, and returns its answer to `initialize` and its tools. */
async function listOf(row, folder) {
  const own = join(folder, 'own');
  mkdirSync(own, { recursive: true });
  row.prepare?.(folder);
  const places = { folder, own, port: '0' };
  const child = spawn(process.execPath, row.script(places), { env: { ...process.env, ...row.env?.(places) }, stdio: ['pipe', 'pipe', 'ignore'], cwd: folder });
  const waiting = new Map();
  createInterface({ input: child.stdout }).on('line', (line) => {
    try {
      const message = JSON.parse(line);
      waiting.get(message.id)?.(message);
    } catch {
      // Some servers print other text to standard output at start-up.
    }
  });
  let next = 0;
  const ask = (method, params) =>
    new Promise((resolve, reject) => {
      const id = ++next;
      setTimeout(() => reject(new Error(`${row.name}: no answer to ${method}`)), PATIENCE).unref();
      child.on('exit', () => reject(new Error(`${row.name} has ended`)));
      waiting.set(id, (message) => (message.error ? reject(new Error(message.error.message)) : resolve(message.result)));
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
  try {
    const about = await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'collect', version: '1' } });
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
    const tools = [];
    let cursor;
    do {
      const page = await ask('tools/list', cursor ? { cursor } : {});
      tools.push(...page.tools);
      cursor = page.nextCursor;
    } while (cursor);
    return { about, tools };
  } finally {
    child.kill('SIGKILL');
  }
}

const servers = [];
for (const row of [...OFFICIAL, ...OTHERS].filter(({ via, settings }) => via === 'stdio' && settings?.refresh_strategy === undefined)) {
  const { folder, forget } = scratch();
  try {
    const { about, tools } = await listOf(row, folder);
    const { version } = JSON.parse(readFileSync(join(packageFolder(row.package), 'package.json'), 'utf8'));
    const licence = licenceOf(row.package);
    if (!isOpen(licence)) throw new Error(`${row.name} is under ${licence || 'no licence that it names'}`);
    const name = nameOf(row.package);
    servers.push({
      name,
      package: row.package,
      version,
      licence,
      half: HELD_OUT.includes(name) ? 'held-out' : 'tuning',
      instructions: beginning(about.instructions),
      tools: tools.map(reduced)
    });
    console.error(`${name}: ${tools.length} tools`);
  } catch (error) {
    console.error(`left out: ${error.message}`);
  } finally {
    forget();
  }
}
// One tool per line, so that diffs are readable.
const line = (value) => JSON.stringify(value);
const text = servers
  .map(({ tools, ...about }) => `{"server":${line(about)},"tools":[\n${tools.map(line).join(',\n')}\n]}`)
  .join(',\n');
writeFileSync(join(here, 'tools.json'), `[\n${text}\n]\n`);
console.error(`${servers.length} servers, ${servers.reduce((sum, { tools }) => sum + tools.length, 0)} tools`);
