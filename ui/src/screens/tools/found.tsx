import { api, type Perspective } from '../../api/client.ts';
import { useLive } from '../../live/live.ts';
import { Loading, ProblemNotice } from '../../parts/notice.tsx';
import { setQuery } from '../../parts/page.tsx';
import { UntrustedText } from '../../parts/text.tsx';
import { count } from '../../presentation/text.ts';

// Shows what an agent's search finds, best first.
export function Found({ perspective, search, name }: { perspective: Perspective; search: string; name: string }) {
  const { value, problem } = useLive(() => (search.trim() ? api.search(perspective, search) : Promise.resolve({ tools: [] })), [perspective.as, perspective.context, search]);
  if (!search.trim()) return <p class="quiet">Type what an agent would search for.</p>;
  if (!value) return problem ? <ProblemNotice problem={problem} /> : <Loading />;
  const best = Math.max(...value.tools.map((one) => one.score), 0);
  const embeddings = 'embeddings' in value ? value.embeddings : undefined;
  return (
    <div>
      <p class="quiet" role="status">
        {value.tools.length === 0 ? 'search_tools finds nothing.' : `search_tools finds ${count(value.tools.length, 'tool')}, the best first.`}
        {'unasked' in value && value.unasked && <> Listed live, and not requested here: <UntrustedText text={value.unasked.join(', ')} />.</>}
        {embeddings && (embeddings.fault ? <> Embeddings fail: <UntrustedText text={embeddings.fault} /></> : ` Ranked by words, and by the embeddings of ${count(embeddings.tools, 'tool')}.`)}
      </p>
      <ol class="hits">
        {value.tools.map((hit) => (
          <li key={hit.name}>
            <button type="button" class="tool-row" aria-pressed={hit.name === name} onClick={() => setQuery({ name: hit.name })}>
              <span class="name"><code><UntrustedText text={hit.name} /></code> <span class="quiet"><UntrustedText text={hit.upstream} /></span>{hit.read_only && <span class="tag">read only</span>}</span>
              <span class="about"><UntrustedText text={hit.description.split('\n', 1)[0] ?? ''} /></span>
            </button>
            <p class="score"><meter min={0} max={best || 1} value={hit.score} aria-label={`score ${hit.score.toFixed(2)}`} /> {hit.score.toFixed(2)} <code class="signature"><UntrustedText text={hit.signature} /></code></p>
          </li>
        ))}
      </ol>
    </div>
  );
}
