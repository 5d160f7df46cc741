// Processes of a cluster that reach each other.
import { SECRET, startMember } from './cluster.mjs';
import { eventually } from './programs.mjs';

/** One process on a database; `settings` as for startGateway. */
export function startPeer(postgres, name, { cluster = {}, ...settings } = {}) {
  return startMember(postgres.dsn, name, { cluster: { name, peer_listen: '127.0.0.1:0', ...cluster }, ...settings });
}

/** What a process knows of all; nothing while it cannot ask PostgreSQL. */
export async function processesAt(gateway) {
  const response = await fetch(new URL('/admin/processes', gateway.url), { headers: { 'x-admin-secret': SECRET } });
  return (await response.json()).processes ?? [];
}

/** Waits until one knows so many that can be reached. */
export function knowsPeers(gateway, count) {
  return eventually(`${count} are known`, async () => (await processesAt(gateway)).filter(({ live, peer_url }) => live && peer_url).length === count);
}
