// What the page shows, as functions of the admin API's answers.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';

import { events } from '../../ui/src/api/mcp.ts';
import { asCurl, asToml } from '../../ui/src/presentation/commands.ts';
import { structure, words } from '../../ui/src/presentation/diff.ts';
import { pasted } from '../../ui/src/presentation/pasted.ts';
import { aloneIn, callsOf, latencyOf } from '../../ui/src/presentation/figures.ts';
import { graphOf, pathOf } from '../../ui/src/presentation/graph.ts';
import { lines } from '../../ui/src/presentation/preview.ts';
import { disconnectionNotice } from '../../ui/src/presentation/connections.ts';
import { compare, listed } from '../../ui/src/presentation/contexts.ts';
import { endingNotice, removalNotice } from '../../ui/src/presentation/sessions.ts';
import { logged, MOST_MESSAGES, NO_MESSAGES } from '../../ui/src/presentation/messages.ts';
import { upstreamIn } from '../../ui/src/presentation/paths.ts';
import { settingText, settingValue } from '../../ui/src/presentation/settings.ts';
import { about, revocationNotice, uses } from '../../ui/src/presentation/tokens.ts';
import { choicesOf, initial, kindOf, numberOf, resolved, variantFor } from '../../ui/src/presentation/schema.ts';
import { pieces, visible } from '../../ui/src/presentation/text.ts';
import { ago } from '../../ui/src/presentation/time.ts';
import { auditEntryFits, timelineEvents } from '../../ui/src/presentation/timeline.ts';
import { fits as callFits, outcomeOf, took } from '../../ui/src/presentation/calls.ts';
import { needs, settingsOf } from '../../ui/src/presentation/upstreams.ts';

const told = (all) => all.map(({ text, change }) => (change === 'same' ? text : `${change === 'added' ? '+' : '-'}[${text}]`)).join('');
const side = (all, without) => all.filter((word) => word.change !== without).map((word) => word.text).join('');

describe('differences', () => {
  test('UIX-08 UIX-07 words that changed, and no others', () => {
    assert.equal(told(words('Pays a small amount.', 'Pays a huge amount now.')), 'Pays a -[small]+[huge] -[amount.]+[amount now.]');
    assert.equal(told(words('', 'new')), '+[new]');
    assert.equal(told(words('same', 'same')), 'same');
  });

  test('UIX-08 both texts can be read out of a difference, whatever they are', () => {
    let seed = 7;
    const random = (below) => (seed = (seed * 48271) % 2147483647) % below;
    for (let round = 0; round < 300; round += 1) {
      const text = () => Array.from({ length: random(12) }, () => ['a', 'b', 'c d', '\n', ' '][random(5)]).join(random(2) ? ' ' : '');
      const [before, after] = [text(), text()];
      const all = words(before, after);
      assert.equal(side(all, 'added'), before);
      assert.equal(side(all, 'removed'), after);
    }
  });

  test('UIX-08 long texts cost no more than their length', () => {
    const all = words('a '.repeat(100_000), 'b '.repeat(100_000));
    assert.ok(all.length < 5);
  });

  test('UIX-08 values that changed, by where they stand', () => {
    const before = { type: 'object', properties: { to: { type: 'string' }, gone: {} }, required: ['to'] };
    const after = { type: 'object', properties: { to: { type: 'number' }, note: {} }, required: [] };
    assert.deepEqual(structure(before, after), [
      { path: ['properties', 'to', 'type'], before: 'string', after: 'number' },
      { path: ['properties', 'gone'], before: {} },
      { path: ['properties', 'note'], after: {} },
      { path: ['required'], before: ['to'], after: [] }
    ]);
  });
});

