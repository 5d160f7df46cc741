// Three processes, PostgreSQL and the network between them, with the faults that may happen to each.
import { setTimeout as pause } from 'node:timers/promises';

import { startMember } from './cluster.mjs';
import { startPostgres } from './postgres.mjs';
import { PostgresProxy } from './postgres_proxy.mjs';
import { stopAll } from './programs.mjs';

export const SLOTS = ['one', 'two', 'three'];

// Records every stored list with the process that stored it and the owner of the lease at that moment. Each process
// connects as its own database user, which identifies it.
const WATCHED = `
CREATE TABLE public.stored (number bigserial, by text, upstream text, owner text, version bigint);
CREATE FUNCTION public.note_stored() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO public.stored (by, upstream, owner, version)
    SELECT session_user, convert_from(NEW.upstream, 'UTF8'),
      (SELECT convert_from(owner, 'UTF8') FROM proteus.leases WHERE name = convert_to('upstream ', 'UTF8') || NEW.upstream),
      substring(convert_from(NEW.entries, 'UTF8') FROM 'beat v([0-9]+)')::bigint;
  RETURN NEW;
END $$;
CREATE TRIGGER note_stored AFTER INSERT OR UPDATE ON proteus.snapshots FOR EACH ROW EXECUTE FUNCTION public.note_stored();`;

export class Cluster {
  processes = [];
  troubled = undefined;  // slot of the last fault

  static async start(settings = {}) {
    const cluster = new this();
    cluster.settings = settings;
    try {
      await cluster.begin();
      return cluster;
    } catch (error) {
      await cluster.stop().catch(() => {});
      throw error;
    }
  }

  async begin() {
    this.postgres = await startPostgres([...SLOTS, 'another'].map((slot) => `CREATE ROLE ${slot} SUPERUSER LOGIN;`).join('\n'));
    await this.prepare();
    for (const slot of SLOTS.keys()) await this.launch(slot);
    this.postgres.query(WATCHED);
  }

  /** Starts what the processes need besides PostgreSQL. */
  async prepare() {
    this.proxies = await Promise.all(SLOTS.map(() => PostgresProxy.start(this.postgres.socket)));
  }
  /** Returns the DSN with which one process reaches PostgreSQL. */
  storeOf(slot) {
    return this.proxies[slot].dsn(SLOTS[slot]);
  }
  settingsOf() {
    return this.settings;
  }

  async launch(slot) {
    const process = await startMember(this.storeOf(slot), SLOTS[slot], this.settingsOf(slot));
    process.slot = slot;
    this.processes[slot] = process;
  }

  /** Returns what was stored without the lease, what was stored after something newer, and the number of lists. */
  storedWrongly() {
    const strangers = this.postgres.query(`SELECT by, upstream, owner FROM public.stored WHERE owner IS NULL OR owner NOT LIKE by || '-%'`);
    const older = this.postgres.query(
      `SELECT upstream, version, before FROM (SELECT upstream, version, lag(version) OVER (PARTITION BY upstream ORDER BY number) AS before FROM public.stored WHERE version IS NOT NULL) AS all_of_them WHERE version < before`
    );
    return { strangers, older, all: Number(this.postgres.query('SELECT count(*) FROM public.stored')) };
  }

  chances(random) {
    return {
      some: () => (this.troubled = Math.floor(random() * SLOTS.length)),
      between: (least, most) => least + random() * (most - least)
    };
  }

  /** Returns the faults by name. Each is a function whose promise resolves when the fault is over. */
  faults(random) {
    const { some, between } = this.chances(random);
    const cutting = (how) => async () => {
      const proxy = this.proxies[some()];
      how(proxy);
      await pause(between(500, 4000));
      proxy.heal();
    };
    return {
      'a process is killed': async () => {
        const slot = some();
        await this.processes[slot].kill();
        await pause(between(0, 1500));
        await this.launch(slot);
      },
      'a process stands still': async () => {
        const stopped = this.processes[some()];
        await stopped.freeze();
        await pause(between(3300, 4500));
        stopped.signal('SIGCONT');
      },
      'PostgreSQL restarts': () => this.postgres.restart(),
      'PostgreSQL is cut off from one': cutting((proxy) => proxy.cut()),
      'the network of one is silent': cutting((proxy) => proxy.silence()),
      'the network of one is slow': cutting((proxy) => (proxy.delay = between(20, 200)))
    };
  }

  /** Returns what `stop` stops, the last one first. */
  parts() {
    return [this.postgres, ...(this.proxies ?? []), ...this.processes];
  }

  stop() {
    for (const part of this.parts()) part?.heal?.();
    return stopAll(this.parts());
  }
}
