// Addresses and ports of this machine.
import { createServer } from 'node:net';

/**
 * The loopback address of this process of tests. Nothing else listens there, so a port that a test releases stays free
 * until the test uses it again.
 */
export const OWN_ADDRESS = `127.${64 + ((process.pid >> 16) & 63)}.${(process.pid >> 8) & 255}.${process.pid & 255}`;

/** Makes a server listen, on any free port unless `port` is given; returns its host and port as in a URL. */
export async function listen(server, { host = OWN_ADDRESS, port = 0 } = {}) {
  await new Promise((listening, failed) => server.once('error', failed).listen(port, host, listening));
  return `${host}:${server.address().port}`;
}

/** Closes a server and its connections. */
export function close(server) {
  server.closeAllConnections?.();
  return new Promise((closed) => server.close(closed));
}

/** Returns a port on which nothing listens, for programs that cannot listen on port 0 and print the port. */
export async function freePort(host = OWN_ADDRESS) {
  const probe = createServer();
  await listen(probe, { host });
  const { port } = probe.address();
  await close(probe);
  return port;
}
