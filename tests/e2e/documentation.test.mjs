// Tries what the documentation shows: connects with its client configurations, runs its commands, checks its
// configurations, follows its links, and looks up what its prose names. tests/install compiles the C++.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, test } from 'node:test';

import { makeFolder } from './support/children.mjs';
import { CLIENTS, Session } from './support/clients.mjs';
import { anchors, blocks, commands, commandsInProse, links, namedFiles, pages, programOf, sourceFiles, textOfPage } from './support/documentation.mjs';
import { configuration, startGateway } from './support/gateway.mjs';
import { program, root, startServer } from './support/programs.mjs';
import { runningPrograms, stopAfter } from './support/programs_of_suite.mjs';
import { Reader } from './support/reader.mjs';
import { startBackend } from './support/sessions.mjs';

const TOKEN = 'of-the-reader';
const ENDPOINT = /^http:\/\/127\.0\.0\.1:8080\/mcp(\/sec)?$/;
const STDIO = ['stdio', '--config', '/etc/proteus/proteus.toml', '--data', '/home/me/.proteus'];

describe('docs/connect-clients.md', () => {
  const page = blocks('docs/connect-clients.md');
  let gateway;
  let local;
  runningPrograms(async (programs) => {
    const bank = await startServer('bank-server', ['--port', '0', '--shared']);
    programs.push(bank);
    const upstreams = [{ name: 'banking', url: bank.url }];
    gateway = await startGateway({
      upstreams,
      tokens: [{ name: 'ada', token_env: 'ADA_TOKEN' }],
      contexts: { sec: { display_name: 'SEC filings' } },
      env: { ADA_TOKEN: TOKEN }
    });
    programs.push(gateway);
    local = makeFolder();
    writeFileSync(join(local, 'proteus.toml'), configuration({ upstreams }));
  });

  /** Connects as an entry says, with the address, token and files of this test, and returns the names of the tools. */
  async function lists(entry) {
    const target = { url: entry.url?.replace('http://127.0.0.1:8080/mcp', gateway.url), token: TOKEN };
    if (entry.command) {
      Object.assign(target, { command: program('proteus'), args: ['stdio', '--config', join(local, 'proteus.toml'), '--data', join(local, 'data')] });
    }
    const session = await Session.open(CLIENTS[0], target);
    try {
      return await session.toolNames();
    } finally {
      await session.close();
    }
  }

  const configurations = page.filter((block) => block.language === 'json');
  for (const { text, at } of configurations) {
    test(`${at} is a configuration that leads to us`, async () => {
      const { servers, mcpServers, inputs = [] } = JSON.parse(text);
      const entries = Object.values(servers ?? mcpServers);
      assert.ok(entries.length > 0);
      for (const entry of entries) {
        if (entry.url) {
          assert.match(entry.url, ENDPOINT);
          const [, variable] = /^Bearer \$\{(?:env:|input:)?([\w-]+)\}$/.exec(entry.headers.Authorization);
          assert.ok(variable === 'PROTEUS_TOKEN' || inputs.some((input) => input.id === variable), variable);
        } else {
          assert.deepEqual([entry.command, ...entry.args], ['proteus', ...STDIO]);
        }
        assert.ok((await lists(entry)).includes('banking_pin_authentication'));
      }
    });
  }

  test('each client has a configuration, over HTTP and over stdio', () => {
    assert.ok(configurations.length >= 7, `${configurations.length} of them`);
  });

  const programsIn = { python: ['python3', '-c', 'import ast, sys; ast.parse(sys.stdin.read())'], js: [process.execPath, '--input-type=module', '--check'] };
  for (const { language, text, at } of page.filter((block) => block.language in programsIn)) {
    test(`${at} is ${language}, and names our URL and command`, () => {
      const [command, ...args] = programsIn[language];
      execFileSync(command, args, { input: text, timeout: 20_000 });
      const urls = text.match(/https?:\/\/[^'"\s]+/g);
      assert.ok(urls.length > 0);
      for (const url of urls) assert.match(url, ENDPOINT);
      const commands = [...text.matchAll(/["']?(?:command)["']?: ["'](\w+)["'],\s*["']?args["']?: (\[.*\])/g)];
      for (const [, name, list] of commands) assert.deepEqual([name, ...JSON.parse(list.replaceAll("'", '"'))], ['proteus', ...STDIO]);
    });
  }
});

/** Runs `proteus …` to its end. */
function proteus(args, options = {}) {
  return new Promise((done) => {
    execFile(program('proteus'), args, { timeout: 20_000, ...options }, (error, stdout, stderr) =>
      done({ code: error ? error.code : 0, stdout, stderr })
    );
  });
}

// Programs that this test does not run: they would change the machine, are not installed, or run this test.
const LEFT_TO_THE_READER = ['make', 'cmake', 'claude', 'podman', 'kubectl', 'examples/cluster/run.sh', 'useradd', 'install', 'systemctl', 'runuser', 'scripts/attack.sh', 'scripts/e2e.sh', 'scripts/fuzz.sh'];
// Blocks that are no commands: log lines, a request, messages.
const OUTPUT = [/^\d{4}-\d\d-\d\dT/, /^POST \S+ HTTP/, /^\/\w*: /];
const isShell = (block) => block.language === '' && !OUTPUT.some((shape) => shape.test(block.text));
const isUsage = (block) => /^proteus .*\[--/m.test(block.text);
const isTranscript = (block) => block.text.startsWith('$ ');

/** Checks that the script or the target of `make` that a command names exists. */
function assertExists(command, at) {
  const name = programOf(command);
  if (/^(scripts|examples)\//.test(name)) assert.ok(existsSync(join(root, name)), `${at}: ${name}`);
  const [, target] = /^make ([a-z][\w-]*)/.exec(command) ?? [];
  if (target) assert.match(readFileSync(join(root, 'Makefile'), 'utf8'), new RegExp(`^${target}:`, 'm'), `${at}: make ${target}`);
}

describe('commands in the documentation', () => {
  const servers = {};
  let typed = 0;
  runningPrograms(async (programs) => {
    for (const [name, args] of [['bank', ['bank-server', '--shared']], ['everything', ['everything-server']]]) {
      const server = await startServer(args[0], ['--port', '0', ...args.slice(1)]);
      programs.push(server);
      servers[name] = server.url;
    }
    const backend = await startBackend();
    programs.push(backend);
    servers.backend = new URL(backend.url()).host;
  });

  for (const page of pages()) {
    const shell = blocks(page).filter(isShell);
    const toRun = shell.filter((block) => !isUsage(block) && !isTranscript(block));
    const all = toRun.flatMap((block) => commands(block.text).map((command) => ({ command, at: block.at })));
    if (!all.some(({ command }) => ['proteus', 'curl'].includes(programOf(command)))) continue;

    test(`${page}: what it says to type works`, async (context) => {
      const own = stopAfter(context);
      const reader = own(await Reader.start(servers));
      for (const block of toRun) {
        for (const command of commands(block.text)) {
          if (LEFT_TO_THE_READER.includes(programOf(command))) continue;
          const { code, stderr } = await reader.type(command);
          assert.equal(code, 0, `${block.at}: ${command}\n${stderr}`);
          ++typed;
        }
        await reader.stopWatching();
      }
    });
  }

  test('nothing that is shown is left out', () => {
    const known = ['proteus', 'curl', '$EDITOR', ...LEFT_TO_THE_READER];
    for (const page of pages()) {
      for (const block of blocks(page).filter((one) => isShell(one) && !isTranscript(one))) {
        for (const command of commands(block.text)) {
          const name = programOf(command);
          assert.ok(known.includes(name), `${block.at}: nobody runs ${name}`);
          assertExists(command, block.at);
        }
      }
    }
    assert.ok(typed >= 20, `${typed} commands were typed`);
  });

  for (const page of pages()) {
    for (const block of blocks(page).filter(isUsage)) {
      test(`${block.at}: each of the commands is there`, async () => {
        for (const line of block.text.trim().split('\n')) {
          const [first, ...others] = line.replace(/ {2,}.*$/, '').split(' | ').map((part) => part.trim().split(' '));
          const start = first.slice(1);
          for (const args of [start, ...others.map((other) => [...start.slice(0, -1), ...other])]) {
            const asked = args[0].startsWith('--') ? args : [...args, '--help'];
            const { code, stderr } = await proteus(asked);
            assert.equal(code, 0, `proteus ${asked.join(' ')}\n${stderr}`);
          }
        }
      });
    }
  }

  test('what the prose names is there: targets, scripts, commands of proteus', async () => {
    const asked = new Set();
    for (const page of pages()) {
      for (const command of commandsInProse(page)) {
        assertExists(command, page);
        const [, first, second] = /^proteus ([a-z][a-z-]*)(?: ([a-z]+))?/.exec(command) ?? [];
        if (first) asked.add([first, ...(['client', 'tools', 'token', 'dataset'].includes(first) && second ? [second] : [])].join(' '));
      }
    }
    assert.ok(asked.size >= 10, [...asked].join(', '));
    for (const command of asked) {
      const { code, stderr } = await proteus([...command.split(' '), '--help']);
      assert.equal(code, 0, `proteus ${command}\n${stderr}`);
    }
  });

  test('docs/configuration.md: faults are told as it shows', async () => {
    const [transcript] = blocks('docs/configuration.md').filter(isTranscript);
    const [first, ...said] = transcript.text.trim().split('\n');
    assert.equal(first, '$ proteus check --config proteus.toml');
    const folder = makeFolder();
    const entry = ['[[upstreams]]', 'name = "bank"', 'url = "http://127.0.0.1:9/mcp"', 'refresh_interval = "0s"', 'prefix = ""', 'timout = "1s"'];
    writeFileSync(join(folder, 'proteus.toml'), `${'\n'.repeat(8)}${entry.join('\n')}\n`);
    const { code, stderr } = await proteus(['check', '--config', 'proteus.toml'], { cwd: folder });
    assert.equal(code, 2);
    assert.deepEqual(stderr.trim().split('\n'), said);
  });
});

describe('configurations in the documentation', () => {
  const DEPARTMENTS = `
import sqlite3, sys
sqlite3.connect(sys.argv[1]).executescript("""
create table departments (id integer primary key, name text);
create table employees (id integer primary key, name text, email text, title text, salary integer, dept_id integer references departments (id));
""")`;
  const all = pages().flatMap((page) => blocks(page));
  const toml = all.filter((block) => block.language === 'toml');
  const mappings = toml.filter((block) => /^\[dataset\]/m.test(block.text));
  const ontologies = toml.filter((block) => /^\[\[entity_types\]\]/m.test(block.text));

  for (const { text, at } of toml.filter((block) => ![...mappings, ...ontologies].includes(block))) {
    test(`${at} has no fault`, async () => {
      const folder = makeFolder();
      writeFileSync(join(folder, 'proteus.toml'), text);
      const { code, stderr } = await proteus(['check'], { cwd: folder });
      assert.equal(code, 0, stderr);
    });
  }

  for (const { text, at } of mappings) {
    test(`${at} fits the ontology beside it, and a database`, async () => {
      const folder = makeFolder();
      const file = (name) => join(folder, name);
      execFileSync('python3', ['-c', DEPARTMENTS, file('company.db')]);
      writeFileSync(file('acme.toml'), text);
      writeFileSync(file('ontology.toml'), ontologies[0].text);
      const { code, stderr } = await proteus(['dataset', 'validate', file('acme.toml')], { env: { ...process.env, ACME_DSN: `sqlite://${file('company.db')}` } });
      assert.equal(code, 0, stderr);
    });
  }

  test('JSON is JSON', () => {
    for (const { text, at } of all.filter((block) => block.language === 'json')) assert.doesNotThrow(() => JSON.parse(text), at);
  });

  test('source files that are named are there', () => {
    const known = sourceFiles();
    for (const page of pages()) for (const name of namedFiles(page)) assert.ok(known.has(name), `${page}: ${name}`);
  });

  test('every page can be reached from the README', () => {
    const reached = new Set(['README.md']);
    for (const page of reached) {
      for (const link of links(page)) {
        const target = normalize(join(dirname(page), link.split('#')[0]));
        if (target.endsWith('.md')) reached.add(target);
      }
    }
    // READMEs below src/ are for those who open the folder.
    assert.deepEqual(pages().filter((page) => !reached.has(page) && !page.startsWith('src/')), []);
  });

  test('ARCHITECTURE.md names each layer, and each of its rooms', () => {
    const foldersIn = (path) => readdirSync(join(root, path), { withFileTypes: true }).filter((entry) => entry.isDirectory()).map((entry) => entry.name);
    const rooms = { ui: foldersIn('ui/src').sort() };
    for (const layer of foldersIn('src')) rooms[`src/${layer}`] = foldersIn(`src/${layer}`).filter((name) => name !== 'testing').sort();
    const named = [...textOfPage('ARCHITECTURE.md').matchAll(/^\| `(src\/\w+|ui)` \|[^|]*\|([^|]*)\|/gm)];
    assert.deepEqual(Object.fromEntries(named.map(([, layer, cell]) => [layer, [...cell.matchAll(/`(\w+)`/g)].map(([, room]) => room).sort()])), rooms);
  });

  test('the README is short: 700 words before its links', () => {
    const words = textOfPage('README.md').split('\n## Read on\n')[0].split(/\s+/);
    assert.ok(words.length <= 700, `${words.length} words`);
  });

  test('links lead somewhere', () => {
    for (const page of pages()) {
      for (const link of links(page)) {
        const [file, anchor] = link.split('#');
        const target = file === '' ? page : normalize(join(dirname(page), file));
        assert.ok(existsSync(join(root, target)), `${page}: ${link}`);
        if (anchor) assert.ok(anchors(target).includes(anchor), `${page}: ${link}`);
      }
    }
  });
});
