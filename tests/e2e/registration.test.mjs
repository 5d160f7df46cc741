// What the holder of an admin key, who has nothing else, can make the gateway send.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, test } from 'node:test';

import { run } from './support/children.mjs';
import { startGateway } from './support/gateway.mjs';
import { program } from './support/programs.mjs';
import { stopAfter } from './support/programs_of_suite.mjs';

const SECRETS = {
  PROTEUS_PEPPER: 'pepper-pepper-pepper-pepper-pepper',
  PROTEUS_ADMIN_SECRET: 'the-admin-secret-of-this-test',
  OPS_SECRET: 'secret-of-the-operators',
  AGENT_TOKEN: 'token-of-an-agent',
  OF_THE_MACHINE: 'whatever-else-there-is',
  UPSTREAM_TOKEN: 'token-of-an-upstream'
};

/** Starts a server that records the fields of each request, and answers 500. */
async function startCollector() {
  const seen = [];
  const server = createServer((request, response) => {
    seen.push(JSON.stringify(request.headers));
    response.writeHead(500).end();
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  server.unref();
  return { seen, url: `http://127.0.0.1:${server.address().port}/mcp`, stop: () => server.close() };
}

describe('an admin key', () => {
  test('SEC-01 sends no variable to a server of its own choice', async (context) => {
    const own = stopAfter(context);
    const collector = own(await startCollector());
    const gateway = own(await startGateway({
      tokens: [{ name: 'agent', token_env: 'AGENT_TOKEN' }],
      admin: { keys: [{ name: 'ops', secret_env: 'OPS_SECRET' }], environment: ['UPSTREAM_TOKEN'] },
      env: SECRETS
    }));
    const register = (body) =>
      fetch(new URL('/admin/upstreams', gateway.url), { method: 'POST', headers: { 'x-admin-secret': SECRETS.OPS_SECRET }, body: JSON.stringify(body) });
    for (const variable of Object.keys(SECRETS).filter((name) => name !== 'UPSTREAM_TOKEN')) {
      for (const [key, authentication] of [
        ['token_env', { type: 'bearer', token_env: variable }],
        ['value_env', { type: 'header', name: 'X-Key', value_env: variable }],
        ['password_env', { type: 'basic', username: 'me', password_env: variable }]
      ]) {
        const refused = await register({ name: 'mine', url: collector.url, authentication });
        assert.equal(refused.status, 400, variable);
        const problem = await refused.text();
        assert.equal(JSON.parse(problem).errors[0].pointer, `/authentication/${key}`);
        assert.ok(!problem.includes(SECRETS[variable]));
      }
      const passed = await register({ name: 'mine', command: ['env'], pass_environment: [variable] });
      assert.equal(passed.status, 400, variable);
      assert.equal((await passed.json()).errors[0].pointer, '/pass_environment/0');
    }
    assert.deepEqual(collector.seen, []);
    const allowed = await register({ name: 'fine', url: collector.url, authentication: { type: 'bearer', token_env: 'UPSTREAM_TOKEN' } });
    assert.equal(allowed.status, 201, await allowed.text());
  });

  test('SEC-01 a configuration that gives an upstream a secret of the gateway is a fault', async (context) => {
    const own = stopAfter(context);
    const gateway = own(await startGateway({}));
    gateway.write('[[upstreams]]\nname = "a"\nurl = "http://a.invalid/"\nauthentication = { type = "bearer", token_env = "PROTEUS_PEPPER" }\n');
    const checked = await run(program('proteus'), ['check', '--config', `${gateway.folder}/proteus.toml`]);
    assert.equal(checked.code, 2);
    assert.match(checked.stderr, /upstreams\[0\]\.authentication\.token_env: PROTEUS_PEPPER is a secret of Proteus itself/);
  });
});
