// Several processes that serve as one.
import { startGateway } from './gateway.mjs';

export const PEPPER = 'pepper-pepper-pepper-pepper-pepper';
export const SECRET = 'the-admin-secret-of-this-test';

/** One process of a cluster on a database; `settings` as for startGateway. */
export function startMember(postgres, name, { env = {}, cluster = {}, ...settings } = {}) {
  return startGateway({
    cluster: { name, peer_listen: '127.0.0.1:0', ...cluster },
    ...settings,
    env: { PROTEUS_STORE: postgres.dsn, PROTEUS_PEPPER: PEPPER, PROTEUS_ADMIN_SECRET: SECRET, ...env }
  });
}

/** What a process of a cluster says of all of them. */
export async function processesAt(gateway) {
  const response = await fetch(new URL('/admin/processes', gateway.url), { headers: { 'x-admin-secret': SECRET } });
  return (await response.json()).processes;
}
