import { useMemo } from 'preact/hooks';
import { api } from '../../api/client.ts';
import type { AuditRecord } from '../../api/types.ts';
import { useLive } from '../../live/live.ts';
import { Empty, Loading, ProblemNotice } from '../../parts/notice.tsx';
import { setQuery, usePlace, useTitle } from '../../parts/page.tsx';
import { UntrustedText } from '../../parts/text.tsx';
import { visible } from '../../presentation/text.ts';
import { ago, moment } from '../../presentation/time.ts';

export function fits(record: AuditRecord, who: string, words: string): boolean {
  if (who && record.who !== who) return false;
  const text = `${record.what} ${JSON.stringify(record.detail)}`.toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

// Returns text such as "name: files · keys: timeout". Shortens hashes.
export function detailOf(detail: unknown): string {
  if (typeof detail !== 'object' || detail === null) return JSON.stringify(detail);
  const text = (value: unknown) => (typeof value === 'string' ? value.replace(/\b([0-9a-f]{12})[0-9a-f]{20,}\b/g, '$1…') : JSON.stringify(value));
  return Object.entries(detail).map(([key, value]) => `${key}: ${text(value)}`).join(' · ');
}

export function Audit() {
  useTitle('Audit');
  const place = usePlace();
  const { value, problem } = useLive(api.audit, []);
  const who = place.query.get('who') ?? '';
  const search = place.query.get('q') ?? '';
  const all = value ?? [];
  const people = useMemo(() => [...new Set(all.map((one) => one.who))].sort(), [all]);
  const shown = all.filter((one) => fits(one, who, search));
  const now = Date.now();
  return (
    <>
      <header class="screen-head"><h1>Audit</h1></header>
      <div class="filters">
        <label>Who
          <select value={who} onChange={(event) => setQuery({ who: event.currentTarget.value || null })}>
            <option value="">Everybody</option>
            {people.map((one) => <option value={one}>{visible(one)}</option>)}
          </select>
        </label>
        <label>What
          <input type="search" value={search} placeholder="words" onInput={(event) => setQuery({ q: event.currentTarget.value || null })} />
        </label>
      </div>
      <ProblemNotice problem={problem} />
      {!value && !problem && <Loading />}
      {value && all.length === 0 && <Empty title="Nobody has changed anything yet"><p>Every change that somebody makes here or through the admin API appears here.</p></Empty>}
      {value && all.length > 0 && shown.length === 0 && <p class="quiet">No entry matches.</p>}
      <ol class="audit">
        {shown.slice(0, 300).map((record) => (
          <li key={record.number}>
            <time class="quiet" dateTime={record.at} title={moment(record.at)}>{ago(record.at, now)}</time>
            <strong><UntrustedText text={record.who} /></strong>
            <span>{record.what}</span>
            <span><UntrustedText text={detailOf(record.detail)} /></span>
          </li>
        ))}
      </ol>
      {shown.length > 300 && <p class="quiet">The newest 300 of {shown.length.toLocaleString('en')}.</p>}
    </>
  );
}
