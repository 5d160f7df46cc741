import type { Proposal, State, Upstream } from '../api/types.ts';
import { count } from './text.ts';

export type Tone = 'good' | 'wait' | 'warn' | 'bad' | 'off';

// Each state has a mark besides its colour, so that users need not distinguish colours.
export const TONES: Record<State, { tone: Tone; mark: string; word: string }> = {
  connected: { tone: 'good', mark: '●', word: 'Connected' },
  connecting: { tone: 'wait', mark: '◌', word: 'Connecting' },
  degraded: { tone: 'warn', mark: '▲', word: 'Degraded' },
  failed: { tone: 'bad', mark: '✖', word: 'Failed' },
  paused: { tone: 'off', mark: '❚❚', word: 'Paused' }
};

export function title(upstream: { name: string; display_name?: string }): string {
  return upstream.display_name || upstream.name;
}

// Returns text such as "3 tools, 1 prompt".
export function offers(upstream: Upstream): string {
  const counts: [number, string][] = [[upstream.tools, 'tool'], [upstream.prompts, 'prompt'], [upstream.resources, 'resource'], [upstream.resource_templates, 'template']];
  return counts.filter(([number]) => number > 0).map(([number, word]) => count(number, word)).join(', ') || 'nothing';
}

export interface Need { tone: Tone; upstream: string; text: string; href: string }

// Returns what needs the operator's attention, most urgent first.
export function needs(upstreams: Upstream[], proposals: Proposal[]): Need[] {
  const all: (Need & { rank: number })[] = [];
  const add = (rank: number, tone: Tone, upstream: string, text: string, href = `/ui/upstreams/${encodeURIComponent(upstream)}`) =>
    all.push({ rank, tone, upstream, text, href });
  const waiting = new Map<string, { all: number; breaking: number }>();
  for (const proposal of proposals) {
    const counted = waiting.get(proposal.upstream) ?? { all: 0, breaking: 0 };
    counted.all += 1;
    if (proposal.breaking) counted.breaking += 1;
    waiting.set(proposal.upstream, counted);
  }
  for (const one of upstreams) {
    if (one.state === 'failed') add(0, 'bad', one.name, one.last_error ?? 'It cannot be reached.');
    else if (one.circuit === 'open') add(1, 'bad', one.name, 'Its circuit is open: calls are refused until it recovers.');
    else if (one.state === 'degraded') add(2, 'warn', one.name, one.last_error ?? 'It works only in part.');
    if (one.pins?.blocked) add(3, 'warn', one.name, `Calls of ${count(one.pins.blocked, 'tool')} are blocked, because the upstream now understands them differently.`, '/ui/proposals');
    if (one.pins?.unkept) add(3, 'warn', one.name, `There is no room for ${count(one.pins.unkept, 'proposal')}. They appear at a refresh after you have ratified others.`, `/ui/proposals?upstream=${encodeURIComponent(one.name)}`);
    for (const fault of one.list_faults ?? []) add(5, 'warn', one.name, `Its list of ${fault.kind} cannot be read: ${fault.error}`);
    if (one.omissions?.length) add(6, 'warn', one.name, `${count(one.omissions.length, 'entry', 'entries')} cannot be offered.`);
    if (one.shadowed?.length) add(7, 'wait', one.name, `${count(one.shadowed.length, 'name')} shadowed by another upstream.`);
  }
  for (const [upstream, counted] of waiting) {
    const breaking = counted.breaking ? `, ${counted.breaking} of them breaking` : '';
    add(4, 'warn', upstream, `${count(counted.all, 'proposal')} to decide${breaking}.`, `/ui/proposals?upstream=${encodeURIComponent(upstream)}`);
  }
  return all.sort((a, b) => a.rank - b.rank || a.upstream.localeCompare(b.upstream));
}

export function matches(upstream: Upstream, search: string): boolean {
  const text = `${upstream.name} ${upstream.display_name ?? ''} ${upstream.state} ${upstream.era ?? ''} ${upstream.refresh_strategy}`.toLowerCase();
  return search.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

// Keys of an upstream in the admin API that are not settings.
const STATUS = new Set([
  'id', 'origin', 'created_at', 'updated_at', 'revision', 'state', 'circuit', 'watch', 'protocol_version', 'last_refresh_at', 'last_error',
  'consecutive_failures', 'tools', 'prompts', 'resources', 'resource_templates', 'overrides', 'pins', 'shaping', 'shadowed', 'omissions',
  'list_faults', 'mapped_names', 'calls', 'era', 'transport'
]);
const CONFIGURED: Record<string, string> = { configured_era: 'era', configured_transport: 'transport', configured_tools: 'tools' };

// Returns the settings in the gateway's order, with the names that PATCH accepts.
export function settingsOf(upstream: Upstream): [string, unknown][] {
  return Object.entries(upstream)
    .filter(([key]) => !STATUS.has(key))
    .map(([key, value]): [string, unknown] => [CONFIGURED[key] ?? key, value]);
}
