import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { api, type Look, type Problem } from '../../api/client.ts';
import type { Entry } from '../../api/types.ts';
import { useLive } from '../../live/live.ts';
import { Loading, ProblemNotice } from '../../parts/notice.tsx';
import { setQuery, usePlace, useTitle } from '../../parts/page.tsx';
import { Stranger } from '../../parts/text.tsx';
import { VirtualList } from '../../parts/virtual_list.tsx';
import { count } from '../../shown/text.ts';
import { Explanation } from './explanation.tsx';

const PAGE = 200; // entries of one request

const FULL = '*';  // no principal has this name: somebody who may use everything
const lookOf = (query: URLSearchParams): Look => ({ as: query.get('as'), context: query.get('context') ?? '' });

// Parts of a long list, as they come into sight. Another list begins from nothing.
function useEntries(look: Look, search: string) {
  const known = useRef(new Map<number, Entry>());
  const asked = useRef(new Set<number>());
  const [, redraw] = useState(0);
  const [problem, setProblem] = useState<Problem>();
  const generation = useRef(0);
  const load = useCallback(async (page: number) => {
    if (asked.current.has(page)) return;
    asked.current.add(page);
    const own = generation.current;
    try {
      const { entries } = await api.view(look, search, page * PAGE, PAGE);
      if (own !== generation.current) return;
      entries.forEach((entry, index) => known.current.set(page * PAGE + index, entry));
      redraw((n) => n + 1);
    } catch (caught) {
      asked.current.delete(page);
      if (own === generation.current) setProblem(caught as Problem);
    }
  }, [look.as, look.context, search]);
  const forget = useCallback(() => {
    generation.current += 1;
    known.current = new Map();
    asked.current = new Set();
    setProblem(undefined);
  }, []);
  const onRange = useCallback((first: number, last: number) => {
    for (let page = Math.floor(first / PAGE); page <= Math.floor(Math.max(first, last - 1) / PAGE); page += 1) void load(page);
  }, [load]);
  return { at: (index: number) => known.current.get(index), onRange, forget, problem };
}

export function Tools() {
  useTitle('Tools');
  const place = usePlace();
  const look = lookOf(place.query);
  const search = place.query.get('q') ?? '';
  const name = place.query.get('name') ?? '';
  const [typed, setTyped] = useState(search);
  const [missing, setMissing] = useState('');
  const principals = useLive(api.principals, []);
  const contexts = useLive(api.contexts, []);
  const head = useLive(() => api.view(look, search, 0, 1), [look.as, look.context, search]);
  const entries = useEntries(look, search);
  const total = head.value?.total ?? 0;
  // The number of entries tells that the list is another one.
  useEffect(() => entries.forget(), [look.as, look.context, search, total]);
  useEffect(() => {
    const timer = setTimeout(() => { if (typed !== search) setQuery(place, { q: typed || null }); }, 200);
    return () => clearTimeout(timer);
  }, [typed]);
  const phone = matchMedia('(max-width: 700px)').matches;
  const listKey = `${look.as} ${look.context} ${search} ${total}`;
  return (
    <>
      <header class="screen-head"><h1>Tools</h1></header>
      <div class="filters">
        <label>As
          <select value={look.as ?? FULL} onChange={(event) => setQuery(place, { as: event.currentTarget.value === FULL ? null : event.currentTarget.value })}>
            <option value={FULL}>Somebody with full access</option>
            {principals.value?.anonymous && <option value="">Callers without a token</option>}
            {(principals.value?.principals ?? []).map((one) => <option value={one.name}>{one.name}</option>)}
            {look.as && !principals.value?.principals.some((one) => one.name === look.as) && <option value={look.as}>{look.as}</option>}
          </select>
        </label>
        <label>Context
          <select value={look.context} onChange={(event) => setQuery(place, { context: event.currentTarget.value || null })}>
            <option value="">None: /mcp</option>
            {(contexts.value ?? []).map((one) => <option value={one.name}>{one.display_name}: /mcp/{one.name}</option>)}
          </select>
        </label>
        <label>Search
          <input type="search" value={typed} placeholder="words in name or description" onInput={(event) => setTyped(event.currentTarget.value)} />
        </label>
      </div>
      <ProblemNotice problem={head.problem ?? entries.problem} />
      {!head.value && !head.problem && <Loading />}
      {head.value && (
        <>
          <p class="quiet" role="status">{count(total, 'tool')}{search ? ' fit the search' : ''}.
            {head.value.listed_live.length > 0 && <> Listed live, and not asked here: {head.value.listed_live.map((one, index) => <>{index > 0 && ', '}<Stranger text={one} /></>)}.</>}</p>
          <div class={name ? 'split' : ''}>
            {total > 0 && (
              <VirtualList key={listKey} count={total} rowHeight={phone ? 64 : 52} label="Tools" onRange={entries.onRange}
                row={(index) => {
                  const entry = entries.at(index);
                  if (!entry) return <span class="quiet tool-row">…</span>;
                  return (
                    <button type="button" class="tool-row" aria-pressed={entry.name === name} onClick={() => setQuery(place, { name: entry.name })}>
                      <span class="name"><code><Stranger text={entry.name} /></code> <span class="quiet"><Stranger text={entry.upstream} /></span>{entry.read_only && <span class="tag">read only</span>}</span>
                      <span class="about"><Stranger text={entry.description.split('\n', 1)[0] ?? ''} /></span>
                    </button>
                  );
                }} />
            )}
            {name && <Explanation look={look} name={name} onClose={() => setQuery(place, { name: null })} />}
          </div>
          <form class="missing" onSubmit={(event) => { event.preventDefault(); if (missing.trim()) setQuery(place, { name: missing.trim() }); }}>
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
