// For programs that cannot be told to take any port and say which.
import { createServer } from 'node:net';

/** A port on loopback that nobody listens at now. */
export function freePort() {
  return new Promise((done) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => done(port));
    });
  });
}
