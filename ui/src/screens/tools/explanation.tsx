import { api, type Perspective } from '../../api/client.ts';
import type { Visibility } from '../../api/types.ts';
import { useLive } from '../../live/live.ts';
import { Loading, ProblemNotice } from '../../parts/notice.tsx';
import { Link } from '../../parts/page.tsx';
import { Badge } from '../../parts/state.tsx';
import { LongUntrustedText, UntrustedText } from '../../parts/text.tsx';
import { visible } from '../../presentation/text.ts';
import type { Tone } from '../../presentation/upstreams.ts';

const VISIBILITY: Record<Visibility, { tone: Tone; mark: string; word: string }> = {
  seen: { tone: 'good', mark: '●', word: 'Seen' },
  not_seen: { tone: 'bad', mark: '✖', word: 'Not seen' },
  upstream_knows: { tone: 'wait', mark: '?', word: 'Only the upstream knows' }
};
// Words for the gateway's names of checks.
const CHECKS: Record<string, string> = {
  configured: 'Configuration', enabled: 'Paused', denied: 'Access rules', connected: 'Connection', listed: 'List', omitted: 'Omitted',
  unratified: 'Pins', hidden: 'Shaping', excluded: 'Context', shadowed: 'Shadowed', scope: 'Scopes'
};
const PARTS: Record<string, string> = {
  upstream: 'the upstream', operator: 'the operator ([[upstreams.tools]])', schema: 'the schema', supplement: 'the context', siblings: 'sibling contexts'
};

// Explains why a principal sees a tool or not, and where its description comes from.
export function Explanation({ perspective, name, onClose }: { perspective: Perspective; name: string; onClose: () => void }) {
  const { value: why, problem } = useLive(() => api.why(perspective, name), [perspective.as, perspective.context, name]);
  return (
    <aside class="explanation" aria-label={`Why ${visible(name)}`}>
      <header><h2><code><UntrustedText text={name} /></code></h2><button type="button" aria-label="Close" onClick={onClose}>✕</button></header>
      <ProblemNotice problem={problem} />
      {!why && !problem && <Loading />}
      {why && (
        <>
          <p class="verdict"><Badge {...VISIBILITY[why.visibility]} /> <span><strong>{CHECKS[why.decided_by] ?? why.decided_by}</strong>: <UntrustedText text={why.detail} /></span></p>
          {why.missing_scopes && why.missing_scopes.length > 0 && <p class="notice warn">A call needs the scopes <UntrustedText text={why.missing_scopes.join(', ')} />.</p>}
          {why.upstreams.length > 0 && (
            <>
              <h3>At each upstream that may have it</h3>
              <ul class="findings">
                {why.upstreams.map((one) => (
                  <li key={one.upstream ?? ''}>
                    <Badge {...VISIBILITY[one.visibility]} /> <span><Link href={`/ui/upstreams/${encodeURIComponent(one.upstream ?? '')}`}><UntrustedText text={one.upstream ?? ''} /></Link>{' '}
                    <strong>{CHECKS[one.decided_by] ?? one.decided_by}</strong>: <UntrustedText text={one.detail} /></span>
                  </li>
                ))}
              </ul>
            </>
          )}
          {why.visibility !== 'not_seen' && <p><Link class="button" href={`/ui/try?${new URLSearchParams({ ...(perspective.as === null ? {} : { as: perspective.as }), ...(perspective.context ? { context: perspective.context } : {}), name })}`}>Try it</Link></p>}
          {why.parts && (
            <>
              <h3>Description</h3>
              {why.parts.map((part) => (
                <figure class="part"><figcaption>from {PARTS[part.from] ?? part.from} <UntrustedText text={part.name} /></figcaption><p><LongUntrustedText text={part.text || '(none)'} /></p></figure>
              ))}
            </>
          )}
          {why.definition !== undefined && (
            <details><summary>Definition</summary><pre class="definition"><LongUntrustedText text={JSON.stringify(why.definition, null, 2)} /></pre></details>
          )}
        </>
      )}
    </aside>
  );
}