describe('text of strangers', () => {
  test('UIX-02 nothing stays invisible', () => {
    assert.equal(visible('a\u202eb\u200bc\u0007'), 'a⟨U+202E⟩b⟨U+200B⟩c⟨U+0007⟩');
    assert.equal(visible('two\r\nlines\tand 漢字 é 🙂'), 'two\nlines\tand 漢字 é 🙂');
    assert.deepEqual(pieces('\u{e0041}'), [{ text: 'U+E0041', unseen: true }]);
  });

  test('UIX-02 exactly the characters that the gateway escapes are shown as codes', () => {
    const source = readFileSync(new URL('../../src/base/text/visible_text.cpp', import.meta.url), 'utf8');
    const table = /kUnseen = \{\{([^;]*)\}\};/.exec(source)[1];
    const ranges = [...table.matchAll(/\{0x(\w+), *0x(\w+)\}/g)].map(([, ...ends]) => ends.map((end) => Number.parseInt(end, 16)));
    assert.ok(ranges.length > 20, 'the table can be read');
    // The styles U+FE0E and U+FE0F depend on what precedes them.
    const characters = Array.from({ length: 0x110000 }, (_, code) => code).filter((code) => (code < 0xd800 || code > 0xdfff) && code !== 0xfe0e && code !== 0xfe0f);
    const expected = characters.filter((code) => (code < 0x20 ? code !== 9 && code !== 10 : code === 0x7f || ranges.some(([first, last]) => code >= first && code <= last)));
    const hidden = pieces(characters.map((code) => String.fromCodePoint(code)).join('')).filter((piece) => piece.unseen);
    assert.deepEqual(hidden.map((piece) => Number.parseInt(piece.text.slice(2), 16)), expected);
  });

  test('UIX-02 a style selector is shown as a code unless a character precedes that it could style', () => {
    assert.equal(visible('\u2764\ufe0f 1\ufe0e'), '\u2764\ufe0f 1\ufe0e');
    assert.equal(visible('\ufe0fa \ufe0eb\n\ufe0f'), '⟨U+FE0F⟩a ⟨U+FE0E⟩b\n⟨U+FE0F⟩');
    assert.equal(visible('a\ufe0f\ufe0e\ufe0f'), 'a\ufe0f⟨U+FE0E⟩⟨U+FE0F⟩');
  });

  test('dates that are none are shown as they came', () => {
    assert.equal(ago('yesterday-ish', 0), 'yesterday-ish');
    assert.equal(ago(null, 0), 'never');
    assert.equal(ago('1970-01-01T00:00:00Z', 7_200_000), '2 hours ago');
  });
});

describe('commands', () => {
  test('UIX-18 an action as curl and as TOML', () => {
    assert.equal(
      asCurl('http://h', 'PATCH', '/admin/upstreams/a', { append: "it's" }),
      `curl -X PATCH http://h/admin/upstreams/a -H "X-Admin-Secret: $SECRET" -d '{"append":"it'\\''s"}'`
    );
    assert.equal(asToml('a', { command: ['x', 'y'], environment: { A: '1' }, timeout: null }), '[[upstreams]]\nname = "a"\ncommand = ["x", "y"]\nenvironment = { A = "1" }');
  });
});

describe('what is pasted', () => {
  test('UIX-16 a URL, a command, or an mcpServers file', () => {
    assert.deepEqual(pasted('https://mcp.linear.app/mcp', '').upstreams, [{ name: 'linear', url: 'https://mcp.linear.app/mcp' }]);
    assert.deepEqual(pasted('npx -y "@modelcontextprotocol/server-files" "/tmp/a b"', '').upstreams, [
      { name: 'files', command: ['npx', '-y', '@modelcontextprotocol/server-files', '/tmp/a b'] }
    ]);
    const file = { mcpServers: { 'My Files': { command: 'npx', args: ['-y', 'x'], env: { KEY: '1' } }, web: { url: 'https://a.example/mcp', headers: { Authorization: 'Bearer t', 'X-Other': '1' } } } };
    const { upstreams, notes } = pasted(JSON.stringify(file), '');
    assert.deepEqual(upstreams, [
      { name: 'my-files', command: ['npx', '-y', 'x'], environment: { KEY: '1' } },
      { name: 'web', url: 'https://a.example/mcp', authentication: { type: 'bearer', token: 't' } }
    ]);
    assert.match(notes[0], /X-Other/);
    assert.throws(() => pasted('{"a":', ''), /not valid JSON/);
    assert.throws(() => pasted('{}', ''), /no server/);
  });
});

