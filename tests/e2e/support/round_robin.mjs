// A load balancer without knowledge of MCP: each request goes to the next process, on a new connection.
import { createServer, request } from 'node:http';

/**
 * `targets` are the URLs of gateways. The result has `url`, `sent`, a list with the method and the index of the target
 * of each request, and `stop()`.
 */
export async function startRoundRobin(targets) {
  const sent = [];
  const server = createServer((incoming, outgoing) => {
    const index = sent.length % targets.length;
    sent.push({ method: incoming.method, index });
    const { hostname, port } = new URL(targets[index]);
    // The fields as received, except for Host, which names the balancer, and Connection.
    const headers = { ...incoming.headers, host: `${hostname}:${port}`, connection: 'close' };
    const onward = request({ hostname, port, method: incoming.method, path: incoming.url, headers, agent: false }, (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      outgoing.flushHeaders();
      answer.on('error', () => outgoing.destroy());
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${server.address().port}/mcp`,
    sent,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    }
  };
}
