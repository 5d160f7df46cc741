import { useMemo } from 'preact/hooks';
import { api } from '../../api/client.ts';
import type { ChangeRecord } from '../../api/types.ts';
import { useLive } from '../../live/live.ts';
import { Empty, Loading, ProblemNotice } from '../../parts/notice.tsx';
import { Link, setQuery, usePlace, useTitle } from '../../parts/page.tsx';
import { UntrustedText } from '../../parts/text.tsx';
import { visible } from '../../presentation/text.ts';
import { ago, moment } from '../../presentation/time.ts';
import { auditEntryFits, timelineEvents, type TimelineEvent } from '../../presentation/timeline.ts';
import { detailOf } from '../audit/audit.tsx';
import { ChangeList, changesOf } from './change_list.tsx';

const KEPT = 1000; // newest changes

async function newest(): Promise<TimelineEvent[]> {
  const { newest: last } = await api.changes(Number.MAX_SAFE_INTEGER, 1);
  const [{ changes }, audit] = await Promise.all([api.changes(Math.max(0, last - KEPT), KEPT), api.audit()]);
  return timelineEvents(changes, audit);
}

export type Severity = 'breaking' | 'compatible';

export function severity(record: ChangeRecord): Severity {
  const kinds = Object.values(changesOf(record.change));
  return kinds.some((kind) => (kind.removed?.length ?? 0) > 0 || kind.changed?.some((one) => one.breaking)) ? 'breaking' : 'compatible';
}

export function fits(record: ChangeRecord, upstream: string, name: string, wanted: string): boolean {
  if (upstream && record.upstream !== upstream) return false;
  if (wanted && severity(record) !== wanted) return false;
  if (!name) return true;
  const searched = name.toLowerCase();
  return Object.values(changesOf(record.change)).some((kind) =>
    [...(kind.added ?? []), ...(kind.removed ?? []), ...(kind.changed ?? []).map((one) => one.name)].some((each) => each.toLowerCase().includes(searched)));
}

export function Timeline() {
  useTitle('Timeline');
  const place = usePlace();
  const { value, problem } = useLive(newest, []);
  const upstream = place.query.get('upstream') ?? '';
  const name = place.query.get('name') ?? '';
  const wanted = place.query.get('severity') ?? '';
  const all = value ?? [];
  const upstreams = useMemo(() => [...new Set(all.flatMap((one) => (one.change ? [one.change.upstream] : [])))].sort(), [all]);
  const shown = useMemo(() => all.filter((one) => (one.change ? fits(one.change, upstream, name, wanted) : auditEntryFits(one.auditEntry!, upstream, name, wanted))), [all, upstream, name, wanted]);
  const now = Date.now();
  return (
    <>
      <header class="screen-head"><h1>Timeline</h1></header>
      <div class="filters">
        <label>Upstream
          <select value={upstream} onChange={(event) => setQuery({ upstream: event.currentTarget.value || null })}>
            <option value="">All</option>
            {upstreams.concat(upstream && !upstreams.includes(upstream) ? [upstream] : []).map((one) => <option value={one}>{visible(one)}</option>)}
          </select>
        </label>
        <label>Changes
          <select value={wanted} onChange={(event) => setQuery({ severity: event.currentTarget.value || null })}>
            <option value="">All</option><option value="breaking">Breaking</option><option value="compatible">Compatible</option>
          </select>
        </label>
        <label>Name
          <input type="search" value={name} placeholder="part of a name" onInput={(event) => setQuery({ name: event.currentTarget.value || null })} />
        </label>
      </div>
      <ProblemNotice problem={problem} />
      {!value && !problem && <Loading />}
      {value && all.length === 0 && <Empty title="Nothing has changed yet"><p>What upstreams add, remove or change appears here, and so does what operators do to them.</p></Empty>}
      {value && all.length > 0 && shown.length === 0 && <p class="quiet">No change matches.</p>}
      <ol class="timeline">
        {shown.slice(0, 200).map(({ change: record, auditEntry }) => (record ? (
          <li key={record.number} class={severity(record)}>
            <p class="when"><time dateTime={record.at} title={moment(record.at)}>{ago(record.at, now)}</time>{' '}
              <Link href={record.upstream === 'datasets' ? '/ui/datasets' : `/ui/upstreams/${encodeURIComponent(record.upstream)}`}><UntrustedText text={record.upstream} /></Link>
              {severity(record) === 'breaking' && <span class="badge bad"><span class="mark" aria-hidden="true">✖</span>May break callers</span>}</p>
            <ChangeList change={changesOf(record.change)} />
          </li>
        ) : (
          <li key={`audit ${auditEntry!.number}`} class="audit-entry">
            <p class="when"><time dateTime={auditEntry!.at} title={moment(auditEntry!.at)}>{ago(auditEntry!.at, now)}</time> <strong><UntrustedText text={auditEntry!.who} /></strong></p>
            <p><span class="sign" aria-hidden="true">◆</span> {auditEntry!.what} <span class="quiet"><UntrustedText text={detailOf(auditEntry!.detail)} /></span></p>
          </li>
        )))}
      </ol>
      {shown.length > 200 && <p class="quiet">The newest 200 of {shown.length.toLocaleString('en')}. Use the filters to see others.</p>}
    </>
  );
}
