import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { api, type Look, type Problem } from '../../api/client.ts';
import type { Entry } from '../../api/types.ts';
import { useLive } from '../../live/live.ts';
import { Loading, ProblemNotice } from '../../parts/notice.tsx';
import { setQuery, usePlace, useTitle } from '../../parts/page.tsx';
import { Stranger } from '../../parts/text.tsx';
import { VirtualList } from '../../parts/virtual_list.tsx';
import { count } from '../../shown/text.ts';
import { Explanation } from './explanation.tsx';
import { Found } from './found.tsx';

const PAGE = 200; // entries of one request

const FULL = '*'; // no principal has this name: somebody who may use everything
const lookOf = (query: URLSearchParams): Look => ({ as: query.get('as'), context: query.get('context') ?? '' });

interface Known { list: string; entries: Map<number, Entry>; asked: Set<number> }

// Parts of a long list, as they come into sight. Where the same list was read anew, what was known is shown until it is here.
function useEntries(look: Look, search: string, version: string) {
  const list = JSON.stringify([look.as, look.context, search]);
  const [, redraw] = useState(0);
  const [problem, setProblem] = useState<Problem>();
  const before = useRef<Known | undefined>(undefined);
  const known = useMemo<Known>(() => ({ list, entries: new Map(), asked: new Set() }), [list, version]);
  useEffect(() => () => { before.current = known; }, [known]);
  const onRange = useCallback((first: number, last: number) => {
    const load = async (page: number) => {
      if (known.asked.has(page)) return;
      known.asked.add(page);
      try {
        const { entries } = await api.view(look, search, page * PAGE, PAGE);
        entries.forEach((entry, index) => known.entries.set(page * PAGE + index, entry));
        setProblem(undefined);
        redraw((n) => n + 1);
      } catch (caught) {
        known.asked.delete(page);
        setProblem(caught as Problem);
      }
    };
    for (let page = Math.floor(first / PAGE); page <= Math.floor(Math.max(first, last - 1) / PAGE); page += 1) void load(page);
  }, [known]);
  const at = (index: number) => known.entries.get(index) ?? (before.current?.list === list ? before.current.entries.get(index) : undefined);
  return { at, onRange, problem, list };
}

export function Tools() {
  useTitle('Tools');
  const place = usePlace();
  const look = lookOf(place.query);
  const search = place.query.get('q') ?? '';
  const name = place.query.get('name') ?? '';
  const [typed, setTyped] = useState(search);
  const asAgents = place.query.get('by') === 'search';
  const [missing, setMissing] = useState('');
  const principals = useLive(api.principals, []);
  const contexts = useLive(api.contexts, []);
  const head = useLive(() => api.view(look, search, 0, 1), [look.as, look.context, search]);
  const total = head.value?.total ?? 0;
  const entries = useEntries(look, search, `${head.value?.version} ${total}`);
  useEffect(() => {
    const timer = setTimeout(() => { if (typed !== search) setQuery(place, { q: typed || null }); }, 200);
    return () => clearTimeout(timer);
  }, [typed]);
  const phone = matchMedia('(max-width: 700px)').matches;
  return (
    <>
      <header class="screen-head"><h1>Tools</h1></header>
      <div class="filters">
        <label>As
          <select name="as" value={look.as ?? FULL} onChange={(event) => setQuery(place, { as: event.currentTarget.value === FULL ? null : event.currentTarget.value })}>
            <option value={FULL}>Somebody with full access</option>
            {principals.value?.anonymous && <option value="">Callers without a token</option>}
            {(principals.value?.principals ?? []).map((one) => <option value={one.name}>{one.name}</option>)}
            {look.as && !principals.value?.principals.some((one) => one.name === look.as) && <option value={look.as}>{look.as}</option>}
          </select>
        </label>
        <label>Context
          <select name="context" value={look.context} onChange={(event) => setQuery(place, { context: event.currentTarget.value || null })}>
            <option value="">None: /mcp</option>
            {(contexts.value ?? []).map((one) => <option value={one.name}>{one.display_name}: /mcp/{one.name}</option>)}
          </select>
        </label>
        <label>Find
          <select name="by" value={asAgents ? 'search' : ''} onChange={(event) => setQuery(place, { by: event.currentTarget.value || null })}>
            <option value="">All, or by words</option>
            <option value="search">As agents search</option>
          </select>
        </label>
        <label>Search
          <input type="search" value={typed} placeholder={asAgents ? 'what an agent would search for' : 'words in name or description'} onInput={(event) => setTyped(event.currentTarget.value)} />
        </label>
      </div>
      <ProblemNotice problem={head.problem ?? entries.problem} />
      {!head.value && !head.problem && <Loading />}
      {head.value && (
        <>
          {!asAgents && <p class="quiet" role="status">{count(total, 'tool')}{search ? ' fit the search' : ''}.
            {head.value.searches && <> They search: <code>tools/list</code> shows them fewer.</>}
            {head.value.listed_live.length > 0 && <> Listed live, and not asked here: {head.value.listed_live.map((one, index) => <>{index > 0 && ', '}<Stranger text={one} /></>)}.</>}</p>}
          <div class={name ? 'split' : ''}>
            {asAgents && <Found look={look} search={search} name={name} />}
            {!asAgents && total > 0 && (
              <VirtualList key={entries.list} count={total} rowHeight={phone ? 64 : 52} label="Tools" onRange={entries.onRange}
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
