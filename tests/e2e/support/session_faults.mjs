// Three processes with PostgreSQL and a Redis, and what may happen to each.
import { setTimeout as pause } from 'node:timers/promises';

import { Cluster, SLOTS } from './cluster_faults.mjs';
import { processesAt } from './peers.mjs';
import { eventually } from './programs.mjs';
import { startRedis } from './redis.mjs';
import { TcpProxy } from './tcp_proxy.mjs';

export class SessionCluster extends Cluster {
  #troubles = 0;
  #inTrouble = false;

  async prepare() {
    this.redis = await startRedis();
    this.links = await Promise.all(SLOTS.map(() => TcpProxy.start(this.redis.port)));
  }

  settingsOf(slot) {
    const { env, ...settings } = this.settings;
    return { ...settings, cluster: { name: SLOTS[slot], peer_listen: '127.0.0.1:0' }, env: { ...env, PROTEUS_REDIS: `redis://127.0.0.1:${this.links[slot].port}` } };
  }

  /** How often Redis has failed; nothing while it does. */
  trouble() {
    return this.#inTrouble ? undefined : this.#troubles;
  }

  /** Waits until all processes know each other, and have Redis. */
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

  /** While this happens, and when it is over, Redis may lack what was written. */
  #troubling(happen) {
    return async () => {
      this.#inTrouble = true;
      this.#troubles += 1;
      await happen();
      await this.settled();
      this.#inTrouble = false;
    };
  }

  faults(random) {
    const { some, between } = this.chances(random);
    const all = super.faults(random);
    const kill = all['a process is killed'];
    const cutting = (how) =>
      this.#troubling(async () => {
        const link = this.links[some()];
        how(link);
        await pause(between(500, 3000));
        link.heal();
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
      // Others may or may not have taken it for dead.
      'a process stands still for about as long as a lease': async () => {
        const stopped = this.processes[some()];
        stopped.signal('SIGSTOP');
        await pause(between(1800, 3300));
        stopped.signal('SIGCONT');
      },
      // It lives, and the others take it for dead.
      'PostgreSQL is cut off from one': all['PostgreSQL is cut off from one']
    };
  }

  async stop() {
    for (const link of this.links ?? []) link.heal();
    await super.stop();
    for (const link of this.links ?? []) await link.stop();
    await this.redis?.stop();
  }
}
