// Three processes, PostgreSQL and the network between them, and what may happen to each.
import { setTimeout as pause } from 'node:timers/promises';

import { startMember } from './cluster.mjs';
import { startPostgres } from './postgres.mjs';
import { PostgresProxy } from './postgres_proxy.mjs';

export const SLOTS = ['one', 'two', 'three'];

// Each process is a user of its own, so that the database tells who stored what: which process, and who had the lease then.
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
  troubled = undefined;  // the slot that something happened to last

  static async start(settings = {}) {
    const cluster = new this();
    cluster.settings = settings;
    cluster.postgres = startPostgres([...SLOTS, 'another'].map((slot) => `CREATE ROLE ${slot} SUPERUSER LOGIN;`).join('\n'));
    await cluster.prepare();
    for (const slot of SLOTS.keys()) await cluster.launch(slot);
    cluster.postgres.query(WATCHED);
    return cluster;
  }

  /** Begins what processes need besides PostgreSQL. */
  async prepare() {
    this.proxies = await Promise.all(SLOTS.map(() => PostgresProxy.start(this.postgres.socket)));
  }
  /** Where one process finds PostgreSQL. */
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

  /** What was stored by somebody who did not have the lease, and what was stored after something newer. */
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

  /** What may happen, by name; each lasts until it is over. */
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
        this.processes[slot].signal('SIGKILL');
        await this.processes[slot].ended;
        await pause(between(0, 1500));
        await this.launch(slot);
      },
      'a process stands still': async () => {
        const stopped = this.processes[some()];
        await stopped.standStill();
        await pause(between(3300, 4500));
        stopped.signal('SIGCONT');
      },
      'PostgreSQL restarts': () => this.postgres.restart(),
      'PostgreSQL is cut off from one': cutting((proxy) => proxy.cut()),
      'the network of one is silent': cutting((proxy) => proxy.silence()),
      'the network of one is slow': cutting((proxy) => (proxy.delay = between(20, 200)))
    };
  }

  async stop() {
    for (const proxy of this.proxies ?? []) proxy.heal();
    for (const process of this.processes) await process.stop();
    for (const proxy of this.proxies ?? []) await proxy.stop();
    await this.postgres?.stop();
  }
}
