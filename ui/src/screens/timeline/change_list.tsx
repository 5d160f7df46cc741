import type { ChangedEntry, Changes, KindChange } from '../../api/types.ts';
import { Badge } from '../../parts/state.tsx';
import { UntrustedText } from '../../parts/text.tsx';
import { count } from '../../presentation/text.ts';

const KINDS: Record<string, string> = { tools: 'tool', prompts: 'prompt', resources: 'resource', resource_templates: 'template' };
const MOST = 20;

// Returns the kinds that changed, from an answer that also has other members.
export function changesOf(members: Record<string, unknown>): Changes {
  const out: Changes = {};
  for (const kind of Object.keys(KINDS)) {
    const change = members[kind] as KindChange | undefined;
    if (change && ((change.added?.length ?? 0) + (change.removed?.length ?? 0) + (change.changed?.length ?? 0)) > 0) out[kind] = change;
  }
  return out;
}

function Names({ sign, word, kind, names }: { sign: string; word: string; kind: string; names: string[] }) {
  if (names.length === 0) return null;
  return (
    <li class={`change ${word}`}>
      <span class="sign" aria-hidden="true">{sign}</span> {count(names.length, KINDS[kind] ?? kind)} {word}:{' '}
      {names.slice(0, MOST).map((name, index) => <>{index > 0 && ', '}<code><UntrustedText text={name} /></code></>)}
      {names.length > MOST && ` and ${(names.length - MOST).toLocaleString('en')} more`}
    </li>
  );
}

function Changed({ entry, kind }: { entry: ChangedEntry; kind: string }) {
  return (
    <li class="change changed">
      <span class="sign" aria-hidden="true">~</span> {KINDS[kind] ?? kind} <code><UntrustedText text={entry.name} /></code> changed{' '}
      {entry.breaking ? <Badge tone="bad" mark="✖" word="Breaking" /> : <Badge tone="good" mark="●" word="Compatible" />}
      {entry.reasons.length > 0 && <ul>{entry.reasons.map((reason) => <li><UntrustedText text={reason} /></li>)}</ul>}
    </li>
  );
}

export function ChangeList({ change }: { change: Changes }) {
  return (
    <ul class="changes">
      {Object.entries(change).map(([kind, of]) => (
        <>
          <Names sign="+" word="added" kind={kind} names={of.added ?? []} />
          <Names sign="−" word="removed" kind={kind} names={of.removed ?? []} />
          {(of.changed ?? []).slice(0, MOST).map((entry) => <Changed entry={entry} kind={kind} />)}
          {(of.changed?.length ?? 0) > MOST && <li>and {((of.changed?.length ?? 0) - MOST).toLocaleString('en')} more changed</li>}
        </>
      ))}
    </ul>
  );
}
