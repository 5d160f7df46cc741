// tokens.mjs: prints how many tokens a first list costs an agent, with and without search, for all servers that
// tests/compat installs, behind one gateway. Run it with the Node of tests/e2e, after scripts/setup.sh npm compat.
// Counts four bytes as one token, which is close enough for English and JSON.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { OFFICIAL } from '../../tests/compat/servers/official.mjs';
import { OTHERS } from '../../tests/compat/servers/others.mjs';
import { scratch } from '../../tests/compat/start.mjs';
import { CLIENTS, Session, textOf } from '../../tests/e2e/support/clients.mjs';
import { startGateway } from '../../tests/e2e/support/gateway.mjs';

const TASKS = ['read a file', 'create an issue', 'take a screenshot of a web page', 'list the tables of a database', 'search the web'];
const tokens = (value) => Math.round(Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value)) / 4);

const folders = [];
const upstreams = [...OFFICIAL, ...OTHERS]
  .filter(({ via, settings }) => via === 'stdio' && settings?.refresh_strategy === undefined)
  .map((row, index) => {
    const { folder, forget } = scratch();
    folders.push(forget);
    const own = join(folder, 'own');
    mkdirSync(own, { recursive: true });
    row.prepare?.(folder);
    const places = { folder, own, port: '0' };
    return { name: `server${index}`, fail_fast_on_startup: false, command: [process.execPath, ...row.script(places)], environment: row.env?.(places) ?? {} };
  });

const gateway = await startGateway({
  upstreams,
  tokens: [
    { name: 'agent', token_env: 'AGENT_TOKEN', disclosure: 'search' },
    { name: 'all', token_env: 'ALL_TOKEN' }
  ],
  env: { AGENT_TOKEN: 'token-of-the-agent', ALL_TOKEN: 'token-of-the-other' }
});
try {
  const open = (token) => Session.open(CLIENTS[0], { url: gateway.url, token });
  const all = await open('token-of-the-other');
  let listed = [];
  for (let before = -1; before !== listed.length; ) {
    before = listed.length;
    await new Promise((resolve) => setTimeout(resolve, 5000));
    ({ tools: listed } = await all.client.listTools());
  }
  const agent = await open('token-of-the-agent');
  const { tools: few } = await agent.client.listTools();
  console.log(`all:    ${listed.length} tools, ${tokens(listed)} tokens`);
  console.log(`search: ${few.length} tools, ${tokens(few)} tokens`);
  for (const query of TASKS) {
    const result = await agent.call('search_tools', { query });
    console.log(`${query}: ${result.structuredContent.tools.length} hits, ${tokens(textOf(result))} tokens`);
  }
  await all.close();
  await agent.close();
} finally {
  await gateway.stop();
  for (const forget of folders) forget();
}
