// What the documentation shows is tried: configurations of clients are connected with.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { CLIENTS, Session } from './support/clients.mjs';
import { blocks } from './support/documentation.mjs';
import { configuration, makeFolder, startGateway } from './support/gateway.mjs';
import { program, startServer } from './support/programs.mjs';
import { runningPrograms } from './support/programs_of_suite.mjs';

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
    const made = makeFolder();
    programs.push({ stop: async () => made.forget() });
    local = made.folder;
    writeFileSync(join(local, 'proteus.toml'), configuration({ upstreams }));
  });

  /** Connects as the entry of a server says, with our port, our token, and files that are there. */
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
