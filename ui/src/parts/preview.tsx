import { useEffect, useState } from 'preact/hooks';
import { api, Problem } from '../api/client.ts';
import type { Affected, Preview } from '../api/types.ts';
import { lines } from '../shown/preview.ts';
import { Stranger } from './text.tsx';

function who(one: Affected) {
  const name = one.as === null ? 'Somebody with full access' : one.as === '' ? 'Callers without a token' : one.as;
  return <strong><Stranger text={name} />{one.context && <> at <code>/mcp/{one.context}</code></>}</strong>;
}

function Names({ all, verb, tone, after = '' }: { all: Affected['gains']; verb: string; tone: string; after?: string }) {
  if (all.total === 0) return null;
  return (
    <details>
      <summary class={tone}>{verb} {all.total.toLocaleString('en')}{after}</summary>
      <p class="names">{all.names.map((name) => <code key={name}><Stranger text={name} /></code>)}{all.total > all.names.length && ' …'}</p>
    </details>
  );
}

// Who gains and who loses which entries, before a change is made.
export function ChangePreview({ change, newcomer }: { change: Record<string, unknown>; newcomer?: boolean }) {
  const [preview, setPreview] = useState<Preview>();
  const [problem, setProblem] = useState<Problem>();
  const key = JSON.stringify(change);
  useEffect(() => {
    let current = true;
    const timer = setTimeout(() => {
      api.preview(change).then(
        (found) => { if (current) { setPreview(found); setProblem(undefined); } },
        (caught) => { if (current) setProblem(caught as Problem); }
      );
    }, 250);
    return () => { current = false; clearTimeout(timer); };
  }, [key]);
  return (
    <section class="preview" aria-label="Preview" aria-live="polite">
      <h3>Who gains, who loses</h3>
      {!preview && !problem && <p class="quiet">Working it out…</p>}
      {problem && problem.status !== 401 && <p class="quiet">No preview: <Stranger text={problem.message} /></p>}
      {preview && !problem && (
        <>
          {lines(preview).map((line) => <p class="quiet" key={line}>{line}</p>)}
          <ul>
            {preview.affected.map((one) => (
              <li key={`${one.as} ${one.context}`}>
                {who(one)}
                {newcomer && one.gains.total === 0 && <p class="quiet">sees nothing</p>}
                <Names all={one.gains} verb={newcomer ? 'sees' : 'gains'} tone="good" />
                {preview.becomes_live ? <Names all={one.loses} verb="sees" tone="wait" after=" as the upstream lists them" /> : <Names all={one.loses} verb="loses" tone="bad" />}
                <Names all={one.changes} verb="sees otherwise" tone="warn" />
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
