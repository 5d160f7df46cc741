import { useState } from 'preact/hooks';
import { api, Problem } from '../../api/client.ts';
import type { Matched } from '../../api/types.ts';
import { useLive } from '../../live/live.ts';
import { ProblemNotice } from '../../parts/notice.tsx';
import { Link } from '../../parts/page.tsx';
import { Badge } from '../../parts/state.tsx';
import { UntrustedText } from '../../parts/text.tsx';
import { count } from '../../presentation/text.ts';
import { ago } from '../../presentation/time.ts';
import { uses } from '../../presentation/tokens.ts';

const EXAMPLE = '{"iss": "https://id.example.com", "sub": "ada", "groups": ["ops"]}';

// Rules are numbered from 1, in the order of the configuration.
function Outcome({ matched, claims }: { matched: Matched; claims: string }) {
  return (
    <div role="status">
      {matched.rule === null ? <p class="notice warn">No rule matches: a token with these claims is refused.</p> : (
        <>
          <p class="notice good">Rule {matched.rule + 1} matches. The principal is <strong><UntrustedText text={matched.name ?? ''} /></strong>. <Link href={`/ui/tools?${new URLSearchParams({ as: claims })}`}>What they see</Link></p>
          <pre class="definition"><UntrustedText text={JSON.stringify(matched.access, null, 2)} /></pre>
        </>
      )}
      {matched.passed_over.length > 0 && <ul class="rows">{matched.passed_over.map((one) => <li key={one.rule}>Rule {one.rule + 1} does not match: <UntrustedText text={one.why} /></li>)}</ul>}
    </div>
  );
}

// Rules in their order, because the first rule that matches decides.
function RuleList() {
  const { value, problem } = useLive(api.rules, []);
  if (!value) return <ProblemNotice problem={problem} />;
  if (value.length === 0) return <p class="quiet">No rule: every token of an identity provider is refused. <code>[[auth.rules]]</code> says whom to admit.</p>;
  return (
    <ol class="tokens rules">
      {value.map((rule, index) => (
        <li key={index}>
          <span class="kind">Rule {index + 1}</span>
          <span class="about"><strong><UntrustedText text={Object.entries(rule.match).map(([claim, values]) => `${claim} is ${values.join(' or ')}`).join(', ') || 'anybody'} /></strong>
            <span class="quiet">named <code><UntrustedText text={rule.name} /></code>, may use <UntrustedText text={uses(rule)} /></span></span>
          {rule.admin !== 'none' && <Badge tone={rule.admin === 'admin' ? 'warn' : 'wait'} mark={rule.admin === 'admin' ? '▲' : '◆'} word={rule.admin === 'admin' ? 'Admin' : 'Viewer'} />}
        </li>
      ))}
    </ol>
  );
}

// Shows identity providers, and which principals [[auth.rules]] make of their tokens.
export function Rules() {
  const { value: issuers, problem } = useLive(api.issuers, []);
  const [claims, setClaims] = useState('');
  const [answer, setAnswer] = useState<{ of: string; matched?: Matched; problem?: Problem }>();
  const [busy, setBusy] = useState(false);
  const match = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setAnswer(undefined);
    try {
      setAnswer({ of: claims, matched: await api.match(JSON.parse(claims)) });
    } catch (caught) {
      setAnswer({ of: claims, problem: caught instanceof Problem ? caught : new Problem(400, 'The claims are not valid JSON.') });
    } finally {
      setBusy(false);
    }
  };
  const shown = answer?.of === claims ? answer : undefined;
  if (!issuers || issuers.length === 0) {
    return <section><h2>Identity providers</h2><ProblemNotice problem={problem} /><p class="quiet">None. <code>[[auth.issuers]]</code> and <code>[[auth.rules]]</code> admit people with tokens of an identity provider.</p></section>;
  }
  return (
    <section>
      <h2>Identity providers</h2>
      <ul class="tokens">
        {issuers.map((one) => (
          <li key={one.issuer}>
            {one.fault ? <Badge tone="warn" mark="▲" word="Fault" /> : <Badge tone="good" mark="●" word="Known" />}
            <span class="about"><strong><UntrustedText text={one.issuer} /></strong> <span class="quiet">{count(one.keys, 'key')}, fetched {ago(one.fetched, Date.now())}</span>{one.fault && <span class="bad"><UntrustedText text={one.fault} /></span>}</span>
          </li>
        ))}
      </ul>
      <h2>Rules</h2>
      <RuleList />
      <h2>Which rule matches</h2>
      <form onSubmit={match}>
        <label>Claims of a token
          <textarea rows={4} required spellcheck={false} value={claims} placeholder={EXAMPLE} onInput={(event) => setClaims(event.currentTarget.value)} />
        </label>
        <ProblemNotice problem={shown?.problem} />
        <div class="actions"><button type="submit" disabled={busy}>Match</button></div>
      </form>
      {shown?.matched && <Outcome matched={shown.matched} claims={claims} />}
    </section>
  );
}
