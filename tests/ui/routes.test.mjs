// The page knows the admin API's routes, what they take and what they answer by ui/src/api/routes.ts, which is made from the
// gateway's own tables: UPDATE=1 writes it.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { startGateway } from '../e2e/support/gateway.mjs';
import { root } from '../e2e/support/programs.mjs';
import { SECRET } from './support/world.mjs';

const FILE = join(root, 'ui/src/api/routes.ts');

function written({ routes, types }) {
  const key = ({ method, path }) => `'${method} ${path}'`;
  const queries = routes.map((route) => `  ${key(route)}: ${route.parameters.map(({ name }) => `'${name}'`).join(' | ') || 'never'};`);
  const answers = routes.map((route) => `  ${key(route)}: ${route.answer ?? 'unknown'};`);
  return [
    '// The routes of the admin API, and the types of their answers. Made from GET /admin by tests/ui/routes.test.mjs.',
    ...Object.entries(types).map(([name, text]) => `export type ${name} = ${text.replaceAll('; ', ';\n  ').replace(/^\{ /, '{\n  ').replace(/ \}$/, ';\n}')};`),
    '',
    '// The names in the query of each route.',
    `export interface Routes {\n${queries.sort().join('\n')}\n}`,
    '',
    '// What each answers.',
    `export interface Answers {\n${answers.sort().join('\n')}\n}`,
    ''
  ].join('\n');
}

test('UIX-01 the page knows the routes that there are, what they take, and what they answer', async () => {
  const gateway = await startGateway({ env: { PROTEUS_ADMIN_SECRET: SECRET } });
  try {
    const tables = await (await fetch(new URL('/admin', gateway.url), { headers: { 'x-admin-secret': SECRET } })).json();
    if (process.env.UPDATE) writeFileSync(FILE, written(tables));
    assert.equal(readFileSync(FILE, 'utf8'), written(tables));
  } finally {
    await gateway.stop();
  }
});
