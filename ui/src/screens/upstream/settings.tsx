import { useState } from 'preact/hooks';
import type { Problem } from '../../api/client.ts';
import type { Upstream } from '../../api/types.ts';
import { Commands } from '../../parts/commands.tsx';
import { ProblemNotice } from '../../parts/notice.tsx';
import { ChangePreview } from '../../parts/preview.tsx';
import { UntrustedText } from '../../parts/text.tsx';
import { settingText, settingValue } from '../../presentation/settings.ts';
import { settingsOf } from '../../presentation/upstreams.ts';

interface Properties {
  upstream: Upstream;
  mayChange: boolean;
  onSave: (changes: Record<string, unknown>, seen: string) => Promise<void>;
  fetchUpstream: () => Promise<Upstream>;
}

const TRIES = 3;

// Sends only edited settings, so that concurrent changes of other settings survive. If the same setting was changed
// concurrently, shows that, and sends the user's value only if it is saved again.
export function Settings({ upstream, mayChange, onSave, fetchUpstream }: Properties) {
  const [edited, setEdited] = useState<Record<string, string>>({});
  const [before, setBefore] = useState<Record<string, string>>({}); // values when the user began to type
  const [meanwhile, setMeanwhile] = useState<[string, string][]>([]);
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const settings = settingsOf(upstream);
  const changed = settings.filter(([key, value]) => edited[key] !== undefined && edited[key] !== settingText(value));
  const changes = () => Object.fromEntries(changed.map(([key, value]) => [key, settingValue(edited[key]!, value)]));
  const type = (key: string, value: unknown, text: string) => {
    setEdited({ ...edited, [key]: text });
    if (before[key] === undefined) setBefore({ ...before, [key]: settingText(value) });
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
      const current = Object.fromEntries(settingsOf(now).map(([key, value]) => [key, settingText(value)]));
      const others = changed.map(([key]): [string, string] => [key, current[key] ?? '']).filter(([key, value]) => value !== before[key]);
      setMeanwhile(others);
      if (others.length > 0) {
        setBefore({ ...before, ...Object.fromEntries(others) });
        return;
      }
      try {
        await onSave(wanted, now.revision);
        forget();
        return;
      } catch (caught) {
        if ((caught as Problem).status !== 409 || tries === TRIES) throw caught;
        now = await fetchUpstream();
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
      <p class="quiet">The keys of <code>[[upstreams]]</code> in the configuration. Secrets are not shown. Empty a field to reset its setting; <code>""</code> is an empty text.</p>
      <form onSubmit={save}>
        <div class="settings-grid">
          {settings.map(([key, value]) => (
            <label key={key} class={upstream.overrides?.includes(key) ? 'overridden' : ''}>
              <span>{key}{upstream.overrides?.includes(key) ? ' (changed here)' : ''}</span>
              {mayChange && key !== 'name'
                ? <input value={edited[key] ?? settingText(value)} spellcheck={false} onInput={(event) => type(key, value, event.currentTarget.value)} />
                : <output><UntrustedText text={settingText(value)} /></output>}
            </label>
          ))}
        </div>
        <ProblemNotice problem={problem} />
        {meanwhile.map(([key, value]) => (
          <p class="notice warn" role="alert" key={key}><strong>Somebody else changed {key} meanwhile</strong>: it is now <code><UntrustedText text={value || 'not set'} /></code>. What you typed is still there; save again to replace their value.</p>
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
