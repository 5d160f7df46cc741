import { useState } from 'preact/hooks';
import { api, type Problem } from '../../api/client.ts';
import type { Proposal } from '../../api/types.ts';
import { announce, useLive } from '../../live/live.ts';
import { Commands } from '../../parts/commands.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { Empty, Loading, ProblemNotice } from '../../parts/notice.tsx';
import { Link, setQuery, useMayChange, usePlace, useTitle } from '../../parts/page.tsx';
import { ChangePreview } from '../../parts/preview.tsx';
import { Badge } from '../../parts/state.tsx';
import { UntrustedText } from '../../parts/text.tsx';
import { count } from '../../presentation/text.ts';
import { DefinitionDiff } from './definition_diff.tsx';

const MOST = 50;

// Large definitions are not in the list, and are fetched on demand.
function Difference({ proposal }: { proposal: Proposal }) {
  const [fetched, setFetched] = useState<Proposal>();
  const [problem, setProblem] = useState<Problem>();
  const show = async () => {
    setProblem(undefined);
    try {
      setFetched(await api.proposal(proposal.id));
    } catch (caught) {
      setProblem(caught as Problem);
    }
  };
  const whole = proposal.proposed === undefined ? fetched : proposal;
  if (whole) return <DefinitionDiff before={whole.ratified} after={whole.proposed} />;
  return (
    <>
      <ProblemNotice problem={problem} />
      <button type="button" onClick={() => void show()}>Show the definition: {Math.ceil(proposal.bytes / 1024).toLocaleString('en')} KiB</button>
    </>
  );
}

function Card({ proposal, mayChange, onDecide }: { proposal: Proposal; mayChange: boolean; onDecide: (verdict: 'ratify' | 'reject') => void }) {
  return (
    <article class="proposal">
      <header>
        <h2><Link href={`/ui/upstreams/${encodeURIComponent(proposal.upstream)}`}><UntrustedText text={proposal.upstream} /></Link> <span class="quiet">{proposal.kind}</span> <code><UntrustedText text={proposal.name} /></code></h2>
        {proposal.change === 'new'
          ? <Badge tone="wait" mark="+" word="New" />
          : proposal.breaking ? <Badge tone="bad" mark="✖" word="Breaking" /> : <Badge tone="good" mark="●" word="Compatible" />}
      </header>
      {proposal.reasons.length > 0 && <ul class="reasons">{proposal.reasons.map((reason) => <li><UntrustedText text={reason} /></li>)}</ul>}
      <Difference proposal={proposal} />
      <p class="quiet hash">sha256 {proposal.sha256}</p>
      <div class="actions">
        <button type="button" disabled={!mayChange} onClick={() => onDecide('reject')}>Reject</button>
        <button type="button" class="primary" disabled={!mayChange} onClick={() => onDecide('ratify')}>Ratify</button>
      </div>
    </article>
  );
}

export function Proposals() {
  useTitle('Proposals');
  const place = usePlace();
  const { value, problem, reload } = useLive(api.proposals, []);
  const [asked, setAsked] = useState<{ proposal: Proposal; verdict: 'ratify' | 'reject' }>();
  const [failed, setFailed] = useState<Problem>();
  const [done, setDone] = useState('');
  const mayChange = useMayChange();
  const upstream = place.query.get('upstream');
  const shown = (value ?? []).filter((one) => !upstream || one.upstream === upstream);
  const decide = async (confirmed: boolean) => {
    const decided = asked;
    setAsked(undefined);
    if (!confirmed || !decided) return;
    setFailed(undefined);
    try {
      await api.decide(decided.proposal.id, decided.verdict);
      setDone(`${decided.verdict === 'ratify' ? 'Ratified' : 'Rejected'}: ${decided.proposal.upstream} ${decided.proposal.name}`);
      announce();
    } catch (caught) {
      setFailed(caught as Problem);
    }
    reload();
  };
  return (
    <>
      <header class="screen-head">
        <h1>Proposals</h1>
        {upstream && <button type="button" onClick={() => setQuery({ upstream: null })}>Only <UntrustedText text={upstream} /> · show all</button>}
      </header>
      {asked && (
        <Confirm title={`${asked.verdict === 'ratify' ? 'Ratify' : 'Reject'} ${asked.proposal.name}?`} onDone={(confirmed) => void decide(confirmed)}
          action={asked.verdict === 'ratify' ? 'Ratify' : 'Reject'} tone={asked.verdict === 'reject' ? 'bad' : undefined}
          details={<>{asked.verdict === 'ratify' && <ChangePreview change={{ proposal: asked.proposal.id }} />}<Commands method="POST" path={`/admin/proposals/${asked.proposal.id}/${asked.verdict}`} /></>}
          text={asked.verdict === 'ratify'
            ? 'Exactly this definition is served from now on, and clients are notified. Your name goes into the audit.'
            : 'Exactly this definition is not proposed again; what is ratified remains. Your name goes into the audit.'} />
      )}
      <ProblemNotice problem={failed ?? problem} />
      <p role="status" class="quiet">{done ? <UntrustedText text={done} /> : (value ? `${count(shown.length, 'definition')} of pinned upstreams to decide.` : '')}</p>
      {!value && !problem && <Loading />}
      {value && shown.length === 0 && (
        <Empty title="Nothing to decide"><p>Definitions of upstreams with <code>trust = "pin"</code> appear here when they are new or have changed. Until somebody ratifies them, clients do not see them.</p></Empty>
      )}
      {shown.slice(0, MOST).map((proposal) => <Card key={proposal.id} proposal={proposal} mayChange={mayChange} onDecide={(verdict) => setAsked({ proposal, verdict })} />)}
      {shown.length > MOST && <p class="quiet">The first {MOST} of {shown.length.toLocaleString('en')}.</p>}
    </>
  );
}