describe('upstreams', () => {
  const upstream = (name, more = {}) => ({ name, state: 'connected', circuit: 'closed', ...more });
  test('UIX-03 what is broken comes before what waits', () => {
    const all = needs(
      [upstream('a', { shadowed: [{}] }), upstream('b', { circuit: 'open' }), upstream('c', { state: 'failed', last_error: 'refused' }), upstream('d')],
      [{ upstream: 'd', breaking: true }]
    );
    assert.deepEqual(all.map((one) => one.upstream), ['c', 'b', 'd', 'a']);
    assert.equal(all[2].text, '1 proposal to decide, 1 of them breaking.');
  });

  test('UIX-03 proposals without room are said to have none', () => {
    const pins = { ratified: 1, proposals: 100_000, rejected: 0, blocked: 0, unkept: 2 };
    assert.match(needs([upstream('a', { pins })], [])[0].text, /no room for 2 proposals/);
    assert.deepEqual(needs([upstream('a', { pins: { ...pins, unkept: 0 } })], []), []);
  });

  test('UIX-04 settings go by the names that a change takes', () => {
    const shown = { name: 'a', id: '1', state: 'connected', era: 'modern', configured_era: 'auto', tools: 3, configured_tools: [], timeout: '30s' };
    assert.deepEqual(settingsOf(shown), [['name', 'a'], ['era', 'auto'], ['tools', []], ['timeout', '30s']]);
  });

  test('UIX-04 an empty field resets a setting of any type, and two quotes are an empty string', () => {
    for (const before of ['files_', '', 3, true, ['a'], { type: 'none' }]) {
      assert.equal(settingValue(' ', before), null);
      assert.deepEqual(settingValue(settingText(before), before), before);
    }
    assert.deepEqual([settingText(''), settingText('30s'), settingText(['a'])], ['""', '30s', '["a"]']);
    assert.deepEqual([settingValue('""', 'files_'), settingValue('12', '30s'), settingValue('12', 3), settingValue('2h', 3)], ['', '12', 12, '2h']);
  });
});

describe('tokens, and what ended', () => {
  const open = { contexts: ['*'], upstreams: ['*'], tools: ['*'], deny: [], read_only: false, requests_per_minute: 0, disclosure: 'all' };
  test('UIX-12 what a token may use is each limit that it has', () => {
    assert.equal(uses(open), 'everything');
    assert.equal(uses({ ...open, contexts: ['', 'reading'] }), 'contexts /mcp, reading');
    assert.equal(uses({ ...open, tools: ['*', 'prompt:x*'] }), 'tools *, prompt:x*');
    assert.equal(
      uses({ contexts: [], upstreams: ['bank'], tools: ['a', 'b*'], deny: ['c'], read_only: true, requests_per_minute: 1, disclosure: 'search' }),
      'upstreams bank · tools a, b* · contexts none · not c · read only · lists only search tools · 1 request a minute'
    );
  });

  test('UIX-12 a token that failed shows why, and not what it may use', () => {
    const token = { name: 'ci', origin: 'runtime', state: 'failed', last_error: 'its hash cannot be read', ...open };
    assert.deepEqual(about(token), { text: 'its hash cannot be read', failed: true });
    assert.deepEqual(about({ ...token, state: 'active' }), { text: 'everything', failed: false });
    assert.deepEqual(about({ name: 'ci', origin: 'file', state: 'active' }), { text: 'as the configuration says', failed: false });
  });

  test('UIX-09 UIX-12 what ended is said to be unfinished only where it is', () => {
    assert.match(revocationNotice({ name: 'ci', durable: false }), /^ci is refused .* retries; until it succeeds, a restart brings the token back/);
    assert.match(endingNotice({ id: 'client-1', durable: false }), /^client-1 has ended.*audit/);
    assert.match(removalNotice({ session_id: 'checkout', durable: false }), /^checkout has ended.*a restart brings the session back/);
    const ended = { upstream: 'notes', last_error: 'the authorization server offers no revocation' };
    assert.match(disconnectionNotice({ ...ended, revoked: false }), /notes has ended.*not revoked.*: the authorization server offers no revocation\./);
    assert.deepEqual([revocationNotice({ name: 'ci' }), endingNotice({}), removalNotice({}), disconnectionNotice({ ...ended, revoked: true })], [undefined, undefined, undefined, undefined]);
  });

  test('UIX-11 a context says which tools it lists, unless it lists all', () => {
    assert.equal(listed({ disclosure: 'all' }), undefined);
    assert.equal(listed({ disclosure: 'search', always: ['git_*'] }), 'only the search tools, git_*');
  });

  test('UIX-11 contexts side by side: a tool is called absent only where the whole list is known', () => {
    const entry = (name, description = '') => ({ name, description, description_bytes: description.length });
    const whole = { total: 2, entries: [entry('a'), entry('b', 'Other words.')] };
    const part = { total: 3, entries: [entry('b'), entry('c')] };
    assert.deepEqual(compare([whole, part]), [
      { name: 'a', shown: ['same', 'unknown'] },
      { name: 'b', shown: ['same', 'other description'] },
      { name: 'c', shown: ['absent', 'same'] }
    ]);
  });
});

