// Operators who sign in as callers do.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { ADMIN_SECRET, quotes, startProtected, statusOf } from './support/identity.mjs';
import { runningPrograms } from './support/programs_of_suite.mjs';

describe('an operator with an identity', () => {
  let parts;
  runningPrograms(async (programs) => {
    parts = await startProtected(programs, {
      provider: { people: { ada: { groups: ['admins'] }, bob: { groups: ['viewers'] }, eve: { groups: ['callers'] } } },
      rules: [
        { match: { groups: ['admins'] }, admin: 'admin', name: 'operator {sub}' },
        { match: { groups: ['viewers'] }, admin: 'viewer' },
        { match: { groups: ['callers'] } }
      ]
    });
  });
  const use = async (token, method, path, headers = {}) => {
    const response = await fetch(parts.at(path), { method, headers: { ...(token ? { authorization: `Bearer ${token}` } : {}), ...headers } });
    return { status: response.status, text: await response.text(), challenge: response.headers.get('www-authenticate') };
  };
  const operatorToken = (subject, path = '/admin') => parts.provider.tokenFor({ subject, resource: parts.at(path) });

  test('OAU-13 an admin looks and changes, and the audit names the subject', async () => {
    const token = await operatorToken('ada');
    assert.equal((await use(token, 'GET', '/admin/upstreams')).status, 200);
    assert.equal((await use(token, 'POST', '/admin/upstreams/reports/refresh')).status, 200);
    const { text } = await use(undefined, 'GET', '/admin/audit', { 'x-admin-secret': ADMIN_SECRET });
    assert.match(text, /operator ada/);
    assert.ok(!quotes(text, token));
  });

  test('OAU-13 a viewer looks and changes nothing', async () => {
    const token = await operatorToken('bob');
    assert.equal((await use(token, 'GET', '/admin/upstreams')).status, 200);
    assert.equal((await use(token, 'POST', '/admin/upstreams/reports/refresh')).status, 403);
  });

  test('OAU-13 whom no rule names an operator gets nowhere', async () => {
    assert.equal((await use(await operatorToken('eve'), 'GET', '/admin/upstreams')).status, 403);
  });

  test('OAU-05 a token for the endpoints does not administer, and one for the admin API does not call', async () => {
    for (const path of ['/mcp', '/']) {
      const { status, challenge } = await use(await parts.provider.tokenFor({ subject: 'ada', resource: parts.at(path).replace(/\/$/, '') }), 'GET', '/admin/upstreams');
      assert.equal(status, 401, path);
      assert.match(challenge, /^Bearer .*oauth-protected-resource\/admin/);
    }
    assert.equal(await statusOf(parts.gateway.url, await operatorToken('ada')), 401);
  });

  test('OAU-13 the admin secret goes on working', async () => {
    assert.equal((await use(undefined, 'GET', '/admin/upstreams', { 'x-admin-secret': ADMIN_SECRET })).status, 200);
  });
});
