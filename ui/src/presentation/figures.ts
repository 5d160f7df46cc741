import type { Moment } from '../api/types.ts';
import { count } from './text.ts';

export interface Line { label: string; tone: 'good' | 'bad' | 'wait'; values: (number | null)[]; unit: string }
interface Lines { summary: string; times: number[]; series: Line[] }

const timesOf = (moments: Moment[]) => moments.map((one) => Date.parse(one.at) / 1000);
const aMinute = (number: number, seconds: number) => (seconds > 0 ? (number * 60) / seconds : 0);

export function callsOf(moments: Moment[]): Lines {
  const requests = moments.reduce((sum, one) => sum + one.requests, 0);
  const failed = moments.reduce((sum, one) => sum + one.failed, 0);
  const minutes = moments.reduce((sum, one) => sum + one.seconds, 0) / 60;
  return {
    summary: `${count(requests, 'request')} in ${count(Math.max(1, Math.round(minutes)), 'minute')}, ${failed.toLocaleString('en')} failed.`,
    times: timesOf(moments),
    series: [
      { label: 'all', tone: 'good', unit: '', values: moments.map((one) => aMinute(one.requests, one.seconds)) },
      { label: 'failed', tone: 'bad', unit: '', values: moments.map((one) => aMinute(one.failed, one.seconds)) }
    ]
  };
}

export function latencyOf(moments: Moment[]): Lines {
  const measured = moments.filter((one) => one.mean_ms !== null);
  const all = measured.reduce((sum, one) => sum + one.requests, 0);
  const mean = measured.reduce((sum, one) => sum + one.mean_ms! * one.requests, 0) / all;
  return {
    summary: all > 0 ? `${mean.toFixed(1)} ms on average.` : 'No request was measured.',
    times: timesOf(moments),
    series: [{ label: 'mean', tone: 'wait', unit: ' ms', values: moments.map((one) => one.mean_ms) }]
  };
}

// Returns the indexes of values without a neighbour, which need a point because a line through them has no length.
export function aloneIn(values: (number | null)[]): number[] {
  return values.flatMap((value, index) => (value !== null && (values[index - 1] ?? null) === null && (values[index + 1] ?? null) === null ? [index] : []));
}
