import { useEffect, useState } from 'preact/hooks';
import { api, Problem } from '../api/client.ts';
import type { Affected, Preview } from '../api/types.ts';
import { lines } from '../presentation/preview.ts';
import { UntrustedText } from './text.tsx';

function who(one: Affected) {
  const name = one.as === null ? 'Somebody with full access' : one.as === '' ? 'Callers without a token' : one.as;
  return <strong><UntrustedText text={name} />{one.context && <> at <code>/mcp/{one.context}</code></>}</strong>;
}

function Names({ all, verb, tone, after = '' }: { all: Affected['gains']; verb: string; tone: string; after?: string }) {
  if (all.total === 0) return null;
  return (
    <details>
      <summary class={tone}>{verb} {all.total.toLocaleString('en')}{after}</summary>
      <p class="names">{all.names.map((name) => <code key={name}><UntrustedText text={name} /></code>)}{all.total > all.names.length && ' …'}</p>
    </details>
  );
}

// Shows who would gain and lose which entries by a change.
export function ChangePreview({ change, newcomer }: { change: Record<string, unknown>; newcomer?: boolean }) {
  const [answer, setAnswer] = useState<{ of?: string; preview?: Preview; problem?: Problem }>({});
  const key = JSON.stringify(change);
  useEffect(() => {
    let current = true;
    const timer = setTimeout(() => {
      api.preview(change).then(
        (preview) => { if (current) setAnswer({ of: key, preview }); },
        (caught) => { if (current) setAnswer({ of: key, problem: caught as Problem }); }
      );
    }, 250);
    return () => { current = false; clearTimeout(timer); };
  }, [key]);
  const { preview, problem }: typeof answer = answer.of === key ? answer : {};
  return (
    <section class="preview" aria-label="Preview" aria-live="polite">
      <h3>Who gains and who loses</h3>
      {!preview && !problem && <p class="quiet">Computing the preview…</p>}
      {problem && problem.status !== 401 && <p class="quiet">No preview: <UntrustedText text={problem.message} /></p>}
      {preview && (
        <>
          {lines(preview).map((line) => <p class="quiet" key={line}>{line}</p>)}
          <ul>
            {preview.affected.map((one) => (
              <li key={`${one.as} ${one.context}`}>
                {who(one)}
                {newcomer && one.gains.total === 0 && <p class="quiet">sees nothing</p>}
                <Names all={one.gains} verb={newcomer ? 'sees' : 'gains'} tone="good" />
                {preview.becomes_live ? <Names all={one.loses} verb="sees" tone="wait" after=" as the upstream lists them" /> : <Names all={one.loses} verb="loses" tone="bad" />}
                <Names all={one.changes} verb="sees changed" tone="warn" />
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
