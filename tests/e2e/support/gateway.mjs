// Starts `proteus serve` with a configuration of its own.
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startServer } from './programs.mjs';

/** A value as TOML: JSON is that already, but for tables. */
function toml(value) {
  if (Array.isArray(value)) return `[${value.map(toml).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  return `{ ${Object.entries(value).map(([key, member]) => `${JSON.stringify(key)} = ${toml(member)}`).join(', ')} }`;
}

function section(head, values) {
  return [head, ...Object.entries(values).map(([key, value]) => `${key} = ${toml(value)}`), ''].join('\n');
}

/** The text of a configuration; see `startGateway`. */
export function configuration({ upstreams = [], tokens = [], issuers = [], rules = [], contexts = {}, schemas = {}, server = {}, limits = {}, auth = {}, egress = {}, admin = {}, log = {}, datasets = {}, telemetry = {}, cluster }) {
  return [
    section('[server]', { listen: '127.0.0.1:0', threads: 2, ...server }),
    section('[limits]', { worker_stall: process.env.PROTEUS_WORKER_STALL ?? '50ms', ...limits }),
    ...(Object.keys(auth).length > 0 ? [section('[auth]', auth)] : []),
    ...(Object.keys(egress).length > 0 ? [section('[egress]', egress)] : []),
    ...(Object.keys(admin).length > 0 ? [section('[admin]', admin)] : []),
    ...(Object.keys(log).length > 0 ? [section('[log]', log)] : []),
    ...(Object.keys(datasets).length > 0 ? [section('[datasets]', datasets)] : []),
    ...(Object.keys(telemetry).length > 0 ? [section('[telemetry]', telemetry)] : []),
    ...(cluster ? [section('[cluster]', cluster)] : []),
    ...tokens.map((token) => section('[[auth.tokens]]', token)),
    ...issuers.map((issuer) => section('[[auth.issuers]]', issuer)),
    ...rules.map((rule) => section('[[auth.rules]]', rule)),
    ...upstreams.map((upstream) => section('[[upstreams]]', { fail_fast_on_startup: true, ...upstream })),
    ...Object.entries(contexts).map(([name, context]) => section(`[contexts.${name}]`, context)),
    ...Object.entries(schemas).map(([name, schema]) => section(`[schemas.${name}]`, schema))
  ].join('\n');
}

/** How long the hypervisor has kept CPUs of this machine from running, so far. */
const stolenMs = () => 10 * Number(/^cpu +(?:\d+ ){7}(\d+)/.exec(readFileSync('/proc/stat', 'utf8'))?.[1] ?? 0);

/** A folder for a configuration and data, and the way to be rid of it. */
export function makeFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'proteus-e2e-'));
  return { folder, forget: () => rmSync(folder, { recursive: true, force: true }) };
}

/**
 * Starts a gateway on a free port, with `upstreams`, `tokens`, `issuers`, `rules`, `contexts` and `schemas` as in the configuration and `server`, `limits`, `auth`, `egress`, `admin`, `log`, `datasets`, `telemetry` and `cluster`
 * where they differ from the defaults. Unless an upstream says otherwise it must be there when the gateway starts, so that a
 * test need not wait for it.
 *
 * The result also has `folder`, where its files are, `write(text)`, which replaces the configuration, and `reconfigure(changes)`, which writes
 * it anew and has it read. A gateway that is given a `folder` leaves it when it stops.
 *
 * `stop` fails where a worker of the gateway stalled: nothing that a test sends may keep the callers of others waiting.
 */
export async function startGateway({ env = {}, folder: given, ...settings }) {
  const { folder, forget } = given ? { folder: given, forget: () => {} } : makeFolder();
  const config = join(folder, 'proteus.toml');
  // As a whole, because a gateway that looks at it in between would believe a part of it.
  const write = (text) => {
    writeFileSync(`${config}.new`, text);
    renameSync(`${config}.new`, config);
  };
  write(configuration(settings));
  try {
    const stolenBefore = stolenMs();
    const gateway = await startServer('proteus', ['serve', '--config', config, '--data', join(folder, 'data')], { env });
    const stolen = () => stolenMs() - stolenBefore;
    const stop = async () => {
      const how = await gateway.stop().finally(forget);
      const stalls = gateway.log().split('\n').filter((line) => line.includes(' stalled: '));
      // What the hypervisor takes from a virtual machine counts as CPU time of whoever ran.
      if (stalls.length > 0 && stolen() >= 50) console.error(`stalls while ${stolen()} ms were stolen from this machine:\n${stalls.join('\n')}`);
      else if (stalls.length > 0) throw new Error(`a worker stalled:\n${stalls.join('\n')}`);
      return how;
    };
    const reconfigure = (changes) => {
      write(configuration({ ...settings, ...changes }));
      gateway.signal('SIGHUP');
    };
    return { ...gateway, folder, write, reconfigure, stolen, stop };
  } catch (error) {
    forget();
    throw error;
  }
}
