import type { State } from '../api/types.ts';
import { TONES, type Tone } from '../presentation/upstreams.ts';

export function StateBadge({ state }: { state: State }) {
  const { tone, mark, word } = TONES[state] ?? { tone: 'off', mark: '?', word: state };
  return <Badge tone={tone} mark={mark} word={word} />;
}

export function Badge({ tone, mark, word }: { tone: Tone; mark: string; word: string }) {
  return <span class={`badge ${tone}`}><span class="mark" aria-hidden="true">{mark}</span>{word}</span>;
}
