import type { AuditRecord, ChangeRecord } from '../api/types.ts';

// What people did to upstreams stands beside what upstreams did: it is often why.
const DEEDS = /^(upstream\.(create|patch|delete)|pin\.)/;

export interface Happening { at: string; change?: ChangeRecord; deed?: AuditRecord }

const second = (one: Happening) => Math.floor(Date.parse(one.at) / 1000);

// The newest first. Within a second, which is all that changes say, what a deed led to comes after it.
export function happenings(changes: ChangeRecord[], audit: AuditRecord[]): Happening[] {
  const all: Happening[] = [...changes.map((change) => ({ at: change.at, change })), ...audit.filter((one) => DEEDS.test(one.what)).map((deed) => ({ at: deed.at, deed }))];
  const number = (one: Happening) => one.change?.number ?? one.deed?.number ?? 0;
  return all.sort((a, b) => second(b) - second(a) || Number(Boolean(b.change)) - Number(Boolean(a.change)) || number(b) - number(a));
}

const nameIn = (deed: AuditRecord) => {
  const detail = deed.detail as { name?: unknown; upstream?: unknown } | null;
  return String(detail?.upstream ?? detail?.name ?? '');
};

export function deedFits(deed: AuditRecord, upstream: string, name: string, wanted: string): boolean {
  if (wanted || (upstream && nameIn(deed) !== upstream)) return false;
  return !name || JSON.stringify(deed.detail).toLowerCase().includes(name.toLowerCase());
}
