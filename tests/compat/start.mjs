// Starts the server of a row, on its own and behind a gateway.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { startGateway } from '../e2e/support/gateway.mjs';
import { startScript } from '../e2e/support/programs.mjs';

export const here = dirname(fileURLToPath(import.meta.url));
const ANNOUNCE = pathToFileURL(join(here, '../e2e/support/announce_port.mjs')).href;

/** Returns the folder of an installed package, preferably that of the short form. */
export function packageFolder(name) {
  for (const form of ['short', 'full']) {
    const folder = join(here, form, 'node_modules', name);
    if (existsSync(folder)) return folder;
  }
  throw new Error(`${name} is not installed; scripts/setup.sh npm compat installs it`);
}

export function versionOf(name) {
  return JSON.parse(readFileSync(join(packageFolder(name), 'package.json'), 'utf8')).version;
}

/** Returns the path of a package's program. */
export function scriptOf(name, program = undefined) {
  const folder = packageFolder(name);
  const { bin, main } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const path = typeof bin === 'string' ? bin : (bin?.[program ?? name.split('/').at(-1)] ?? Object.values(bin ?? {})[0] ?? main);
  return join(folder, path);
}

/** Makes a temporary folder for servers to write to; `forget` removes it. */
export function scratch() {
  const folder = mkdtempSync(join(tmpdir(), 'proteus-compat-'));
  return { folder, forget: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Returns the arguments of node for a row. `places` has the folders that the server may write to. */
function argumentsOf(row, places) {
  const [script, ...rest] = row.script(places);
  return [...(row.node ?? []), script, ...rest];
}

/**
 * Starts the server of a row for one side of the comparison; `side` is the name of that side's own folder. The result
 * has `target` for a peer, `upstream` for a gateway's configuration, `restart()` and `stop()`. A server on standard
 * streams is started by the peer or the gateway that uses it, and has no `restart`.
 */
export async function startRow(row, folder, side) {
  const own = join(folder, side);
  mkdirSync(own, { recursive: true });
  const places = { folder, own, port: '0' };
  const env = { ...row.env?.(places) };
  const args = argumentsOf(row, places);
  if (row.via === 'stdio') {
    const command = [process.execPath, ...args];
    return { target: { via: 'stdio', command, env }, upstream: { command, environment: env }, restart: undefined, stop: async () => {} };
  }
  let server = await startScript(row.name, ['--import', ANNOUNCE, ...args], { env: { PORT: '0', ...env } });
  const url = new URL(row.path ?? new URL(server.url).pathname, server.url);
  const restart = async () => {
    await server.stop();
    server = await startScript(row.name, ['--import', ANNOUNCE, ...argumentsOf(row, { ...places, port: url.port })], { env: { ...env, PORT: url.port } });
  };
  const upstream = { url: url.href, ...(row.via === 'sse' ? { transport: 'sse' } : {}) };
  return { target: { via: row.via, url: url.href }, upstream, restart, stop: () => server.stop() };
}

const withoutUnset = (settings) => Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));

/** Starts a gateway in front of a server that `startRow` started, with the default prefix for names. */
export async function startGatewayOf(started, settings = {}) {
  const gateway = await startGateway({
    upstreams: [withoutUnset({ name: 'up', ...started.upstream, ...settings })],
    limits: { worker_stall: '2s' }
  });
  return { ...gateway, prefix: 'up_', target: { via: 'http', url: gateway.url } };
}
