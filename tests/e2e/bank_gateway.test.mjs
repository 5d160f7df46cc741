// The bank behind a gateway: what only a gateway can get wrong.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { ALL_TOOLS, Customer, freshName, OPEN_TOOLS, withCustomers } from './support/bank.mjs';
import { CLIENTS, isRefusedWith } from './support/clients.mjs';
import { startGateway } from './support/gateway.mjs';
import { startServer } from './support/programs.mjs';
import { runningPrograms } from './support/programs_of_suite.mjs';

const ERAS = ['legacy', 'modern'];
const CHANGED = 'notifications/tools/list_changed';

/** Sends a modern call whose `_meta` contains these bytes, and returns the answer as text. */
async function rawCall(url, name, meta) {
  const own = '"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}';
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name
    },
    body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":{},"_meta":{${own}${meta}}}}`
  });
  return { status: response.status, body: await response.text() };
}

/** Returns the names of the tools, page by page. */
async function pages(customer) {
  const found = [];
  for (let cursor; found.length < 50; ) {
    // v2 reads all pages unless it gets a cursor, so the pages are taken from the wire.
    const params = customer.params(cursor === undefined ? {} : { cursor });
    await customer.session.client.listTools(params);
    const asked = customer.session.sent.filter((message) => message.method === 'tools/list').slice(found.length);
    for (const request of asked) found.push(customer.session.answerTo(request).result);
    cursor = found.at(-1).nextCursor;
    if (cursor === undefined) return found.map((page) => page.tools.map((tool) => tool.name));
  }
  throw new Error('the pages never end');
}

