import { useState } from 'preact/hooks';
import { api, Problem } from '../../api/client.ts';
import type { RefreshResult, Strategy, Upstream } from '../../api/types.ts';
import { announce, useLive } from '../../live/live.ts';
import { CallList, NotKept } from '../../parts/call_list.tsx';
import { Commands } from '../../parts/commands.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { Empty, Loading, ProblemNotice } from '../../parts/notice.tsx';
import { go, Link, useMayChange, useTitle } from '../../parts/page.tsx';
import { Figures } from '../../parts/figures.tsx';
import { ChangePreview } from '../../parts/preview.tsx';
import { Badge, StateBadge } from '../../parts/state.tsx';
import { UntrustedText } from '../../parts/text.tsx';
import { changesOf, ChangeList } from '../timeline/change_list.tsx';
import { count } from '../../presentation/text.ts';
import { ago, moment } from '../../presentation/time.ts';
import { offers, title } from '../../presentation/upstreams.ts';
import { Settings } from './settings.tsx';

const STRATEGIES: { value: Strategy; word: string; help: string }[] = [
  { value: 'cached', word: 'Cached', help: 'Proteus reads the lists when they change, and answers from memory. All callers see the same lists.' },
  { value: 'direct_proxy', word: 'Direct', help: 'Proteus requests each list from the upstream, as the caller. Each caller may see a different list.' }
];

function StrategySelector({ upstream, onChange, disabled }: { upstream: Upstream; onChange: (next: Strategy) => void; disabled: boolean }) {
  const current = STRATEGIES.find((one) => one.value === upstream.refresh_strategy);
  return (
    <fieldset class="strategy" disabled={disabled}>
      <legend>Lists</legend>
      <div class="segments">
        {STRATEGIES.map((one) => (
          <label key={one.value}>
            <input type="radio" name="strategy" value={one.value} checked={one.value === upstream.refresh_strategy} onChange={() => onChange(one.value)} />
            <span>{one.word}</span>
          </label>
        ))}
      </div>
      <p class="quiet">{current?.help}</p>
    </fieldset>
  );
}

function Refreshed({ result }: { result: RefreshResult }) {
  const changes = changesOf(result as unknown as Record<string, unknown>);
  return (
    <div class={`notice ${result.ok ? 'good' : 'bad'}`} role="status">
      <strong>{result.ok ? `Read in ${result.duration_ms} ms.` : 'The lists could not be read.'}</strong>{' '}
      {result.error ? <UntrustedText text={result.error} /> : null}
      {result.ok && (Object.keys(changes).length === 0 ? 'Nothing changed.' : <ChangeList change={changes} />)}
    </div>
  );
}

function Facts({ upstream }: { upstream: Upstream }) {
  const now = Date.now();
  const facts: [string, string][] = [
    ['Era', upstream.protocol_version ? `${upstream.era}, revision ${upstream.protocol_version}` : 'not known yet'],
    ['Transport', upstream.transport ?? '–'],
    ['Circuit', upstream.circuit.replace('_', ' ')],
    ['Announcements', upstream.watch],
    ['Last read', upstream.last_refresh_at ? `${ago(upstream.last_refresh_at, now)} (${moment(upstream.last_refresh_at)})` : 'never'],
    ['Consecutive failures', String(upstream.consecutive_failures)],
    ['Offers', offers(upstream)],
    ['Calls since start', upstream.calls ? `${count(upstream.calls.total, 'call')}, ${upstream.calls.failed.toLocaleString('en')} failed` : '–'],
    ['Source', { file: 'the configuration file', override: 'the configuration file, changed here', runtime: 'the admin API' }[upstream.origin]]
  ];
  if (upstream.pins) facts.push(['Pins', `${upstream.pins.ratified} ratified, ${upstream.pins.proposals} proposed, ${upstream.pins.rejected} rejected${upstream.pins.unkept ? `, ${upstream.pins.unkept} without room` : ''}`]);
  return <dl class="facts">{facts.map(([name, value]) => <div key={name}><dt>{name}</dt><dd><UntrustedText text={value} /></dd></div>)}</dl>;
}

