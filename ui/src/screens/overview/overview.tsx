import { useMemo, useState } from 'preact/hooks';
import { api } from '../../api/client.ts';
import type { Proposal, Upstream } from '../../api/types.ts';
import { useLive } from '../../live/live.ts';
import { Empty, Loading, ProblemNotice } from '../../parts/notice.tsx';
import { Link, useMayChange, useTitle } from '../../parts/page.tsx';
import { Figures } from '../../parts/figures.tsx';
import { Badge, StateBadge } from '../../parts/state.tsx';
import { UntrustedText } from '../../parts/text.tsx';
import { VirtualList } from '../../parts/virtual_list.tsx';
import { count } from '../../presentation/text.ts';
import { ago } from '../../presentation/time.ts';
import { matches, needs, offers, title, type Need } from '../../presentation/upstreams.ts';
import { AddForm, AddUpstream } from './add_upstream.tsx';

const MARKS = { bad: '✖', warn: '▲', wait: '◆', good: '●', off: '❚❚' };
const WORDS = { bad: 'Broken', warn: 'Check', wait: 'Note', good: 'Good', off: 'Off' };
const MOST_NEEDS = 8;

function Needs({ all }: { all: Need[] }) {
  const [open, setOpen] = useState(false);
  if (all.length === 0) return <p class="notice good"><span aria-hidden="true">●</span> Nothing needs your attention.</p>;
  const shown = open ? all.slice(0, 200) : all.slice(0, MOST_NEEDS);
  return (
    <>
      <ul class="needs">
        {shown.map((need) => (
          <li key={`${need.upstream} ${need.text}`}>
            <Link href={need.href}>
              <Badge tone={need.tone} mark={MARKS[need.tone]} word={WORDS[need.tone]} />
              <span class="what"><strong><UntrustedText text={need.upstream} /></strong> <UntrustedText text={need.text} /></span>
            </Link>
          </li>
        ))}
      </ul>
      {all.length > shown.length && <button type="button" onClick={() => setOpen(true)}>Show all {all.length.toLocaleString('en')}</button>}
    </>
  );
}

function Row({ upstream, now }: { upstream: Upstream; now: number }) {
  const calls = upstream.calls;
  return (
    <Link href={`/ui/upstreams/${encodeURIComponent(upstream.name)}`} class="upstream-row">
      <StateBadge state={upstream.state} />
      <span class="name"><UntrustedText text={title(upstream)} /></span>
      <span class="quiet wide">{upstream.protocol_version ? upstream.era : '–'}</span>
      <span class="quiet wide">{upstream.refresh_strategy === 'cached' ? 'cached' : 'direct'}</span>
      <span class="counts">{upstream.refresh_strategy === 'cached' ? offers(upstream) : 'listed live'}</span>
      <span class="quiet wide number">{calls ? `${count(calls.total, 'call')}${calls.failed ? `, ${calls.failed.toLocaleString('en')} failed` : ''}` : '–'}</span>
      <span class="quiet wide number">{calls && calls.mean_ms !== null ? `${calls.mean_ms.toFixed(1)} ms` : '–'}</span>
      <span class="quiet wide number">{ago(upstream.last_refresh_at, now)}</span>
    </Link>
  );
}

async function load(): Promise<[Upstream[], Proposal[]]> {
  return Promise.all([api.upstreams(), api.proposals()]);
}

export function Overview() {
  useTitle('Overview');
  const { value, problem } = useLive(load, []);
  const [search, setSearch] = useState('');
  const [adding, setAdding] = useState(false);
  const mayChange = useMayChange();
  const [upstreams, proposals] = value ?? [[], []];
  const urgent = useMemo(() => needs(upstreams, proposals), [upstreams, proposals]);
  const shown = useMemo(() => (search ? upstreams.filter((one) => matches(one, search)) : upstreams), [upstreams, search]);
  const now = Date.now();
  const phone = matchMedia('(max-width: 700px)').matches;
  return (
    <>
      <header class="screen-head">
        <h1>Overview</h1>
        {mayChange && <button type="button" class="primary" onClick={() => setAdding(true)}>Add upstream</button>}
      </header>
      <ProblemNotice problem={problem} />
      {adding && <AddUpstream onClose={() => setAdding(false)} />}
      {!value && !problem && <Loading />}
      {value && upstreams.length === 0 && (
        <Empty title="No upstream yet">
          <p>An upstream is an MCP server whose tools, prompts and resources this gateway offers. Add one by its URL or its command, here or under <code>[[upstreams]]</code> in the configuration.</p>
          {mayChange && <AddForm onDone={() => {}} />}
        </Empty>
      )}
      {value && upstreams.length > 0 && (
        <>
          <section aria-labelledby="needs"><h2 id="needs">Needs your attention</h2><Needs all={urgent} /></section>
          <section aria-labelledby="upstreams">
            <div class="section-head">
              <h2 id="upstreams">{count(upstreams.length, 'upstream')}</h2>
              <input type="search" aria-label="Search upstreams" placeholder="Search" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
            </div>
            {shown.length === 0 ? <p class="quiet">No upstream matches.</p> : (
              <>
                <div class="upstream-row table-head" aria-hidden="true">
                  <span>State</span><span>Name</span><span class="wide">Era</span><span class="wide">Lists</span><span class="counts">Offers</span>
                  <span class="wide number">Calls</span><span class="wide number">Mean</span><span class="wide number">Refreshed</span>
                </div>
                <VirtualList count={shown.length} rowHeight={phone ? 64 : 44} label="Upstreams"
                  row={(index) => <Row upstream={shown[index]!} now={now} />} />
              </>
            )}
          </section>
          <section aria-labelledby="figures"><h2 id="figures">The last hour</h2><Figures /></section>
          <section aria-labelledby="connect">
            <h2 id="connect">Connect a client</h2>
            <p class="quiet">Clients connect to <code>{location.origin}/mcp</code>. Many of them are configured like this:</p>
            <pre class="definition">{JSON.stringify({ mcpServers: { proteus: { type: 'http', url: `${location.origin}/mcp` } } }, null, 2)}</pre>
          </section>
        </>
      )}
    </>
  );
}
