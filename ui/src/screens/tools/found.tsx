import { api, type Look } from '../../api/client.ts';
import { useLive } from '../../live/live.ts';
import { Loading, ProblemNotice } from '../../parts/notice.tsx';
import { setQuery, usePlace } from '../../parts/page.tsx';
import { Stranger } from '../../parts/text.tsx';

// What an agent finds that searches, the best first.
export function Found({ look, search, name }: { look: Look; search: string; name: string }) {
  const place = usePlace();
  const { value, problem } = useLive(() => (search.trim() ? api.search(look, search) : Promise.resolve({ tools: [] })), [look.as, look.context, search]);
  if (!search.trim()) return <p class="quiet">Type what an agent would search for.</p>;
  if (!value) return problem ? <ProblemNotice problem={problem} /> : <Loading />;
  const best = Math.max(...value.tools.map((one) => one.score), 0);
  const embeddings = 'embeddings' in value ? value.embeddings : undefined;
  return (
    <div>
      <p class="quiet" role="status">
        {value.tools.length === 0 ? 'search_tools finds nothing.' : `search_tools finds ${value.tools.length}, the best first.`}
        {'unasked' in value && value.unasked && <> Listed live, and not asked here: <Stranger text={value.unasked.join(', ')} />.</>}
        {embeddings && (embeddings.fault ? <> Embeddings fail: <Stranger text={embeddings.fault} /></> : ` By words, and by the embeddings of ${embeddings.tools} tools.`)}
      </p>
      <ol class="hits">
        {value.tools.map((hit) => (
          <li key={hit.name}>
            <button type="button" class="tool-row" aria-pressed={hit.name === name} onClick={() => setQuery(place, { name: hit.name })}>
              <span class="name"><code><Stranger text={hit.name} /></code> <span class="quiet"><Stranger text={hit.upstream} /></span>{hit.read_only && <span class="tag">read only</span>}</span>
              <span class="about"><Stranger text={hit.description.split('\n', 1)[0] ?? ''} /></span>
            </button>
            <p class="score"><meter min={0} max={best || 1} value={hit.score} aria-label={`score ${hit.score.toFixed(2)}`} /> {hit.score.toFixed(2)} <code class="signature"><Stranger text={hit.signature} /></code></p>
          </li>
        ))}
      </ol>
    </div>
  );
}
