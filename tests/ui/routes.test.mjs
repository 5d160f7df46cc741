// The page knows the admin API's routes by ui/src/api/routes.ts, which is made from the gateway's own table: UPDATE=1 writes it.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { startGateway } from '../e2e/support/gateway.mjs';
import { root } from '../e2e/support/programs.mjs';
import { SECRET } from './support/world.mjs';

const FILE = join(root, 'ui/src/api/routes.ts');

function written(routes) {
  const lines = routes.map(({ method, path, parameters }) => `  '${method} ${path}': ${parameters.map(({ name }) => `'${name}'`).join(' | ') || 'never'};`);
  return `// The routes of the admin API, and the names in the query of each. Made from GET /admin by tests/ui/routes.test.mjs.\nexport interface Routes {\n${lines.sort().join('\n')}\n}\n`;
}

test('UIX-01 the page knows the routes that there are, and what they take', async () => {
  const gateway = await startGateway({ env: { PROTEUS_ADMIN_SECRET: SECRET } });
  try {
    const { routes } = await (await fetch(new URL('/admin', gateway.url), { headers: { 'x-admin-secret': SECRET } })).json();
    if (process.env.UPDATE) writeFileSync(FILE, written(routes));
    assert.equal(readFileSync(FILE, 'utf8'), written(routes));
  } finally {
    await gateway.stop();
  }
});
