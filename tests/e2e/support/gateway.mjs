// Starts `proteus serve` with a configuration of its own.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startServer } from './programs.mjs';

/** A value as TOML: JSON is that already, but for tables. */
function toml(value) {
  if (Array.isArray(value)) return `[${value.map(toml).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  return `{ ${Object.entries(value).map(([key, member]) => `${key} = ${toml(member)}`).join(', ')} }`;
}

function section(head, values) {
  return [head, ...Object.entries(values).map(([key, value]) => `${key} = ${toml(value)}`), ''].join('\n');
}

/**
 * Starts a gateway on a free port, with `upstreams` and `tokens` as in the configuration and `server` and `limits` where
 * they differ from the defaults. Unless an upstream says otherwise it must be there when the gateway starts, so that a
 * test need not wait for it.
 */
export async function startGateway({ upstreams, tokens = [], server = {}, limits = {}, env = {} }) {
  const folder = mkdtempSync(join(tmpdir(), 'proteus-e2e-'));
  const config = join(folder, 'proteus.toml');
  writeFileSync(
    config,
    [
      section('[server]', { listen: '127.0.0.1:0', threads: 2, ...server }),
      section('[limits]', limits),
      ...tokens.map((token) => section('[[auth.tokens]]', token)),
      ...upstreams.map((upstream) => section('[[upstreams]]', { fail_fast_on_startup: true, ...upstream }))
    ].join('\n')
  );
  const forget = () => rmSync(folder, { recursive: true, force: true });
  try {
    const gateway = await startServer('proteus', ['serve', '--config', config, '--data', join(folder, 'data')], { env });
    const stop = () => gateway.stop().finally(forget);
    return { ...gateway, stop };
  } catch (error) {
    forget();
    throw error;
  }
}
