// Untrusted text on a terminal and in the log.
import { execFile } from 'node:child_process';
import { join } from 'node:path';

import { startGateway } from '../e2e/support/gateway.mjs';
import { program, root } from '../e2e/support/programs.mjs';
import { send } from '../e2e/support/raw.mjs';
import { SECRET } from '../e2e/support/sessions.mjs';
import { assert, eventually, speaking, startCanary, tool } from './support.mjs';

export const title = "Strangers' text on a terminal";

const NASTY = {
  'a window title': '\u001b]0;pwned\u0007',
  'a clear screen': '\u001b[2J\u001b[H',
  'a link': '\u001b]8;;http://evil.example\u001b\\here',
  'the clipboard': '\u001b]52;c;cHduZWQ=\u0007',
  'a device query': '\u001b[c\u001bP$q"p\u001b\\',
  'an 8-bit control': '\u009b2J\u009d0;pwned\u009c',
  'a carriage return': 'harmless\rrm -rf',
  'a backspace': 'harmless\b\b\b\b\b\b\b\bevil',
  'a bidirectional override': '\u202e\u2066evil\u2069',
  'a zero-width text': 'a\u200b\u2060\ufeffb',
  'tags': '\u{e0041}\u{e0042}'
};
const EVERYTHING = Object.values(NASTY).join('\n');

/** Checks that an output has no escapes or controls, except for our own colours (CSI … m). */
function assertHarmless(output, where) {
  const rest = output.replaceAll(/\u001b\[[0-9;]*m/g, '').replaceAll('\r\n', '\n');
  for (const [what, pattern] of [['an escape', /\u001b/], ['a control character', /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/], ['a bidirectional control', /[\u202a-\u202e\u2066-\u2069]/], ['an invisible character', /[\u200b\u2060\ufeff\u{e0000}-\u{e007f}]/u]]) {
    const found = pattern.exec(rest);
    assert.ok(!found, `${what} in the output of ${where}: ${JSON.stringify(rest.slice(Math.max(0, (found?.index ?? 0) - 40), (found?.index ?? 0) + 20))}`);
  }
}

/** Runs a command on a terminal. */
function onTerminal(args, env = {}) {
  const quoted = [program('proteus'), ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  return new Promise((done) => {
    execFile('script', ['-qec', quoted, '/dev/null'], { timeout: 20_000, env: { ...process.env, TERM: 'xterm', ...env }, encoding: 'utf8' }, (_, stdout, stderr) => done(stdout + stderr));
  });
}

export async function stage(own) {
  const results = {
    'tools/list': { tools: [tool('say', { title: EVERYTHING, description: EVERYTHING }), tool('fail', { description: EVERYTHING, annotations: { title: EVERYTHING } })] },
    'prompts/list': { prompts: [{ name: 'p', description: EVERYTHING }] },
    'resources/list': { resources: [{ name: EVERYTHING, uri: 'x://y', description: EVERYTHING }] },
    'tools/call': ({ name }) => ({ content: [{ type: 'text', text: EVERYTHING }, { type: 'resource_link', name: EVERYTHING, uri: 'x://y' }, { type: 'resource', resource: { uri: `x://${EVERYTHING}`, text: EVERYTHING } }], isError: name.endsWith('fail') })
  };
  const upstream = own(await startCanary(speaking(results)));
  const broken = own(await startCanary(({ body }) => [200, { 'content-type': 'application/json' }, JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(body || '{}').id ?? null, error: { code: -32000, message: EVERYTHING } })]));
  const upstreams = [{ name: 'plain', url: `${upstream.origin}/mcp` }, { name: 'up', url: `${upstream.origin}/mcp`, trust: 'pin', fail_fast_on_startup: false }, { name: 'broken', url: `${broken.origin}/mcp`, fail_fast_on_startup: false }];
  const gateway = own(await startGateway({ upstreams, env: { PROTEUS_ADMIN_SECRET: SECRET }, log: { level: 'debug' } }));
  return { upstream: `${upstream.origin}/mcp`, broken: `${broken.origin}/mcp`, gateway };
}

const of = (stage) => ['--server', new URL(stage.gateway.url).origin];

const COMMANDS = {
  'client list': (stage) => ['client', 'list', stage.upstream],
  'client call': (stage) => ['client', 'call', stage.upstream, 'say', '{}'],
  'client call of a tool that fails': (stage) => ['client', 'call', stage.upstream, 'fail', '{}'],
  'client call of a server that answers with an error': (stage) => ['client', 'call', stage.broken, 'say', '{}'],
  'client call of a name from elsewhere': (stage) => ['client', 'call', stage.upstream, `x${NASTY['a window title']}`, '{}'],
  'tools diff': (stage) => ['tools', 'diff', ...of(stage)],
  'tools list': (stage) => ['tools', 'list', ...of(stage)]
};

export const cases = () => [
  ...Object.entries(COMMANDS).map(([what, args]) => ({
    tried: `escapes, controls and invisible characters in \`${what}\``,
    run: async (stage) => {
      const shown = await onTerminal(args(stage), { PROTEUS_ADMIN_SECRET: SECRET });
      assert.ok(shown.includes('pwned'), `it does not show what the stranger wrote: ${shown}`);
      assertHarmless(shown, what);
      return `${Object.keys(NASTY).length} kinds, ${shown.length} characters`;
    }
  })),
  {
    tried: 'results under ids that nobody waits for, by JSON, by events and from a program: the log has nothing of them',
    run: async ({ own }) => {
      const result = { resultType: 'complete', content: [{ type: 'text', text: 'of-somebody-else' }] };
      const answered = (id, content) => JSON.stringify({ jsonrpc: '2.0', id, result: { ...result, ...(content ? { content } : {}) } });
      const plain = speaking({ 'tools/list': { tools: [tool('wrong')] } });
      const wrong = (asEvents) => (one) => {
        const { id, method } = JSON.parse(one.body);
        if (method !== 'tools/call') return plain(one);
        if (!asEvents) return [200, { 'content-type': 'application/json' }, answered(424242)];
        return [200, { 'content-type': 'text/event-stream' }, [answered(424242), answered('other'), answered(id, [])].map((text) => `data: ${text}\n\n`).join('')];
      };
      const [json, events] = [own(await startCanary(wrong(false))), own(await startCanary(wrong(true)))];
      const upstreams = [
        { name: 'json', url: `${json.origin}/mcp`, timeout: '2s' },
        { name: 'events', url: `${events.origin}/mcp` },
        { name: 'program', command: ['python3', join(root, 'tests/fixtures/stdio_server.py'), '--era', 'modern'] }
      ];
      const gateway = own(await startGateway({ upstreams, log: { level: 'debug' } }));
      for (const { name } of upstreams) await (await send(gateway.url, 'tools/call', { name: `${name}_wrong`, arguments: {} })).text();
      await eventually('they are logged', () => ['events', 'program'].every((name) => new RegExp(`upstream ${name}: an answer to no request`).test(gateway.log())));
      assert.ok(!gateway.log().includes('of-somebody-else'), gateway.log().split('\n').find((line) => line.includes('of-somebody-else')));
      return `${upstreams.length} upstreams`;
    }
  },
  {
    tried: 'the same in the log',
    run: async ({ gateway }) => {
      await eventually('the fault is logged', () => /broken/.test(gateway.log()));
      assertHarmless(gateway.log(), 'the log');
    }
  }
];
