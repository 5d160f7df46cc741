import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { api, type Perspective, type Problem } from '../../api/client.ts';
import type { Entry } from '../../api/types.ts';
import { useLive } from '../../live/live.ts';
import { Loading, ProblemNotice } from '../../parts/notice.tsx';
import { setQuery, usePlace, useTitle } from '../../parts/page.tsx';
import { UntrustedText } from '../../parts/text.tsx';
import { VirtualList } from '../../parts/virtual_list.tsx';
import { count, visible } from '../../presentation/text.ts';
import { Explanation } from './explanation.tsx';
import { Found } from './found.tsx';

const PAGE = 200; // entries of one request
const PAUSE = 200; // milliseconds without typing after which a search is sent

const FULL = '*'; // full access; no principal has this name
const perspectiveOf = (query: URLSearchParams): Perspective => ({ as: query.get('as'), context: query.get('context') ?? '' });

interface Known { list: string; entries: Map<number, Entry>; asked: Set<number>; problem?: Problem }

// Returns a search once it has not changed for a moment.
function useSettled(search: string): string {
  const [settled, setSettled] = useState(search);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(search), PAUSE);
    return () => clearTimeout(timer);
  }, [search]);
  return settled;
}

// Loads the pages of a long list as they become visible. When the list changes, shows the old entries until the new
// ones are loaded.
function useEntries(perspective: Perspective, search: string, version: string) {
  const list = JSON.stringify([perspective.as, perspective.context, search]);
  const [, redraw] = useState(0);
  const before = useRef<Known | undefined>(undefined);
  const known = useMemo<Known>(() => ({ list, entries: new Map(), asked: new Set() }), [list, version]);
  useEffect(() => () => { before.current = known; }, [known]);
  const onRange = useCallback((first: number, last: number) => {
    const load = async (page: number) => {
      if (known.asked.has(page)) return;
      known.asked.add(page);
      try {
        const { entries } = await api.view(perspective, search, page * PAGE, PAGE);
        entries.forEach((entry, index) => known.entries.set(page * PAGE + index, entry));
        known.problem = undefined;
      } catch (caught) {
        known.asked.delete(page);
        known.problem = caught as Problem;
      }
      redraw((n) => n + 1);
    };
    for (let page = Math.floor(first / PAGE); page <= Math.floor(Math.max(first, last - 1) / PAGE); page += 1) void load(page);
  }, [known]);
  const at = (index: number) => known.entries.get(index) ?? (before.current?.list === list ? before.current.entries.get(index) : undefined);
  return { at, onRange, problem: known.problem, list };
}

export function Tools() {
  useTitle('Tools');
  const place = usePlace();
  const perspective = perspectiveOf(place.query);
  const typed = place.query.get('q') ?? '';
  const search = useSettled(typed);
  const name = place.query.get('name') ?? '';
  const asAgents = place.query.get('by') === 'search';
  const [missing, setMissing] = useState('');
  const principals = useLive(api.principals, []);
  const contexts = useLive(api.contexts, []);
  const head = useLive(() => api.view(perspective, search, 0, 1), [perspective.as, perspective.context, search]);
  const total = head.value?.total ?? 0;
  const entries = useEntries(perspective, search, `${head.value?.version} ${total}`);
  const phone = matchMedia('(max-width: 700px)').matches;
  return (
    <>
      <header class="screen-head"><h1>Tools</h1></header>
      <div class="filters">
        <label>As
          <select name="as" value={perspective.as ?? FULL} onChange={(event) => setQuery({ as: event.currentTarget.value === FULL ? null : event.currentTarget.value })}>
            <option value={FULL}>Somebody with full access</option>
            {principals.value?.anonymous && <option value="">Callers without a token</option>}
            {(principals.value?.principals ?? []).map((one) => <option value={one.name}>{visible(one.name)}</option>)}
            {perspective.as && !principals.value?.principals.some((one) => one.name === perspective.as) && <option value={perspective.as}>{visible(perspective.as)}</option>}
          </select>
        </label>
        <label>Context
          <select name="context" value={perspective.context} onChange={(event) => setQuery({ context: event.currentTarget.value || null })}>
            <option value="">None: /mcp</option>
            {(contexts.value ?? []).map((one) => <option value={one.name}>{visible(one.display_name)}: /mcp/{one.name}</option>)}
          </select>
        </label>
        <label>Find
          <select name="by" value={asAgents ? 'search' : ''} onChange={(event) => setQuery({ by: event.currentTarget.value || null })}>
            <option value="">All, or by words</option>
            <option value="search">As agents search</option>
          </select>
        </label>
        <label>Search
          <input type="search" value={typed} placeholder={asAgents ? 'what an agent would search for' : 'words in name or description'} onInput={(event) => setQuery({ q: event.currentTarget.value || null })} />
        </label>
      </div>
      <ProblemNotice problem={head.problem ?? entries.problem} />
      {(head.value || !head.problem) && (
        <>
          {!head.value && <Loading />}
          {head.value && !asAgents && <p class="quiet" role="status">{count(total, 'tool')}{search && ` ${total === 1 ? 'matches' : 'match'} the search`}.
            {head.value.searches && <> This caller searches: its <code>tools/list</code> is shorter.</>}
            {head.value.listed_live.length > 0 && <> Listed live, and not requested here: {head.value.listed_live.map((one, index) => <>{index > 0 && ', '}<UntrustedText text={one} /></>)}.</>}</p>}
          <div class={name ? 'split' : ''}>
            {asAgents && <Found perspective={perspective} search={search} name={name} />}
            {!asAgents && total > 0 && (
              <VirtualList key={entries.list} count={total} rowHeight={phone ? 64 : 52} label="Tools" onRange={entries.onRange}
                row={(index) => {
                  const entry = entries.at(index);
                  if (!entry) return <span class="quiet tool-row">…</span>;
                  return (
                    <button type="button" class="tool-row" aria-pressed={entry.name === name} onClick={() => setQuery({ name: entry.name })}>
                      <span class="name"><code><UntrustedText text={entry.name} /></code> <span class="quiet"><UntrustedText text={entry.upstream} /></span>{entry.read_only && <span class="tag">read only</span>}</span>
                      <span class="about"><UntrustedText text={entry.description.split('\n', 1)[0] ?? ''} /></span>
                    </button>
                  );
                }} />
            )}
            {name && <Explanation perspective={perspective} name={name} onClose={() => setQuery({ name: null })} />}
          </div>
          <form class="missing" onSubmit={(event) => { event.preventDefault(); if (missing.trim()) setQuery({ name: missing.trim() }); }}>
            <label>Is a tool missing?
              <input value={missing} placeholder="its name, as clients should see it" onInput={(event) => setMissing(event.currentTarget.value)} />
            </label>
            <button type="submit">Why?</button>
          </form>
        </>
      )}
    </>
  );
}
