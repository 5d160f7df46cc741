import type { EndedSession, RemovedToolSession } from '../api/types.ts';

// The session has ended in any case. Returns a notice if the audit does not record it.
export function endingNotice(ended: EndedSession): string | undefined {
  return ended.durable === false ? `${ended.id} has ended, but the store could not record that: it is missing from the audit.` : undefined;
}

export function removalNotice(removed: RemovedToolSession): string | undefined {
  if (removed.durable !== false) return undefined;
  return `${removed.session_id} has ended here, and its token is refused, but the store could not record that. Proteus retries; until it succeeds, a restart brings the session back, and other processes of a cluster serve it.`;
}
