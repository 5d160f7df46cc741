// `proteus client`, as a person and as a script would use it.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { after, before, describe, test } from 'node:test';

import { run, spawnChild } from './support/children.mjs';
import { CLIENTS, Session } from './support/clients.mjs';
import { startGateway } from './support/gateway.mjs';
import { program, startServer, within } from './support/programs.mjs';
import { stopAfter } from './support/programs_of_suite.mjs';

const ESCAPE = '\u001b[';

/** Runs `proteus client …` to its end. */
function proteus(...args) {
  return run(program('proteus'), ['client', ...args]);
}

for (const era of ['legacy', 'modern']) {
  describe(`proteus client, a server with --era ${era}`, () => {
    let server;
    before(async () => {
      server = await startServer('everything-server', ['--port', '0', '--era', era]);
    });
    after(() => server?.stop());

    test('list prints a table of what the server offers, without colours in a pipe', async () => {
      const { code, stdout } = await proteus('list', server.url);
      assert.equal(code, 0);
      for (const name of ['test_simple_text', 'test_prompt_with_arguments', 'test://static-text']) {
        assert.ok(stdout.includes(name), name);
      }
      assert.ok(!stdout.includes(ESCAPE));
    });

    test('list --json is JSON', async () => {
      const { code, stdout } = await proteus('list', '--json', server.url);
      assert.equal(code, 0);
      assert.ok(JSON.stringify(JSON.parse(stdout)).includes('test_simple_text'));
    });

    test('list has colours on a terminal', async () => {
      const command = `${program('proteus')} client list ${server.url}`;
      const output = await new Promise((done, fail) =>
        execFile('script', ['-qec', command, '/dev/null'], { timeout: 20_000, env: { ...process.env, TERM: 'xterm' } }, (error, stdout) =>
          error ? fail(error) : done(stdout)
        )
      );
      assert.ok(output.includes(ESCAPE));
    });

    test('call prints the result of a tool', async () => {
      const { code, stdout } = await proteus('call', server.url, 'test_simple_text', '{}');
      assert.equal(code, 0);
      assert.match(stdout, /\S/);
    });

    test('call --json prints the result as it is', async () => {
      const { code, stdout } = await proteus('call', '--json', server.url, 'test_simple_text', '{}');
      assert.equal(code, 0);
      assert.equal(JSON.parse(stdout).content[0].type, 'text');
    });

    test("a tool's failure and an unknown tool end with 1", async () => {
      assert.equal((await proteus('call', server.url, 'test_error_handling', '{}')).code, 1);
      const unknown = await proteus('call', server.url, 'no_such_tool', '{}');
      assert.equal(unknown.code, 1);
      assert.match(unknown.stderr, /no_such_tool/);
    });

    test('watch shows a change of the tool list live', async (context) => {
      const own = stopAfter(context);
      const client = CLIENTS.find((candidate) => candidate.era === era);
      const session = own(await Session.open(client, { url: server.url }));
      const watch = spawnChild(program('proteus'), ['client', 'watch', server.url], { stdio: ['ignore', 'pipe', 'inherit'] });
      own({ stop: () => (watch.kill(), watch.closed) });
      let output = '';
      let wake = () => {};
      watch.stdout.on('data', (data) => {
        output += data;
        wake();
      });
      /**
       * Waits until `watch` has printed `text` behind the first `offset` characters; false after three silent seconds.
       */
      const printed = async (text, offset) => {
        while (!output.slice(offset).includes(text)) {
          const more = new Promise((resolve) => (wake = resolve));
          if (!(await within(3_000, 'watch', more.then(() => true)).catch(() => false))) return false;
        }
        return true;
      };
      // The first changes may come before the watcher listens.
      let shown = false;
      for (let attempt = 0; attempt < 5 && !shown; attempt++) {
        const offset = output.length;
        const before = await session.toolNames();
        await session.call('test_trigger_tool_change');
        const now = await session.toolNames();
        const [changed] = [...now.filter((name) => !before.includes(name)), ...before.filter((name) => !now.includes(name))];
        shown = await printed(changed, offset);
      }
      assert.ok(shown, output);
    });
  });
}

test('what cannot be reached ends with 1 and says why', async () => {
  const { code, stderr } = await proteus('list', 'http://127.0.0.1:1/mcp');
  assert.equal(code, 1);
  assert.match(stderr, /127\.0\.0\.1/);
});

/** Starts a server that answers every request with this. */
async function answering(status, headers, body) {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(status, headers).end(body);
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  return { url: `http://127.0.0.1:${server.address().port}/mcp`, stop: () => (server.closeAllConnections(), new Promise((closed) => server.close(closed))) };
}

test('a refusal is shown in the words of the server, and one for want of a token with a hint', async (context) => {
  const own = stopAfter(context);
  const error = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'A bearer token is required' } });
  const closed = own(await answering(401, { 'content-type': 'application/json' }, error));
  const lost = own(await answering(404, { 'content-type': 'text/plain' }, 'There is nothing here.\nTry elsewhere.\n'));
  const refused = await proteus('list', closed.url);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /HTTP 401: A bearer token is required; sign in with `proteus client login URL`, or send a token with --bearer-env VARIABLE/);
  const nothing = await proteus('list', lost.url);
  assert.equal(nothing.code, 1);
  assert.match(nothing.stderr, /HTTP 404: There is nothing here\. Try elsewhere\. \(Streamable HTTP was tried, and then HTTP\+SSE: [^\n]*\)\n$/);
});

test('list says that a server offers nothing', async (context) => {
  const own = stopAfter(context);
  const gateway = own(await startGateway({}));
  assert.match((await proteus('list', gateway.url)).stdout, /\nIt offers no tools, prompts or resources\.\n$/);
});

test('a word that is nearly a command or an option is recognized', async () => {
  const says = async (...args) => {
    const { code, stderr } = await run(program('proteus'), args);
    assert.equal(code, 2);
    return stderr.split('\n')[0];
  };
  assert.equal(await says('srve'), 'proteus: there is no command srve; did you mean serve?');
  assert.equal(await says('serve', '--confg', 'x'), 'proteus: there is no option --confg; did you mean --config?');
  assert.equal(await says('client', 'lst', 'http://127.0.0.1:1/mcp'), 'proteus: there is no command lst; did you mean list?');
  assert.equal(await says('serve', '--quite-another=x'), 'proteus: there is no option --quite-another');
  assert.match(await says(), /subcommand is required/);
});

test('bad usage ends with 2', async () => {
  assert.equal((await proteus('list')).code, 2);
  assert.equal((await proteus('call', 'http://127.0.0.1:1/mcp', 'tool', 'this is not JSON')).code, 2);
  assert.equal((await proteus('list', 'not-a-url')).code, 2);
});
