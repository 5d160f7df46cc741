// A proxy between a gateway and an HTTP server that records each message of the gateway once its answer has begun.
import { createServer, request as connect } from 'node:http';

/** Starts a tap in front of `url`. The result has `url`, `sent` with the recorded messages, and `stop()`. */
export async function startTap(url) {
  const target = new URL(url);
  const sent = [];
  const server = createServer((incoming, outgoing) => {
    const { method, headers } = incoming;
    let body = '';
    const onward = connect({ host: target.hostname, port: target.port, path: target.pathname, method, headers }, (answer) => {
      if (body !== '') sent.push(JSON.parse(body));
      outgoing.writeHead(answer.statusCode, answer.headers);
      outgoing.flushHeaders();
      answer.on('error', () => outgoing.destroy());
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.setEncoding('utf8').on('data', (data) => (body += data));
    incoming.on('end', () => onward.end(body));
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${server.address().port}${target.pathname}`,
    sent,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    }
  };
}
