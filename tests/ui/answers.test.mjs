// Compares what routes declare as their answers with what they answer. The page's types are made from the declarations.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { LegacySession } from '../e2e/support/legacy_raw.mjs';
import { faultOf } from './support/answer_types.mjs';
import { SECRET, startWorld, tool } from './support/world.mjs';

describe('answers and their types', () => {
  let world;
  let tables;
  before(async () => {
    world = await startWorld();
    tables = await (await fetch(`${world.origin}/admin`, { headers: { 'x-admin-secret': SECRET } })).json();
    world.files.tools = [tool('read_file', 'Reads another file.', { to: { type: 'number' } }), tool('new', 'Is new.')];
    for (const name of ['files', 'shop', 'hostile']) await world.admin('POST', `upstreams/${name}/refresh`);
  });
  after(() => world?.stop());

  const ask = async (route, { path = {}, query = '', body } = {}) => {
    const [method, pattern] = route.split(' ');
    const answer = await fetch(`${world.origin}${pattern.replace(/\{(\w+)\}/g, (_, name) => path[name])}${query}`, { method, headers: { 'x-admin-secret': SECRET }, body: body && JSON.stringify(body) });
    const value = await answer.json();
    assert.ok(answer.ok, `${route}: ${JSON.stringify(value)}`);
    return value;
  };
  const holds = async (route, asked) => {
    const { answer } = tables.routes.find(({ method, path }) => `${method} ${path}` === route);
    assert.ok(answer, `${route} does not say what it answers`);
    const value = await ask(route, asked);
    assert.equal(faultOf(tables.types, answer, value, route), undefined);
    return value;
  };

  // Tool sessions are for back ends, and the page reads no answer of the others.
  const UNTYPED = [
    'GET /admin', 'GET /admin/catalog/tools', 'GET /admin/contexts/{name}/tools', 'GET /admin/tools/list', 'POST /admin/proposals/{id}/ratify',
    'POST /admin/proposals/{id}/reject', 'POST /admin/session/init', 'POST /admin/tools/register', 'POST /admin/tools/unregister'
  ];

  test('UIX-01 every type can be read, and every route of the page has one', () => {
    const untyped = tables.routes.filter(({ answer }) => !answer).map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(untyped.filter((route) => !UNTYPED.includes(route)), []);
    for (const [name, text] of Object.entries(tables.types)) faultOf(tables.types, text, {}, name);
    for (const { answer } of tables.routes.filter((one) => one.answer)) faultOf(tables.types, answer, {}, answer);
    assert.throws(() => faultOf(tables.types, '{ a: Nothing }', {}, 'x'));
    assert.match(faultOf(tables.types, '{ a: string[] }', { a: [1] }, 'x'), /x\.a\[0\] is 1/);
  });

  test('UIX-01 what is looked at is as its route says', async () => {
    for (const route of tables.routes.filter(({ method, answer, path }) => method === 'GET' && answer && !path.includes('{'))) {
      const query = { '/admin/why': '?name=files_new', '/admin/search': '?q=file', '/admin/changes': '?since=0' }[route.path] ?? '';
      await holds(`GET ${route.path}`, { query });
    }
    await holds('GET /admin/upstreams/{name}', { path: { name: 'shop' } });
    await holds('GET /admin/upstreams/{name}', { path: { name: 'away' } });
    await ask('PATCH /admin/upstreams/{name}', { path: { name: 'hostile' }, body: { timeout: '9s' } });
    assert.equal((await holds('GET /admin/upstreams/{name}', { path: { name: 'hostile' } })).origin, 'override');
    await holds('GET /admin/tokens/{name}', { path: { name: 'ci' } });
    assert.ok((await ask('GET /admin/proposals')).proposals.length > 0);
    assert.ok((await ask('GET /admin/changes', { query: '?since=0' })).changes.length > 0);
  });

  test('UIX-01 so is what changes something', async () => {
    await holds('POST /admin/upstreams/{name}/refresh', { path: { name: 'files' } });
    await holds('POST /admin/upstreams', { body: { name: 'more', url: world.files.url } });
    await holds('PATCH /admin/upstreams/{name}', { path: { name: 'more' }, body: { timeout: '9s' } });
    await holds('POST /admin/preview', { body: { upstream: 'more', settings: null } });
    await holds('DELETE /admin/upstreams/{name}', { path: { name: 'more' } });
    await holds('POST /admin/tokens', { body: { name: 'made' } });
    await holds('POST /admin/tokens/{name}/rotate', { path: { name: 'made' } });
    await holds('DELETE /admin/tokens/{name}', { path: { name: 'made' } });
    await LegacySession.open(world.gateway.url, 'token of the agent');
    const [{ id }] = (await ask('GET /admin/sessions')).client_sessions.newest;
    await holds('DELETE /admin/sessions/{id}', { path: { id } });
    await ask('POST /admin/session/init', { body: { session_id: 'checkout', user_token: 'token-of-a-tool-session', user_id: 1 } });
    await holds('POST /admin/session/cleanup', { body: { session_id: 'checkout' } });
    await holds('POST /admin/try', { body: { as: 'ci' } });
    await holds('POST /admin/principals/match', { body: { sub: 'x' } });
  });
});
