// The page knows the routes of the admin API, their parameters and their answers from ui/src/api/routes.ts, which is
// made from the gateway's own tables: UPDATE=1 writes it.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { startGateway } from '../e2e/support/gateway.mjs';
import { root } from '../e2e/support/programs.mjs';
import { stopAfter } from '../e2e/support/programs_of_suite.mjs';
import { SECRET } from './support/world.mjs';

const FILE = join(root, 'ui/src/api/routes.ts');

/** Puts each member of an object on its own line. */
function readable(text) {
  if (!text.startsWith('{ ')) return text;
  let depth = 0;
  const broken = text.slice(2, -2).replaceAll(/[{}]|; /g, (mark) => {
    depth += { '{': 1, '}': -1 }[mark] ?? 0;
    return mark === '; ' && depth === 0 ? ';\n  ' : mark;
  });
  return `{\n  ${broken};\n}`;
}

function written({ routes, types }) {
  const key = ({ method, path }) => `'${method} ${path}'`;
  const queries = routes.map((route) => `  ${key(route)}: ${route.parameters.map(({ name }) => `'${name}'`).join(' | ') || 'never'};`);
  const answers = routes.map((route) => `  ${key(route)}: ${route.answer ?? 'unknown'};`);
  return [
    '// The routes of the admin API, and the types of their answers. Made from GET /admin by tests/ui/routes.test.mjs.',
    ...Object.entries(types).map(([name, text]) => `export type ${name} = ${readable(text)};`),
    '',
    '// The names in the query of each route.',
    `export interface Routes {\n${queries.sort().join('\n')}\n}`,
    '',
    '// What each answers.',
    `export interface Answers {\n${answers.sort().join('\n')}\n}`,
    ''
  ].join('\n');
}

test('UIX-01 the page knows the routes that there are, what they take, and what they answer', async (context) => {
  const own = stopAfter(context);
  const gateway = own(await startGateway({ env: { PROTEUS_ADMIN_SECRET: SECRET } }));
  const tables = await (await fetch(new URL('/admin', gateway.url), { headers: { 'x-admin-secret': SECRET } })).json();
  if (process.env.UPDATE) writeFileSync(FILE, written(tables));
  assert.ok(readFileSync(FILE, 'utf8') === written(tables), `${FILE} is not what the gateway says; UPDATE=1 writes it`);
});
