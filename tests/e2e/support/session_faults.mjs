// Three processes with PostgreSQL and Redis, and the faults that may happen to each.
import { setTimeout as pause } from 'node:timers/promises';

import { Cluster, SLOTS } from './cluster_faults.mjs';
import { processesAt } from './peers.mjs';
import { eventually } from './programs.mjs';
import { recordsKept, removeMarks, startRedis } from './redis.mjs';
import { TcpProxy } from './tcp_proxy.mjs';

export class SessionCluster extends Cluster {
  #troubles = { failed: 0, fails: false, died: 0 };

  async prepare() {
    this.redis = await startRedis();
    this.links = await Promise.all(SLOTS.map(() => TcpProxy.start(this.redis.address)));
  }

  // No proxy in this busy process: a process whose heartbeat is delayed counts as dead.
  storeOf(slot) {
    return this.postgres.dsn.replace('postgres@', `${SLOTS[slot]}@`);
  }

  settingsOf(slot) {
    const { env, ...settings } = this.settings;
    return { ...settings, cluster: { name: SLOTS[slot], peer_listen: '127.0.0.1:0' }, env: { ...env, PROTEUS_REDIS: `redis://127.0.0.1:${this.links[slot].port}` } };
  }

  /** Returns how often Redis has failed or was emptied, whether it fails now, and how many processes have died. */
  troubles() {
    return { ...this.#troubles };
  }

  /** Waits until all processes know each other and are connected to Redis. */
  settled() {
    return eventually('all have all others and Redis', async () => {
      for (const process of this.processes) {
        const { redis } = await (await fetch(new URL('/readyz', process.url))).json();
        const live = (await processesAt(process)).filter(({ live, peer_url }) => live && peer_url);
        if (redis !== 'there' || live.length !== SLOTS.length) return false;
      }
      return true;
    }, 30_000);
  }

  /** Waits until Redis has received everything that was sent so far. */
  written() {
    const waiting = async ({ url }) => Number(/^proteus_redis_waiting_commands (\S+)/m.exec(await (await fetch(new URL('/metrics', url))).text())[1]);
    return Promise.all(this.processes.map((process) => eventually('written', async () => (await waiting(process)) === 0, 30_000)));
  }

  /** Wraps a fault of Redis: until all processes have written their records again, Redis may lack some. */
  #troubling(happen) {
    return async () => {
      this.#troubles.failed += 1;
      this.#troubles.fails = true;
      await happen();
      await this.settled();
      await recordsKept(this.redis, SLOTS.length);
      this.#troubles.fails = false;
    };
  }

  faults(random) {
    const { some, between } = this.chances(random);
    const all = super.faults(random);
    const kill = () => {
      this.#troubles.died += 1;
      return all['a process is killed']();
    };
    const cutting = (how) =>
      this.#troubling(async () => {
        const link = this.links[some()];
        how(link);
        await pause(between(500, 3000));
        link.heal();
        removeMarks(this.redis);  // they date from before the cut
      });
    return {
      'a process is killed': kill,
      'a process stands still': all['a process stands still'],
      'Redis restarts': this.#troubling(async () => {
        await this.redis.halt();
        await pause(between(0, 1500));
        await this.redis.resume();
      }),
      'Redis is cut off from one': cutting((link) => link.cut()),
      'Redis is emptied, and a process is killed': this.#troubling(async () => {
        this.redis.run('FLUSHALL');
        await kill();
      }),
      'Redis is emptied': this.#troubling(async () => this.redis.run('FLUSHALL')),
      'Redis is silent for one': cutting((link) => link.silence()),
      // The others may or may not take the process for dead.
      'a process stands still for about as long as a lease': async () => {
        const stopped = this.processes[some()];
        await stopped.freeze();
        await pause(between(1800, 3300));
        stopped.signal('SIGCONT');
      },
      // The process lives, but the others take it for dead.
      'PostgreSQL is cut off from one': async () => {
        const name = SLOTS[some()];
        this.postgres.query(`ALTER ROLE ${name} NOLOGIN`);
        this.postgres.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${name}'`);
        await pause(between(1000, 6000));
        this.postgres.query(`ALTER ROLE ${name} LOGIN`);
      }
    };
  }

  parts() {
    return [this.redis, ...(this.links ?? []), ...super.parts()];
  }
}
