import { useState } from 'preact/hooks';
import type { Problem } from '../../api/client.ts';
import type { Upstream } from '../../api/types.ts';
import { Commands } from '../../parts/commands.tsx';
import { ProblemNotice } from '../../parts/notice.tsx';
import { ChangePreview } from '../../parts/preview.tsx';
import { Stranger } from '../../parts/text.tsx';
import { settingsOf } from '../../shown/upstreams.ts';

// A setting as one line of text, and back: texts as they are, everything else as JSON.
export const written = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
export function read(text: string, before: unknown): unknown {
  if (typeof before === 'string') return text;
  if (text.trim() === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

interface Properties {
  upstream: Upstream;
  mayChange: boolean;
  onSave: (changes: Record<string, unknown>, seen: string) => Promise<void>;
  look: () => Promise<Upstream>;
}

const TRIES = 3;

// Only what was edited is sent, so that what somebody else changes meanwhile stays. Where they changed the same setting, this
// says so, and what was typed is not sent before it is saved once more.
export function Settings({ upstream, mayChange, onSave, look }: Properties) {
  const [edited, setEdited] = useState<Record<string, string>>({});
  const [before, setBefore] = useState<Record<string, string>>({}); // what stood there when somebody began to type
  const [meanwhile, setMeanwhile] = useState<[string, string][]>([]);
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const settings = settingsOf(upstream);
  const changed = settings.filter(([key, value]) => edited[key] !== undefined && edited[key] !== written(value));
  const changes = () => Object.fromEntries(changed.map(([key, value]) => [key, read(edited[key]!, value)]));
  const type = (key: string, value: unknown, text: string) => {
    setEdited({ ...edited, [key]: text });
    if (before[key] === undefined) setBefore({ ...before, [key]: written(value) ?? '' });
  };
  const forget = () => {
    setEdited({});
    setBefore({});
    setMeanwhile([]);
  };
  const attempt = async () => {
    const wanted = changes();
    let now = upstream;
    for (let tries = 1; ; tries += 1) {
      const current = Object.fromEntries(settingsOf(now).map(([key, value]) => [key, written(value) ?? '']));
      const others = changed.map(([key]): [string, string] => [key, current[key] ?? '']).filter(([key, value]) => value !== before[key]);
      setMeanwhile(others);
      if (others.length > 0) {
        setBefore({ ...before, ...Object.fromEntries(others) });
        return;
      }
      try {
        await onSave(wanted, now.updated_at);
        forget();
        return;
      } catch (caught) {
        if ((caught as Problem).status !== 409 || tries === TRIES) throw caught;
        now = await look();
      }
    }
  };
  const save = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      await attempt();
    } catch (caught) {
      setProblem(caught as Problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <details class="settings">
      <summary><h2>Settings</h2></summary>
      <p class="quiet">As under <code>[[upstreams]]</code>. Secrets are not shown. An empty value resets a setting.</p>
      <form onSubmit={save}>
        <div class="settings-grid">
          {settings.map(([key, value]) => (
            <label key={key} class={upstream.overrides?.includes(key) ? 'overridden' : ''}>
              <span>{key}{upstream.overrides?.includes(key) ? ' (changed here)' : ''}</span>
              {mayChange && key !== 'name'
                ? <input value={edited[key] ?? written(value)} spellcheck={false} onInput={(event) => type(key, value, event.currentTarget.value)} />
                : <output><Stranger text={written(value) ?? ''} /></output>}
            </label>
          ))}
        </div>
        <ProblemNotice problem={problem} />
        {meanwhile.map(([key, value]) => (
          <p class="notice warn" role="alert" key={key}><strong>Somebody else changed {key} meanwhile</strong>: it is now <code><Stranger text={value || 'not set'} /></code>. What you typed is still there; save again to replace theirs.</p>
        ))}
        {changed.length > 0 && mayChange && <ChangePreview change={{ upstream: upstream.name, settings: changes() }} />}
        {changed.length > 0 && <Commands method="PATCH" path={`/admin/upstreams/${encodeURIComponent(upstream.name)}`} body={changes()} upstream={upstream.name} />}
        {mayChange && (
          <div class="actions sticky">
            <button type="button" disabled={changed.length === 0} onClick={forget}>Discard</button>
            <button type="submit" class="primary" disabled={busy || changed.length === 0}>
              {changed.length === 0 ? 'Save' : `Save ${changed.map(([key]) => key).join(', ')}`}
            </button>
          </div>
        )}
      </form>
    </details>
  );
}
