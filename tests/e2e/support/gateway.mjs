// Starts `proteus serve` with its own configuration.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { makeFolder } from './children.mjs';
import { startServer } from './programs.mjs';

/** Returns a value as TOML, which differs from JSON only in tables. */
function toml(value) {
  if (Array.isArray(value)) return `[${value.map(toml).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  return `{ ${Object.entries(value).map(([key, member]) => `${JSON.stringify(key)} = ${toml(member)}`).join(', ')} }`;
}

function section(head, values) {
  return [head, ...Object.entries(values).map(([key, value]) => `${key} = ${toml(value)}`), ''].join('\n');
}

/** Returns the text of a configuration; see `startGateway`. */
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

/** Returns how much CPU time the hypervisor has taken from this machine so far. */
const stolenMs = () => 10 * Number(/^cpu +(?:\d+ ){7}(\d+)/.exec(readFileSync('/proc/stat', 'utf8'))?.[1] ?? 0);

// The time stolen so far, at several moments of the last half second, oldest first.
const samples = [{ at: performance.now(), stolen: stolenMs() }];
setInterval(() => {
  const now = performance.now();
  samples.push({ at: now, stolen: stolenMs() });
  while (samples[1].at <= now - 500) samples.shift();
}, 50).unref();

/**
 * Whether a line of the log reports a stalled worker. Time that the hypervisor takes from a virtual machine counts as
 * CPU time of the running thread. If it took half of the handler's time, nobody can tell whether the handler stalled.
 */
function reportsStall(line) {
  if (!line.includes(' stalled: ')) return false;
  const spent = Number(/ (\d+) ms of CPU time/.exec(line)?.[1] ?? Infinity);
  const stolen = stolenMs() - samples[0].stolen;
  if (stolen >= spent / 2) console.error(`${stolen} ms were stolen from this machine during this stall: ${line}`);
  return stolen < spent / 2;
}

/**
 * Starts a gateway on a free port. `upstreams`, `tokens`, `issuers`, `rules`, `contexts` and `schemas` are as in the
 * configuration; `server`, `limits`, `auth`, `egress`, `admin`, `log`, `datasets`, `telemetry` and `cluster` need only
 * the keys that differ from the defaults. Unless an upstream overrides `fail_fast_on_startup`, it must answer when the
 * gateway starts, so that tests need not wait for it.
 *
 * The result also has `folder` with its files, `write(text)`, which replaces the configuration, `reconfigure(changes)`,
 * which replaces it and sends SIGHUP, and `stalls()` with the lines of the log about stalled workers.
 *
 * `stop` and `kill` throw if a worker of the gateway stalled: nothing that a test sends may delay other callers.
 */
export async function startGateway({ env = {}, folder = makeFolder(), ...settings }) {
  const config = join(folder, 'proteus.toml');
  // Replaces the file atomically, because the gateway might read it halfway.
  const write = (text) => {
    writeFileSync(`${config}.new`, text);
    renameSync(`${config}.new`, config);
  };
  write(configuration(settings));
  const stalls = [];
  const onLine = (line) => reportsStall(line) && stalls.push(line);
  const gateway = await startServer('proteus', ['serve', '--config', config, '--data', join(folder, 'data')], { env, onLine });
  const ending = (end) => async () => {
    const how = await end();
    if (stalls.length > 0) throw new Error(`a worker stalled:\n${stalls.join('\n')}`);
    return how;
  };
  const reconfigure = (changes) => {
    write(configuration({ ...settings, ...changes }));
    gateway.signal('SIGHUP');
  };
  return { ...gateway, folder, write, reconfigure, stalls: () => stalls, stop: ending(gateway.stop), kill: ending(gateway.kill) };
}
