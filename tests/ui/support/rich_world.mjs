// The world with something in every list: proposals, changes, calls, sessions, a dataset, an identity provider, rules.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

import { makeFolder } from '../../e2e/support/children.mjs';
import { LegacySession } from '../../e2e/support/legacy_raw.mjs';
import { root } from '../../e2e/support/programs.mjs';
import { send } from '../../e2e/support/raw.mjs';
import { startWorld, tool } from './world.mjs';

export async function startRichWorld(options = {}) {
  const folder = makeFolder();
  execFileSync('python3', [join(root, 'examples/quickstart/company.py'), '--out', join(folder, 'company.db')]);
  const world = await startWorld({
    datasets: { environment: ['ACME_DSN'] },
    telemetry: { records: 'memory' },
    issuers: [{ issuer: 'http://127.0.0.1:9', sign_in: { client_id: 'proteus', client_secret_env: 'SIGN_IN_SECRET' } }],
    rules: [{ match: { groups: ['ops'] }, name: '{email}', admin: 'admin' }, { match: { groups: ['support', 'sales'] }, tools: ['files_read*'], read_only: true }],
    auth: { anonymous: 'loopback' },
    env: { ACME_DSN: `sqlite://${folder}/company.db`, PROTEUS_MAPPINGS: join(folder, 'mappings'), SIGN_IN_SECRET: 'any' },
    ...options
  });
  const { proposals } = await world.admin('GET', 'proposals');
  for (const { id } of proposals) await world.admin('POST', `proposals/${id}/ratify`);
  world.shop.tools = [tool('pay', 'Pays somebody a huge amount.', { to: { type: 'number' }, note: { type: 'string' } }), world.shop.tools[1], tool('tip', 'Gives a tip.')];
  world.files.tools = [...world.files.tools, tool('rename_file', 'Gives a file another name.')];
  for (const name of ['shop', 'files']) await world.admin('POST', `upstreams/${name}/refresh`);
  for (const name of ['files_search', 'files_read_file', 'shop_refund']) {
    await (await send(world.gateway.url, 'tools/call', { name, arguments: {} }, { token: 'token of the agent' })).text();
  }
  const session = await LegacySession.open(world.gateway.url, 'token of the agent');
  const listening = new AbortController();
  await session.stream('token of the agent', listening.signal);
  await world.admin('POST', 'session/init', { session_id: 'checkout-7', user_token: 'token of a tool session', user_id: 1 });
  const { draft } = await world.admin('POST', 'datasets/propose', { name: 'acme', dsn_env: 'ACME_DSN' });
  await world.admin('POST', 'datasets/ratify', { mapping: draft });
  await world.admin('POST', 'datasets/acme/connect');
  const stop = async () => {
    listening.abort();
    await world.stop();
  };
  return { ...world, stop };
}