describe('forms of schemas', () => {
  test('UIX-06 each place of a schema has a control that fits it', () => {
    const kinds = [
      [{ type: 'string' }, 'text'], [{ type: ['string', 'null'] }, 'text'], [{ type: 'integer' }, 'number'], [{ type: 'boolean' }, 'boolean'], [{ enum: ['a', 1] }, 'choice'],
      [{ const: 1 }, 'fixed'], [{ oneOf: [{ const: 'a', title: 'A' }] }, 'choice'], [{ oneOf: [{ type: 'string' }, { type: 'object' }] }, 'variants'],
      [{ properties: {} }, 'object'], [{ type: 'object' }, 'json'], [{ type: 'array', items: {} }, 'list'], [{ type: 'array' }, 'json'], [{}, 'json'], [{ type: ['string', 'number'] }, 'json']
    ];
    for (const [schema, kind] of kinds) assert.equal(kindOf(schema), kind, JSON.stringify(schema));
    assert.equal(kindOf({ type: 'object', properties: {} }, 8), 'json');
    assert.deepEqual(choicesOf({ oneOf: [{ const: 'a', title: 'A' }] }), [{ value: 'a', word: 'A' }]);
  });

  test('UIX-06 a form begins with defaults, and with what must be there', () => {
    const schema = { type: 'object', required: ['a', 'c'], properties: { a: { type: 'boolean' }, b: { default: 3 }, c: { type: 'object', required: ['d'], properties: { d: { const: 'x' } } }, e: { type: 'string' } } };
    assert.deepEqual(initial(schema, schema, true), { a: false, b: 3, c: { d: 'x' } });
  });

  test('UIX-06 references stay within the schema, and end', () => {
    const root = { $defs: { a: { $ref: '#/$defs/b' }, b: { type: 'string' }, loop: { $ref: '#/$defs/loop' }, 'x/y': { type: 'number' } } };
    assert.deepEqual(resolved({ $ref: '#/$defs/a', title: 'T' }, root), { type: 'string', title: 'T' });
    assert.equal(resolved({ $ref: '#/$defs/x~1y' }, root).type, 'number');
    assert.deepEqual(resolved({ $ref: 'https://elsewhere.example/s' }, root), {});
    assert.deepEqual(resolved({ $ref: '#/$defs/none' }, root), {});
    resolved({ $ref: '#/$defs/loop' }, root);
    const endless = { type: 'object', required: ['next'], properties: { next: { $ref: '#' } } };
    initial(endless, endless, true);
  });

  test('UIX-06 numbers, and the variant that a value has', () => {
    assert.deepEqual([numberOf(''), numberOf('1.5'), numberOf('x')], [undefined, 1.5, 'x']);
    const variants = [{ type: 'object', properties: { kind: { const: 'a' } } }, { type: 'object', properties: { kind: { const: 'b' } } }, { type: 'string' }];
    assert.deepEqual([variantFor(variants, { kind: 'b' }, {}), variantFor(variants, 'x', {}), variantFor(variants, 7, {})], [1, 2, 0]);
  });
});

describe('a call that is tried', () => {
  test('UIX-06 events arrive whole, wherever the stream is cut', async () => {
    const parts = ['data: {"a"', ':1', '}', '\n', '\ndata: 2\r\n\r', '\n: nothing\n\ndata: 3\n\n', 'data: cut off'];
    const body = ReadableStream.from(parts.map((part) => new TextEncoder().encode(part)));
    assert.deepEqual(await Array.fromAsync(events(body)), ['{"a":1}', '2', '3', 'cut off']);
  });

  test('UIX-06 of a flood of messages the first are kept and the others counted', () => {
    const flood = Array.from({ length: 100_000 }, (_, content) => ({ sent: false, content }));
    const log = flood.reduce(logged, NO_MESSAGES);
    assert.deepEqual([log.total, log.first], [100_000, flood.slice(0, MOST_MESSAGES)]);
    assert.equal(logged(log, flood[0]).first, log.first, 'a full log is not copied');
  });
});

