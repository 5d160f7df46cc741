// The bank: what a customer sees depends on the identity and the PIN, directly and through the gateway.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { ALL_TOOLS, Customer, freshName, OPEN_TOOLS, withCustomers } from './support/bank.mjs';
import { CLIENTS, textOf } from './support/clients.mjs';
import { startGateway } from './support/gateway.mjs';
import { startServer } from './support/programs.mjs';
import { runningPrograms } from './support/programs_of_suite.mjs';

const SETUPS = [
  { name: 'the bank itself', era: 'both' },
  { name: 'a gateway before a bank of both eras', era: 'both', gateway: true },
  { name: 'a gateway before a legacy bank', era: 'legacy', gateway: true },
  { name: 'a gateway before a modern bank', era: 'modern', gateway: true }
];

for (const setup of SETUPS) {
  describe(setup.name, () => {
    const target = {};
    runningPrograms(async (programs) => {
      programs.push(await startServer('bank-server', ['--port', '0', '--era', setup.era, '--threads', '2']));
      if (setup.gateway) {
        const upstream = { name: 'banking', url: programs[0].url, prefix: '', refresh_strategy: 'direct_proxy' };
        programs.push(await startGateway({ upstreams: [upstream] }));
      }
      target.url = programs.at(-1).url;
    });
    for (const client of CLIENTS) describe(client.name, () => story(client, target));
  });
}

