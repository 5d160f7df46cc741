import type { AuditRecord, ChangeRecord } from '../api/types.ts';

// Audited actions that the timeline shows among the changes of upstreams, because they are often the reason.
const SHOWN_ACTIONS = /^(upstream\.(create|patch|delete)|pin\.)/;

export interface TimelineEvent { at: string; change?: ChangeRecord; auditEntry?: AuditRecord }

const second = (one: TimelineEvent) => Math.floor(Date.parse(one.at) / 1000);

// Merges changes and actions, newest first. Changes are dated only to the second; within a second, a change counts as
// the consequence of an action.
export function timelineEvents(changes: ChangeRecord[], audit: AuditRecord[]): TimelineEvent[] {
  const all: TimelineEvent[] = [...changes.map((change) => ({ at: change.at, change })), ...audit.filter((one) => SHOWN_ACTIONS.test(one.what)).map((entry) => ({ at: entry.at, auditEntry: entry }))];
  const number = (one: TimelineEvent) => one.change?.number ?? one.auditEntry?.number ?? 0;
  return all.sort((a, b) => second(b) - second(a) || Number(Boolean(b.change)) - Number(Boolean(a.change)) || number(b) - number(a));
}

const nameIn = (entry: AuditRecord) => {
  const detail = entry.detail as { name?: unknown; upstream?: unknown } | null;
  return String(detail?.upstream ?? detail?.name ?? '');
};

export function auditEntryFits(entry: AuditRecord, upstream: string, name: string, wanted: string): boolean {
  if (wanted || (upstream && nameIn(entry) !== upstream)) return false;
  return !name || JSON.stringify(entry.detail).toLowerCase().includes(name.toLowerCase());
}
