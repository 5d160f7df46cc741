// Starts `proteus serve` with a configuration of its own.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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

function write(file, { upstreams, tokens = [], contexts = {}, schemas = {}, server = {}, limits = {} }) {
  writeFileSync(
    file,
    [
      section('[server]', { listen: '127.0.0.1:0', threads: 2, ...server }),
      section('[limits]', limits),
      ...tokens.map((token) => section('[[auth.tokens]]', token)),
      ...upstreams.map((upstream) => section('[[upstreams]]', { fail_fast_on_startup: true, ...upstream })),
      ...Object.entries(contexts).map(([name, context]) => section(`[contexts.${name}]`, context)),
      ...Object.entries(schemas).map(([name, schema]) => section(`[schemas.${name}]`, schema))
    ].join('\n')
  );
}

/**
 * Starts a gateway on a free port, with `upstreams`, `tokens`, `contexts` and `schemas` as in the configuration and `server` and `limits` where
 * they differ from the defaults. Unless an upstream says otherwise it must be there when the gateway starts, so that a
 * test need not wait for it.
 *
 * The result also has `folder`, where its files are, and `reconfigure(changes)`, which writes the file anew and has it read.
 */
export async function startGateway({ env = {}, ...settings }) {
  const folder = mkdtempSync(join(tmpdir(), 'proteus-e2e-'));
  const config = join(folder, 'proteus.toml');
  write(config, settings);
  const forget = () => rmSync(folder, { recursive: true, force: true });
  try {
    const gateway = await startServer('proteus', ['serve', '--config', config, '--data', join(folder, 'data')], { env });
    const stop = () => gateway.stop().finally(forget);
    const reconfigure = (changes) => {
      write(config, { ...settings, ...changes });
      process.kill(gateway.pid, 'SIGHUP');
    };
    return { ...gateway, folder, reconfigure, stop };
  } catch (error) {
    forget();
    throw error;
  }
}