function NameList({ heading, help, rows }: { heading: string; help: string; rows: { kind: string; name: string; text: string }[] }) {
  if (rows.length === 0) return null;
  return (
    <section>
      <h2>{heading}</h2>
      <p class="quiet">{help}</p>
      <ul class="rows">{rows.slice(0, 200).map((row) => <li><span class="kind">{row.kind}</span> <code><UntrustedText text={row.name} /></code> <UntrustedText text={row.text} /></li>)}</ul>
      {rows.length > 200 && <p class="quiet">and {(rows.length - 200).toLocaleString('en')} more</p>}
    </section>
  );
}

function RecentCalls({ upstream }: { upstream: string }) {
  const { value, problem } = useLive(() => api.records(upstream, 10), [upstream]);
  return (
    <section>
      <h2>Recent calls</h2>
      <ProblemNotice problem={problem} />
      {value?.kept === 'off' && <NotKept />}
      {value && value.kept !== 'off' && value.records.length === 0 && <p class="quiet">None yet.</p>}
      {value && value.records.length > 0 && <><CallList records={value.records} /><p class="links"><Link href={`/ui/calls?upstream=${encodeURIComponent(upstream)}`}>All recorded calls</Link></p></>}
    </section>
  );
}

export function UpstreamScreen({ name }: { name: string }) {
  useTitle(name);
  const { value: upstream, problem, reload } = useLive(() => api.upstream(name), [name]);
  const [failed, setFailed] = useState<Problem>();
  const [refreshed, setRefreshed] = useState<RefreshResult>();
  const [busy, setBusy] = useState('');
  const [asked, setAsked] = useState<'remove' | 'pause' | Strategy | null>(null);
  const mayChange = useMayChange();

  const act = async (what: string, action: () => Promise<unknown>) => {
    setBusy(what);
    setFailed(undefined);
    try {
      await action();
      announce();
    } catch (caught) {
      setFailed(caught as Problem);
    } finally {
      setBusy('');
      reload();
    }
  };
  const answer = (confirmed: boolean) => {
    const what = asked;
    setAsked(null);
    if (!confirmed || !what) return;
    if (what === 'pause') void act('pause', () => api.patch(name, { enabled: false }));
    else if (what === 'remove') void act('remove', async () => { await api.remove(name); go('/ui'); });
    else void act('strategy', () => api.patch(name, { refresh_strategy: what }));
  };

  if (problem?.status === 404) return <Empty title="There is no such upstream"><p>It may have been removed. <Link href="/ui">All upstreams</Link></p></Empty>;
  if (!upstream) return problem ? <ProblemNotice problem={problem} /> : <Loading />;
  return (
    <>
      <header class="screen-head">
        <h1><UntrustedText text={title(upstream)} /></h1>
        <StateBadge state={upstream.state} />
        {upstream.circuit !== 'closed' && <Badge tone="bad" mark="⌁" word={`Circuit ${upstream.circuit.replace('_', ' ')}`} />}
        <div class="actions">
          <button type="button" disabled={!mayChange || busy !== '' || upstream.state === 'paused'}
            onClick={() => void act('refresh', async () => setRefreshed(await api.refresh(name)))}>{busy === 'refresh' ? 'Reading…' : 'Refresh'}</button>
          <button type="button" disabled={!mayChange || busy !== ''}
            onClick={() => (upstream.enabled ? setAsked('pause') : void act('pause', () => api.patch(name, { enabled: true })))}>{upstream.enabled ? 'Pause' : 'Resume'}</button>
          <button type="button" class="danger" disabled={!mayChange || busy !== '' || upstream.origin !== 'runtime'}
            title={upstream.origin === 'runtime' ? undefined : 'It is defined in the configuration file'} onClick={() => setAsked('remove')}>Remove</button>
        </div>
      </header>
      {asked === 'remove' && (
        <Confirm title={`Remove ${name}?`} action="Remove" tone="bad" onDone={answer}
          details={<><ChangePreview change={{ upstream: name, settings: null }} /><Commands method="DELETE" path={`/admin/upstreams/${encodeURIComponent(name)}`} /></>}
          text="Its tools, prompts and resources disappear for all clients, and its settings are forgotten. This cannot be undone." />
      )}
      {asked === 'pause' && (
        <Confirm title={`Pause ${name}?`} action="Pause" onDone={answer}
          details={<><ChangePreview change={{ upstream: name, settings: { enabled: false } }} />
            <Commands method="PATCH" path={`/admin/upstreams/${encodeURIComponent(name)}`} body={{ enabled: false }} upstream={name} /></>}
          text="Nothing is sent to it, and what it offers disappears for all clients until you resume it." />
      )}
      {(asked === 'cached' || asked === 'direct_proxy') && (
        <Confirm title={asked === 'cached' ? 'Cache the lists?' : 'Request each list live?'} action="Change" onDone={answer}
          details={<><ChangePreview change={{ upstream: name, settings: { refresh_strategy: asked } }} />
            <Commands method="PATCH" path={`/admin/upstreams/${encodeURIComponent(name)}`} body={{ refresh_strategy: asked }} upstream={name} /></>}
          text={asked === 'cached'
            ? 'All callers will see what the upstream lists to the gateway itself. Clients are notified if their lists change.'
            : 'Each caller will see what the upstream lists to them. Clients are notified, and see it with their next request.'} />
      )}
      <ProblemNotice problem={failed} />
      {upstream.last_error && upstream.state !== 'paused' && <p class="notice warn"><strong>Last error:</strong> <UntrustedText text={upstream.last_error} /></p>}
      {refreshed && <Refreshed result={refreshed} />}
      <StrategySelector upstream={upstream} disabled={!mayChange || busy !== ''} onChange={setAsked} />
      <section><h2>Status</h2><Facts upstream={upstream} /></section>
      <section><h2>The last hour</h2><Figures upstream={name} /></section>
      <RecentCalls upstream={name} />
      <p class="links">
        <Link href={`/ui/timeline?upstream=${encodeURIComponent(name)}`}>Its changes</Link>
        {upstream.pins && <Link href={`/ui/proposals?upstream=${encodeURIComponent(name)}`}>{count(upstream.pins.proposals, 'proposal')}</Link>}
      </p>
      <NameList heading="Lists that cannot be read" help="The upstream says that it has these lists, but reading them fails."
        rows={(upstream.list_faults ?? []).map((one) => ({ kind: one.kind, name: one.method, text: one.error }))} />
      <NameList heading="Not offered" help="The upstream lists these entries, but clients would reject them."
        rows={(upstream.omissions ?? []).map((one) => ({ kind: one.kind, name: one.name, text: one.reason }))} />
      <NameList heading="Shadowed names" help="An upstream before this one has the same name."
        rows={(upstream.shadowed ?? []).map((one) => ({ kind: one.kind, name: one.name, text: `belongs to ${one.by}` }))} />
      <NameList heading="Changed names" help="Clients see a name that differs from the upstream's own."
        rows={(upstream.mapped_names ?? []).map((one) => ({ kind: one.kind, name: one.name, text: `is ${one.own} at the upstream` }))} />
      <NameList heading="Shaping" help="Warnings about [[upstreams.tools]]."
        rows={(upstream.shaping?.warnings ?? []).map((text) => ({ kind: 'tools', name: '', text }))} />
      <Settings key={upstream.id} upstream={upstream} mayChange={mayChange}
        fetchUpstream={() => api.upstream(name)}
        onSave={async (changes, seen) => {
          try {
            await api.patch(name, changes, seen);
            announce();
          } finally {
            reload();
          }
        }} />
    </>
  );
}
