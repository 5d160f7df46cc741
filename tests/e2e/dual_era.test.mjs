// A server that speaks both eras, behind the gateway.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { CLIENTS, Session, textOf } from './support/clients.mjs';
import { startGateway } from './support/gateway.mjs';
import { startServer } from './support/programs.mjs';
import { runningPrograms } from './support/programs_of_suite.mjs';
import { startTap } from './support/tap.mjs';

const VERSION = 'io.modelcontextprotocol/protocolVersion';

describe('a server that speaks both eras', () => {
  let gateway;
  let tap;
  runningPrograms(async (programs) => {
    const server = await startServer('everything-server', ['--port', '0', '--era', 'both']);
    programs.push(server);
    tap = await startTap(server.url);
    programs.push(tap);
    gateway = await startGateway({ upstreams: [{ name: 'dual', prefix: '', url: tap.url }] });
    programs.push(gateway);
  });

  for (const client of CLIENTS) {
    test(`BRG-12 ${client.name}: it is spoken to in the era of the client`, async () => {
      const session = await Session.open(client, { url: gateway.url });
      const isModern = ({ params }) => params?._meta?.[VERSION] !== undefined;
      // The gateway reads the legacy side of the server in the background, so the first calls may use another era.
      for (let done = false; !done; ) {
        const before = tap.sent.length;
        assert.ok(textOf(await session.call('test_simple_text')));
        const calls = tap.sent.slice(before).filter(({ method }) => method === 'tools/call');
        assert.equal(calls.length, 1);
        done = isModern(calls[0]) === (client.era === 'modern');
      }
      await session.close();
    });
  }
});
