import type { CallRecord } from '../api/types.ts';
import type { Tone } from './upstreams.ts';

const OUTCOMES: Record<string, { tone: Tone; mark: string; word: string }> = {
  ok: { tone: 'good', mark: '●', word: 'Done' },
  tool_error: { tone: 'warn', mark: '▲', word: 'Tool error' },
  cancelled: { tone: 'off', mark: '❚❚', word: 'Cancelled' }
};

// Returns the badge of an outcome. Failures are shown with the gateway's name for them.
export function outcomeOf(record: CallRecord): { tone: Tone; mark: string; word: string } {
  return OUTCOMES[record.outcome] ?? { tone: 'bad', mark: '✖', word: record.outcome.replaceAll('_', ' ') };
}

export function fits(record: CallRecord, who: string, outcome: string, words: string): boolean {
  if (who && record.principal !== who) return false;
  if (outcome === 'failed' && ['ok', 'cancelled'].includes(record.outcome)) return false;
  const text = `${record.upstream} ${record.method} ${record.name} ${record.outcome}`.toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

export const took = (milliseconds: number) => (milliseconds < 10 ? `${milliseconds.toFixed(1)} ms` : milliseconds < 10_000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`);
