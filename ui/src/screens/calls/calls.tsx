import { useMemo } from 'preact/hooks';
import { api } from '../../api/client.ts';
import { useLive } from '../../live/live.ts';
import { CallList, NotKept } from '../../parts/call_list.tsx';
import { Empty, Loading, ProblemNotice } from '../../parts/notice.tsx';
import { setQuery, usePlace, useTitle } from '../../parts/page.tsx';
import { fits } from '../../presentation/calls.ts';
import { visible } from '../../presentation/text.ts';

const MOST = 300;

// The recent calls, if they are recorded.
export function Calls() {
  useTitle('Calls');
  const place = usePlace();
  const upstream = place.query.get('upstream') ?? '';
  const who = place.query.get('who') ?? '';
  const outcome = place.query.get('outcome') ?? '';
  const search = place.query.get('q') ?? '';
  const { value, problem } = useLive(() => api.records(upstream || undefined, 1000), [upstream]);
  const all = value?.records ?? [];
  const people = useMemo(() => [...new Set(all.map((one) => one.principal))].filter(Boolean).sort(), [all]);
  const shown = all.filter((one) => fits(one, who, outcome, search));
  return (
    <>
      <header class="screen-head"><h1>Calls</h1></header>
      <ProblemNotice problem={problem} />
      {value?.kept === 'off' && <Empty title="Calls are not recorded"><NotKept /></Empty>}
      {value?.kept !== 'off' && (
        <>
          <div class="filters">
            <label>Upstream
              <input type="search" value={upstream} placeholder="all" onInput={(event) => setQuery({ upstream: event.currentTarget.value || null })} />
            </label>
            <label>Who
              <select value={who} onChange={(event) => setQuery({ who: event.currentTarget.value || null })}>
                <option value="">Everybody</option>
                {people.concat(who && !people.includes(who) ? [who] : []).map((one) => <option value={one}>{visible(one)}</option>)}
              </select>
            </label>
            <label>Outcome
              <select value={outcome} onChange={(event) => setQuery({ outcome: event.currentTarget.value || null })}>
                <option value="">All</option>
                <option value="failed">Failed</option>
              </select>
            </label>
            <label>What
              <input type="search" value={search} placeholder="words" onInput={(event) => setQuery({ q: event.currentTarget.value || null })} />
            </label>
          </div>
          {!value && !problem && <Loading />}
          {value && all.length === 0 && <Empty title={upstream ? 'No calls to this upstream yet' : 'Nobody has called anything yet'}><p>Calls appear here when they have ended.</p></Empty>}
          {all.length > 0 && shown.length === 0 && <p class="quiet">No call matches.</p>}
          <CallList records={shown.slice(0, MOST)} withUpstream />
          {shown.length > MOST && <p class="quiet">The newest {MOST} of {shown.length.toLocaleString('en')}.</p>}
        </>
      )}
    </>
  );
}