function story(client, target) {
  const enter = (user, with_client = client) => Customer.enter(with_client, target, { user });

  test("PRX-05 PRX-06 the account tools appear in that customer's very next list, on any connection, and in nobody else's", async () => {
    const [alice, bob] = [freshName('alice'), freshName('bob')];
    const others = CLIENTS.filter((other) => other !== client).map((other) => enter(alice, other));
    await withCustomers([enter(alice), enter(bob), ...others], async (here, stranger, ...elsewhere) => {
      for (const customer of [here, stranger, ...elsewhere]) assert.deepEqual(await customer.tools(), OPEN_TOOLS);
      await stranger.refused('view_balance');
      const result = await here.enterPin();
      assert.equal(result._meta.refresh_capabilities, true);
      for (const customer of [here, ...elsewhere]) assert.deepEqual(await customer.tools(), ALL_TOOLS);
      assert.deepEqual(await stranger.tools(), OPEN_TOOLS);
      await stranger.refused('view_balance');
      assert.equal((await here.balance()).customer, alice);
      await here.call('sign_out');
      for (const customer of [here, ...elsewhere]) assert.deepEqual(await customer.tools(), OPEN_TOOLS);
      await here.refused('view_balance');
    });
  });

  test('PRX-05 one connection that speaks for two customers mixes nothing up', async () => {
    const [alice, bob] = [freshName('alice'), freshName('bob')];
    await withCustomers([enter(alice)], async (first) => {
      const second = new Customer(first.session, { user: bob });
      await first.enterPin();
      const asked = Array.from({ length: 40 }, (_, turn) => (turn % 2 === 0 ? first : second).tools());
      const lists = await Promise.all(asked);
      lists.forEach((list, turn) => assert.deepEqual(list, turn % 2 === 0 ? ALL_TOOLS : OPEN_TOOLS));
      assert.deepEqual(await new Customer(first.session, undefined).tools(), OPEN_TOOLS);
    });
  });

  test('PRX-05 many lists at once, while customers come and go, are each their own', async () => {
    const names = Array.from({ length: 4 }, () => freshName('customer'));
    await withCustomers(names.map((name) => enter(name)), async (...customers) => {
      await Promise.all(
        customers.map(async (customer, index) => {
          for (let turn = 0; turn < 5; turn++) {
            assert.deepEqual(await customer.tools(), OPEN_TOOLS);
            await customer.enterPin();
            assert.deepEqual(await customer.tools(), ALL_TOOLS);
            assert.equal((await customer.balance()).customer, names[index]);
            await customer.call('sign_out');
          }
        })
      );
    });
  });

  test('money goes from one customer to the other, and each sees its own side', async () => {
    const [alice, bob] = [freshName('alice'), freshName('bob')];
    await withCustomers([enter(alice), enter(bob)], async (payer, payee) => {
      await Promise.all([payer.enterPin(), payee.enterPin()]);
      assert.ok(!(await payer.call('transfer_money', { to: bob, cents: 2_500 })).isError);
      const [paid, received] = await Promise.all([payer.balance(), payee.balance()]);
      assert.equal(paid.cents, 97_500);
      assert.equal(received.cents, 102_500);
      const seen = (await payee.call('view_transactions')).structuredContent;
      assert.deepEqual(seen.transactions, [{ cents: 2_500, text: `from ${alice}` }]);
    });
  });

  test('PRX-03 prompts, resources and templates follow the customer too', async () => {
    const [alice, bob] = [freshName('alice'), freshName('bob')];
    await withCustomers([enter(alice), enter(bob)], async (customer, stranger) => {
      const counts = async ({ session, ...who }) => {
        const params = Customer.prototype.params.call(who);
        const [prompts, resources, templates] = await Promise.all([
          session.client.listPrompts(params),
          session.client.listResources(params),
          session.client.listResourceTemplates(params)
        ]);
        return [prompts.prompts.length, resources.resources.length, templates.resourceTemplates.length];
      };
      assert.deepEqual(await counts(customer), [0, 0, 0]);
      await customer.enterPin();
      assert.deepEqual(await counts(customer), [1, 1, 1]);
      assert.deepEqual(await counts(stranger), [0, 0, 0]);
      const read = (who, uri) => who.session.client.readResource(who.params({ uri }));
      assert.match((await read(customer, 'bank://statement')).contents[0].text, new RegExp(`^${alice}: 100000 cents`));
      await assert.rejects(read(stranger, 'bank://statement'), /Resource not found: bank:\/\/statement/);
      const prompt = await customer.session.client.getPrompt(customer.params({ name: 'explain_statement' }));
      assert.match(prompt.messages[0].content.text, new RegExp(alice));
      await assert.rejects(stranger.session.client.getPrompt(stranger.params({ name: 'explain_statement' })), /Unknown prompt: explain_statement/);
    });
  });

  test('PRX-07 a wrong PIN changes nothing and says so; three lock', async () => {
    await withCustomers([enter(freshName('alice'))], async (customer) => {
      for (const expected of [/wrong/, /wrong/, /locked/]) {
        const result = await customer.enterPin('9999');
        assert.equal(result.isError, true);
        assert.match(textOf(result), expected);
        assert.equal(result._meta?.refresh_capabilities, undefined);
      }
      assert.equal((await customer.enterPin()).isError, true);
      assert.deepEqual(await customer.tools(), OPEN_TOOLS);
    });
  });

  test('PRX-04 PRO-15 the _meta of a request reaches the bank, trace context and all', async () => {
    const meta = {
      user: freshName('alice'),
      'example.com/deep': { list: [1, 'zwei', null, { three: true }] },
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      tracestate: 'vendor=1',
      baggage: 'region=north'
    };
    await withCustomers([Customer.enter(client, target, meta)], async (customer) => {
      const { context } = (await customer.call('agent_handoff')).structuredContent;
      const arrived = JSON.parse(context);
      for (const [key, value] of Object.entries(meta)) assert.deepEqual(arrived[key], value, key);
    });
  });

  test('PRO-13 what the protocol does not name survives in tools and results', async () => {
    await withCustomers([enter(freshName('alice'))], async (customer) => {
      await customer.enterPin();
      await customer.tools();
      // Checked on the wire, because a client may hide fields that it does not know.
      const { tools } = customer.session.answerTo(customer.session.lastSent('tools/list')).result;
      const transfer = tools.find((tool) => tool.name === 'transfer_money');
      assert.deepEqual(transfer['x-bank'], { desk: 'payments' });
      assert.deepEqual(transfer._meta, { 'bank/fee_cents': 0 });
      assert.deepEqual(transfer.annotations, { destructiveHint: true });
      assert.ok((await customer.call('agent_handoff'))._meta['bank/queue'] > 0);
    });
  });

  test('PRX-14 the progress of two callers with the same token stays with each', async () => {
    const [alice, bob] = [freshName('alice'), freshName('bob')];
    await withCustomers([enter(alice), enter(bob)], async (...customers) => {
      await Promise.all(customers.map((customer) => customer.enterPin()));
      const invest = (customer) => customer.call('invest', { fund: 'bonds', cents: 100 }, { onprogress: () => {} });
      await Promise.all(customers.map(invest));
      const tokens = customers.map(({ session }) => session.lastSent('tools/call').params._meta.progressToken);
      assert.equal(tokens[0], tokens[1]);
      for (const { session, meta } of customers) {
        const updates = session.received.filter((message) => message.method === 'notifications/progress');
        assert.deepEqual(
          updates.map(({ params }) => [params.progressToken, params.message]),
          [1, 2, 3].map((step) => [tokens[0], `for ${meta.user}: offer ${step} of 3`])
        );
      }
    });
  });

  if (client.era !== 'modern') return;  // earlier revisions have no such fields
  test('PRO-07 such a list is private and not to be kept', async () => {
    await withCustomers([enter(freshName('alice'))], async (customer) => {
      await customer.tools();
      const { result } = customer.session.answerTo(customer.session.lastSent('tools/list'));
      assert.equal(result.ttlMs, 0);
      assert.equal(result.cacheScope, 'private');
    });
  });
}
