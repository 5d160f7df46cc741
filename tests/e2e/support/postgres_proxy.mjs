// A proxy between one process and PostgreSQL.
import { TcpProxy } from './tcp_proxy.mjs';

export class PostgresProxy extends TcpProxy {
  /** Returns the DSN with which a process connects through the proxy as this user. */
  dsn(user = 'postgres') {
    return `postgres://${user}@127.0.0.1:${this.port}/postgres`;
  }
}