describe('paths', () => {
  test('UIX-01 a path names an upstream only if it can be decoded', () => {
    assert.deepEqual(['/ui/upstreams/a%20b', '/admin/upstreams/a', '/ui/upstreams/%zz', '/ui/upstreams/a/refresh', '/ui/tools'].map(upstreamIn), ['a b', 'a', undefined, undefined, undefined]);
  });
});

describe('figures and graphs', () => {
  test('UIX-13 rates and means of what was counted', () => {
    const moments = [{ at: '2026-01-01T00:00:10Z', seconds: 10, requests: 5, failed: 1, mean_ms: 2 }, { at: '2026-01-01T00:00:20Z', seconds: 10, requests: 0, failed: 0, mean_ms: null }];
    const calls = callsOf(moments);
    assert.equal(calls.summary, '5 requests in 1 minute, 1 failed.');
    assert.deepEqual(calls.series.map((one) => one.values), [[30, 0], [6, 0]]);
    assert.equal(latencyOf(moments).summary, '2.0 ms on average.');
    assert.equal(latencyOf([]).summary, 'No request was measured.');
    assert.deepEqual(aloneIn([null, 1, null, 2, 3, null, 4]), [1, 6]);
  });

  test('UIX-10 types are drawn once, with all links between two of them on one line', () => {
    const graph = graphOf(['person', 'team'], [{ type: 'MEMBER_OF', from: 'person', to: 'team' }, { type: 'LEADS', from: 'person', to: 'team' }, { type: 'KNOWS', from: 'person', to: 'person' }, { type: 'X', from: 'person', to: 'none' }]);
    assert.deepEqual(graph.edges.map((edge) => edge.label), ['MEMBER_OF, LEADS', 'KNOWS']);
    for (const edge of graph.edges) assert.doesNotMatch(pathOf(edge), /NaN/);
    assert.ok(graphOf(Array.from({ length: 1000 }, (_, i) => `t${i}`), []).nodes.length < 30);
  });

  test('UIX-18 a preview says what cannot be known', () => {
    assert.match(lines({ affected: [], looked_at: 3, whole: true }).join(' '), /Nobody gains or loses anything; 3 views/);
    assert.match(lines({ affected: [], looked_at: 3, whole: true, unread: true }).join(' '), /not known until/);
    assert.match(lines({ affected: [{}], looked_at: 64, whole: false, becomes_live: true }).join(' '), /only the upstream knows.*first 64 views/);
  });
});

describe('what happened', () => {
  const change = (number, at) => ({ number, at, upstream: 'files', kinds: ['tools'], change: {} });
  const entry = (number, at, what, detail) => ({ number, at, who: 'admin', what, detail });

  test('UIX-07 what operators did stands beside what upstreams did, and before what it led to', () => {
    const all = timelineEvents(
      [change(1, '2026-01-01T00:00:01Z'), change(2, '2026-01-01T00:00:05Z')],
      [entry(9, '2026-01-01T00:00:05.700Z', 'upstream.patch', { name: 'files' }), entry(8, '2026-01-01T00:00:04Z', 'token.create', { name: 'ci' })]
    );
    assert.deepEqual(all.map((one) => (one.change ? `change ${one.change.number}` : one.auditEntry.what)), ['change 2', 'upstream.patch', 'change 1']);
    const patch = entry(9, '', 'upstream.patch', { name: 'files', keys: ['timeout'] });
    assert.deepEqual([auditEntryFits(patch, 'files', '', ''), auditEntryFits(patch, 'shop', '', ''), auditEntryFits(patch, '', 'TIMEOUT', ''), auditEntryFits(patch, '', '', 'breaking')], [true, false, true, false]);
  });

  test('UIX-13 calls by who made them, how they ended, and words', () => {
    const call = { number: 1, at: '', upstream: 'shop', principal: 'ci', context: '', method: 'tools/call', name: 'shop_pay', outcome: 'timeout', duration_ms: 3 };
    assert.deepEqual([callFits(call, 'ci', 'failed', 'pay'), callFits(call, 'ada', '', ''), callFits({ ...call, outcome: 'ok' }, '', 'failed', '')], [true, false, false]);
    assert.deepEqual([outcomeOf(call).word, outcomeOf({ ...call, outcome: 'ok' }).tone, took(0.42), took(12.6), took(65_432)], ['timeout', 'good', '0.4 ms', '13 ms', '65.4 s']);
  });
});
