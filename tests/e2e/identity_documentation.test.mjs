// docs/identity.md: each configuration starts, and the token next to it matches the rule that the page names.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { makeFolder } from './support/children.mjs';
import { blocks } from './support/documentation.mjs';
import { ADMIN_SECRET, matchClaims, statusOf } from './support/identity.mjs';
import { startIdentityProvider } from './support/identity_provider.mjs';
import { startServer } from './support/programs.mjs';
import { runningPrograms } from './support/programs_of_suite.mjs';

const PAGE = 'docs/identity.md';

/** What the page says about each token, in the order of the page. */
const SAID = [
  { of: 'the short one', rule: 1, name: 'u-17', access: { read_only: true } },
  { of: 'Keycloak', rule: 1, name: 'kim', access: { read_only: false } },
  { of: 'Entra ID', rule: 1, name: 'kim@example.com', access: { deny: ['*delete*'] } },
  { of: 'Okta', rule: 1, name: 'kim@example.com', access: { tools: ['reports_*'] } },
  { of: 'Auth0', rule: 2, name: 'auth0|65f1c0ffee', access: { read_only: true } }
];

/** Other callers on the page, by how their token differs from the one on the page, with the rule that matches. */
const OTHERS = {
  Keycloak: [
    [{ realm_access: { roles: ['gateway-admin'] } }, 0],
    [{ groups: [] }, 2],
    [{ scope: 'profile', groups: ['ops'] }, null]
  ],
  'Entra ID': [
    [{ roles: ['Gateway.Operator'], scp: undefined }, 0],
    [{ scp: 'other' }, null],
    [{ tid: 'another-tenant' }, null]
  ],
  Okta: [
    [{ groups: ['gateway-finance', 'gateway-ops'] }, 0],
    [{ groups: ['everyone'] }, null]
  ],
  Auth0: [
    [{ 'https://tools.example.com/roles': ['operator'] }, 0],
    [{ permissions: ['tools:read', 'tools:write'] }, 1],
    [{ permissions: [] }, null]
  ]
};

/** Returns each token with the configuration before it. */
function examples() {
  let configuration;
  const found = [];
  for (const { language, text, at } of blocks(PAGE)) {
    if (language === 'toml') configuration = text;
    if (language === 'json') found.push({ configuration, claims: JSON.parse(text), at });
  }
  return found;
}

test('OAU-06 each token of the page is one that is tried', () => {
  assert.equal(examples().length, SAID.length);
});

for (const [index, { configuration, claims, at }] of examples().entries()) {
  const { of, rule, name, access } = SAID[index] ?? {};
  describe(`${at}, ${of}`, () => {
    let provider;
    let gateway;
    runningPrograms(async (programs) => {
      provider = await startIdentityProvider();
      programs.push(provider);
      const folder = makeFolder();
      const file = join(folder, 'proteus.toml');
      const [, issuer] = /^issuer = "(.*)"$/m.exec(configuration);
      assert.equal(claims.iss, issuer);
      writeFileSync(file, configuration.replaceAll(`"${issuer}"`, `"${provider.issuer}"`));
      const args = ['serve', '--config', file, '--listen', '127.0.0.1:0', '--data', join(folder, 'data')];
      gateway = await startServer('proteus', args, { env: { PROTEUS_ADMIN_SECRET: ADMIN_SECRET } });
      programs.push(gateway);
    });

    test('OAU-06 the rule that the page names fits', async () => {
      const answer = await matchClaims(gateway, { ...claims, iss: provider.issuer });
      assert.equal(answer.rule, rule);
      assert.equal(answer.name, name);
      for (const [key, value] of Object.entries(access)) assert.deepEqual(answer.access[key] ?? false, value, key);
    });

    for (const [different, expected] of OTHERS[of] ?? []) {
      test(`OAU-06 with ${JSON.stringify(different)} it is ${expected === null ? 'none' : `rule ${expected}`}`, async () => {
        assert.equal((await matchClaims(gateway, { ...claims, ...different, iss: provider.issuer })).rule, expected);
      });
    }

    test('OAU-01 OAU-05 such a token, signed as such issuers sign, is accepted', async () => {
      const now = Math.floor(Date.now() / 1000);
      const token = await provider.sign({ ...claims, iss: provider.issuer, iat: now, nbf: now, exp: now + 300 }, { header: { typ: 'JWT' } });
      assert.equal(await statusOf(gateway.url, token), 200);
    });
  });
}
