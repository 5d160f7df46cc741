// The network between one process and PostgreSQL, which a test cuts, silences or slows.
import { connect, createServer } from 'node:net';

export class PostgresProxy {
  /** In front of a server on a socket of this path. */
  static async start(path) {
    const proxy = new this(path);
    await new Promise((listening) => proxy.server.listen(0, '127.0.0.1', listening));
    return proxy;
  }

  constructor(path) {
    this.path = path;
    this.pairs = new Set();
    this.refusing = false;
    this.silent = false;
    this.delay = 0;
    this.server = createServer((client) => this.accept(client));
  }

  /** What a process connects to, as that user. */
  dsn(user = 'postgres') {
    return `postgres://${user}@127.0.0.1:${this.server.address().port}/postgres`;
  }

  accept(client) {
    if (this.refusing) return client.destroy();
    const pair = [client, connect(this.path)];
    this.pairs.add(pair);
    for (const [i, socket] of pair.entries()) {
      const other = pair[1 - i];
      socket.on('data', (data) => (this.delay > 0 ? setTimeout(() => other.write(data), this.delay) : other.write(data)));
      socket.on('error', () => {});
      socket.on('close', () => {
        other.destroy();
        this.pairs.delete(pair);
      });
      if (this.silent) socket.pause();
    }
  }

  /** Closes what is open, and whatever comes. */
  cut() {
    this.refusing = true;
    for (const pair of this.pairs) for (const socket of pair) socket.destroy();
  }

  /** Nothing arrives, and nobody is told; what was sent meanwhile arrives when it heals. */
  silence() {
    this.silent = true;
    for (const pair of this.pairs) for (const socket of pair) socket.pause();
  }

  heal() {
    this.refusing = this.silent = false;
    this.delay = 0;
    for (const pair of this.pairs) for (const socket of pair) socket.resume();
  }

  stop() {
    this.cut();
    return new Promise((closed) => this.server.close(closed));
  }
}
