// The network between one process and PostgreSQL.
import { TcpProxy } from './tcp_proxy.mjs';

export class PostgresProxy extends TcpProxy {
  /** What a process connects to, as that user. */
  dsn(user = 'postgres') {
    return `postgres://${user}@127.0.0.1:${this.port}/postgres`;
  }
}
