// Processes of a cluster that are linked to each other.
import { SECRET, startMember } from './cluster.mjs';
import { eventually } from './programs.mjs';

/** Starts a process on this database; `settings` as for `startGateway`. */
export function startPeer(postgres, name, { cluster = {}, ...settings } = {}) {
  return startMember(postgres.dsn, name, { cluster: { name, peer_listen: '127.0.0.1:0', ...cluster }, ...settings });
}

/** Returns what a process knows of all processes; nothing while it cannot reach PostgreSQL. */
export async function processesAt(gateway) {
  const response = await fetch(new URL('/admin/processes', gateway.url), { headers: { 'x-admin-secret': SECRET } });
  return (await response.json()).processes ?? [];
}

/** Waits until a process knows `count` live processes with a peer address. */
export function knowsPeers(gateway, count) {
  return eventually(`${count} are known`, async () => (await processesAt(gateway)).filter(({ live, peer_url }) => live && peer_url).length === count);
}
