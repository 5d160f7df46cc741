// A TCP proxy between a process and a service, which a test cuts, silences or slows.
import { connect, createServer } from 'node:net';

export class TcpProxy {
  /** Starts a proxy. `target` is the path of the server's socket, or an argument for `connect` of node:net. */
  static async start(target) {
    const proxy = new this(target);
    await new Promise((listening) => proxy.server.listen(0, '127.0.0.1', listening));
    return proxy;
  }

  constructor(target) {
    this.target = target;
    this.pairs = new Set();
    this.refusing = false;
    this.silent = false;
    this.delay = 0;
    this.server = createServer((client) => this.accept(client));
  }

  get port() {
    return this.server.address().port;
  }

  accept(client) {
    if (this.refusing) return client.destroy();
    const pair = [client, connect(this.target)];
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

  /** Closes all connections, and new ones at once. */
  cut() {
    this.refusing = true;
    for (const pair of this.pairs) for (const socket of pair) socket.destroy();
  }

  /** Delivers nothing and closes no connection. What was sent meanwhile arrives after `heal`. */
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