for (const era of ERAS) {
  describe(`a gateway before a ${era} bank with small pages`, () => {
    const alone = {};
    const merged = {};
    runningPrograms(async (programs) => {
      const bank = await startServer('bank-server', ['--port', '0', '--era', era, '--page-size', '3']);
      programs.push(bank);
      const everything = await startServer('everything-server', ['--port', '0', '--era', era]);
      programs.push(everything);
      const direct = { name: 'banking', url: bank.url, prefix: '', refresh_strategy: 'direct_proxy' };
      const cached = { name: 'before', url: everything.url };
      programs.push(await startGateway({ upstreams: [direct] }));
      alone.url = programs.at(-1).url;
      programs.push(await startGateway({ upstreams: [cached, direct, { ...cached, name: 'behind' }], server: { page_size: 10 } }));
      merged.url = programs.at(-1).url;
    });

    for (const client of CLIENTS) {
      test(`PRX-10 ${client.name}: cursors of the bank work, for each customer its own`, async () => {
        const entering = ['alice', 'bob'].map((name) => Customer.enter(client, alone, { user: freshName(name) }));
        await withCustomers(entering, async (alice, bob) => {
          await alice.enterPin();
          assert.deepEqual(await Promise.all([pages(alice), pages(bob)]), [
            [ALL_TOOLS.slice(0, 3), ALL_TOOLS.slice(3, 6), ALL_TOOLS.slice(6)],
            [OPEN_TOOLS]
          ]);
        });
      });

      test(`PRX-10 PRX-15 ${client.name}: pages of cached and live upstreams follow one another`, async () => {
        await withCustomers([Customer.enter(client, merged, { user: freshName('alice') })], async (alice) => {
          await alice.enterPin();
          const found = await pages(alice);
          const names = found.flat();
          assert.equal(new Set(names).size, names.length);
          assert.ok(found.every((page) => page.length <= 10));
          const kind = (name) => (name.startsWith('before_') ? 'before' : name.startsWith('behind_') ? 'behind' : 'banking');
          const kinds = names.map(kind);
          assert.deepEqual([...new Set(kinds)], ['before', 'banking', 'behind']);
          assert.deepEqual(kinds, kinds.toSorted((a, b) => ['before', 'banking', 'behind'].indexOf(a) - ['before', 'banking', 'behind'].indexOf(b)));
          assert.deepEqual(names.filter((name) => kind(name) === 'banking'), ALL_TOOLS);
          assert.equal(kinds.filter((each) => each === 'before').length, kinds.filter((each) => each === 'behind').length);
        });
      });
    }
  });

  // A token of the gateway never leaves it (SEC-01). Each principal may use only its own upstream, which has its own
  // credentials at the same bank.
  for (const strategy of ['direct_proxy', 'cached']) {
    describe(`customers with tokens of their own, a ${era} bank, ${strategy}`, () => {
      const target = {};
      const users = ['alice', 'bob'];
      runningPrograms(async (programs) => {
        const bankTokens = users.map((user) => `${user}=at-the-bank-${user}`).join(',');
        const bank = await startServer('bank-server', ['--port', '0', '--era', era], { env: { BANK_TOKENS: bankTokens } });
        programs.push(bank);
        const gateway = await startGateway({
          server: {},
          tokens: users.map((user) => ({ name: user, token_env: `GATEWAY_${user}`, upstreams: [`bank_${user}`] })),
          upstreams: users.map((user) => ({
            name: `bank_${user}`,
            url: bank.url,
            prefix: '',
            refresh_strategy: strategy,
            authentication: { type: 'bearer', token_env: `BANK_${user}` }
          })),
          env: Object.fromEntries(
            users.flatMap((user) => [
              [`GATEWAY_${user}`, `at-the-gateway-${user}`],
              [`BANK_${user}`, `at-the-bank-${user}`]
            ])
          )
        });
        programs.push(gateway);
        target.url = gateway.url;
      });

      for (const client of CLIENTS) {
        const enter = (user) => Customer.enter(client, { ...target, token: `at-the-gateway-${user}` });

        test(`PRX-05 PRX-06 PRX-20 ${client.name}: each principal is its own customer, whatever its _meta says`, async () => {
          await withCustomers([enter('alice'), enter('alice'), enter('bob')], async (alice, again, bob) => {
            const heard = [alice, bob].map(({ session }) => session.notifications(CHANGED));
            await Promise.all([alice, bob].map(({ session }) => session.listenForChanges()));
            for (const customer of [alice, again, bob]) assert.deepEqual(await customer.tools(), OPEN_TOOLS);
            assert.equal((await alice.enterPin())._meta.refresh_capabilities, true);
            assert.deepEqual(await alice.tools(), ALL_TOOLS);
            assert.deepEqual(await again.tools(), ALL_TOOLS);
            assert.deepEqual(await bob.tools(), OPEN_TOOLS);
            const liar = new Customer(bob.session, { user: 'alice' });
            assert.deepEqual(await liar.tools(), OPEN_TOOLS);
            await liar.refused('view_balance');
            assert.equal((await alice.balance()).customer, 'alice');
            await heard[0].next();
            assert.equal((await alice.call('sign_out'))._meta.refresh_capabilities, true);
            for (const customer of [alice, again, bob]) assert.deepEqual(await customer.tools(), OPEN_TOOLS);
            await heard[0].next();
            assert.deepEqual(heard[1].seen, []);
          });
        });

        test(`PRX-08 SEC-01 ${client.name}: no token but the gateway's own opens it`, async () => {
          for (const token of ['at-the-bank-alice', 'nonsense']) {
            await assert.rejects(Customer.enter(client, { ...target, token }).then((customer) => customer.close()), isRefusedWith(401));
          }
        });
      }
    });
  }

  describe(`a cached ${era} bank that all customers share`, () => {
    const target = {};
    let bank;
    runningPrograms(async (programs) => {
      bank = await startServer('bank-server', ['--port', '0', '--era', era, '--shared']);
      programs.push(bank);
      // Only the signal refreshes.
      const upstream = { name: 'banking', url: bank.url, prefix: '', event_driven_refresh: false };
      programs.push(await startGateway({ upstreams: [upstream] }));
      target.url = programs.at(-1).url;
    });

    for (const client of CLIENTS) {
      test(`PRX-06 ${client.name}: the very next list shows the new set to all, and the change is announced`, async () => {
        await withCustomers([Customer.enter(client, target), Customer.enter(CLIENTS[0], target)], async (alice, bob) => {
          const heard = [alice, bob].map(({ session }) => session.notifications(CHANGED));
          await Promise.all([alice, bob].map(({ session }) => session.listenForChanges()));
          for (const [call, shown] of [
            [() => alice.enterPin(), ALL_TOOLS],
            [() => bob.call('sign_out'), OPEN_TOOLS]
          ]) {
            assert.equal((await call())._meta.refresh_capabilities, true);
            assert.deepEqual(await alice.tools(), shown);
            assert.deepEqual(await bob.tools(), shown);
            await Promise.all(heard.map((changes) => changes.next()));
          }
        });
      });

      test(`PRX-07 ${client.name}: without the signal nothing refreshes`, async () => {
        const atTheBank = Customer.enter(CLIENTS.find((each) => each.era === era), { url: bank.url });
        await withCustomers([Customer.enter(client, target), atTheBank], async (alice, bob) => {
          // The lists of the bank change, and the gateway is not notified.
          await bob.enterPin();
          assert.deepEqual(await bob.tools(), ALL_TOOLS);
          const result = await alice.call('agent_handoff');
          assert.equal(result._meta.refresh_capabilities, undefined);
          assert.deepEqual(await alice.tools(), OPEN_TOOLS);
          await bob.call('sign_out');
        });
      });
    }
  });

  describe(`what a ${era} bank is told`, () => {
    const direct = {};
    const cached = {};
    runningPrograms(async (programs) => {
      const bank = await startServer('bank-server', ['--port', '0', '--era', era]);
      programs.push(bank);
      const upstream = { name: 'banking', url: bank.url, prefix: '' };
      programs.push(await startGateway({ upstreams: [{ ...upstream, refresh_strategy: 'direct_proxy' }] }));
      direct.url = programs.at(-1).url;
      programs.push(await startGateway({ upstreams: [upstream] }));
      cached.url = programs.at(-1).url;
    });
    const told = async ({ url }, meta) => {
      const { status, body } = await rawCall(url, 'agent_handoff', meta);
      assert.equal(status, 200, body);
      return JSON.parse(/^data: ?(\{.*)$/m.exec(body)?.[1] ?? body).result.structuredContent.context;
    };
    const odd = String.raw`"example.com/odd":{"number": 1.0e+02, "big":12345678901234567890123, "text":"\u00e4\/", "b":[ 1 ,2]}`;

    test("PRX-04 the caller's own _meta arrives byte for byte, where propagation is on", async () => {
      assert.ok((await told(direct, `,"user":"alice",${odd}`)).includes(odd));
    });

    test('PRX-04 PRO-15 where it is off, only trace context goes with what the protocol needs', async () => {
      const context = await told(cached, `,"user":"alice",${odd},"traceparent":"00-1-2-01"`);
      assert.ok(!context.includes('alice') && !context.includes('odd'), context);
      assert.ok(context.includes('"traceparent":"00-1-2-01"'), context);
    });

    test("PRX-04 the protocol's own keys are the gateway's", async () => {
      const context = await told(direct, ',"io.modelcontextprotocol/clientInfo":{"name":"somebody","version":"1"},"progressToken":"mine"');
      assert.ok(!context.includes('somebody') && !context.includes('mine'), context);
    });
  });
}
