// The official clients sign in with their own code, at a certified provider with a headless user, and use the gateway.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { DpopSession } from '@modelcontextprotocol/client';

import { CLIENTS } from './support/clients.mjs';
import { startProtected } from './support/identity.mjs';
import { callStepping, connectSignedIn, PersonAtClient } from './support/oauth_client.mjs';
import { eventually } from './support/programs.mjs';
import { runningPrograms } from './support/programs_of_suite.mjs';

const SCOPES = ['tools', 'reports:write', 'reports:delete'];
const RULES = [
  { match: { groups: ['ops'] }, upstreams: ['*'] },
  { match: { groups: ['staff'] }, tools: ['read_*', 'write_*'] }
];
const PEOPLE = { ada: { groups: ['ops'] }, bob: { groups: ['staff'] } };
const SHAPES = {
  tools: [
    { match: ['write_*'], scopes: ['reports:write'] },
    { match: ['delete_*'], scopes: ['reports:write', 'reports:delete'] }
  ]
};

const scopesIn = (url) => new Set(url.searchParams.get('scope').split(' '));

describe('an official client and a person who signs in', () => {
  let parts;
  runningPrograms(async (programs) => {
    parts = await startProtected(programs, { provider: { scopes: SCOPES, people: PEOPLE }, issuer: { scopes: ['tools'] }, rules: RULES, upstream: SHAPES });
  });

  for (const client of CLIENTS) {
    test(`OAU-16 OAU-04 OAU-06 OAU-08 ${client.name}: is refused, signs in, sees what its rule allows, steps up, and is answered`, async () => {
      const { gateway, upstream, resource } = parts;
      const person = new PersonAtClient('bob');
      const session = await connectSignedIn(client, gateway.url, person);
      assert.equal(person.asked.length, 1);
      assert.equal(person.asked[0].searchParams.get('resource'), resource);
      assert.deepEqual(scopesIn(person.asked[0]), new Set(['tools']));
      assert.deepEqual(await session.toolNames(), ['read_report', 'write_report']);

      const before = upstream.called.length;
      const result = await callStepping(session, person, 'write_report', { of: client.name });
      assert.deepEqual(result.structuredContent, { tool: 'write_report', arguments: { of: client.name } });
      assert.equal(person.asked.length, 2, 'it asked its person once more');
      assert.deepEqual(scopesIn(person.asked[1]), new Set(['tools', 'reports:write']));
      // The refused call did not reach the upstream.
      assert.deepEqual(upstream.called.slice(before), ['write_report']);
      // A tool that the rule does not allow does not exist, whatever the scopes.
      await assert.rejects(session.call('delete_report'), /delete_report/);
      assert.equal(person.asked.length, 2);
      await session.close();
    });

    test(`OAU-08 ${client.name}: is told all the scopes that a call needs at once`, async () => {
      const person = new PersonAtClient('ada');
      const session = await connectSignedIn(client, parts.gateway.url, person);
      const result = await callStepping(session, person, 'delete_report', { of: client.name });
      assert.equal(result.structuredContent.tool, 'delete_report');
      assert.deepEqual(scopesIn(person.asked[1]), new Set(SCOPES));
      assert.equal(person.asked.length, 2);
      await session.close();
    });
  }
});

describe('a token that ends while its client works', () => {
  let parts;
  runningPrograms(async (programs) => {
    parts = await startProtected(programs, {
      provider: { scopes: SCOPES, people: PEOPLE, refreshTokens: true, expiresIn: 2 },
      issuer: { scopes: ['tools'] },
      rules: RULES
    });
  });

  for (const client of CLIENTS) {
    test(`OAU-10 OAU-16 ${client.name}: is renewed, and the session goes on`, async () => {
      const person = new PersonAtClient('ada', { renewable: true });
      const session = await connectSignedIn(client, parts.gateway.url, person);
      const { sessionId } = session.transport;
      assert.equal(sessionId !== undefined, client.era === 'legacy');
      const tokens = person.saved.length;
      await eventually('a renewed token', async () => {
        assert.deepEqual(await session.toolNames(), ['delete_report', 'read_report', 'write_report']);
        return person.saved.length > tokens;
      });
      assert.equal((await session.call('read_report')).structuredContent.tool, 'read_report');
      assert.equal(session.transport.sessionId, sessionId);
      assert.equal(session.sent.filter(({ method }) => method === 'initialize').length, client.era === 'legacy' ? 1 : 0);
      assert.equal(person.asked.length, 1, 'nobody was asked again');
      await session.close();
    });
  }
});

describe('an official client with proofs of possession', () => {
  let parts;
  runningPrograms(async (programs) => {
    parts = await startProtected(programs, { provider: { scopes: SCOPES, people: PEOPLE }, issuer: { scopes: ['tools'], dpop: 'require' }, rules: RULES });
  });

  for (const client of CLIENTS.filter(({ name }) => name.includes('v2'))) {
    test(`OAU-11 OAU-16 ${client.name}: signs in where proofs are required`, async () => {
      const dpop = await DpopSession.create();
      const person = new PersonAtClient('ada', { dpop });
      const session = await connectSignedIn(client, parts.gateway.url, person);
      assert.equal(person.tokens().token_type.toLowerCase(), 'dpop');
      assert.equal((await session.toolNames()).length, 3);
      assert.equal((await session.call('read_report')).structuredContent.tool, 'read_report');
      await session.close();
    });
  }
});
