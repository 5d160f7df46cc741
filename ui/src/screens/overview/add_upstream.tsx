import { useState } from 'preact/hooks';
import { api, type Problem } from '../../api/client.ts';
import { announce } from '../../live/live.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { ProblemNotice } from '../../parts/notice.tsx';
import { go } from '../../parts/page.tsx';

// A URL, or a command with its arguments, each a word or in quotes.
export function settingsOf(name: string, where: string, strategy: string): Record<string, unknown> {
  const settings: Record<string, unknown> = { name, refresh_strategy: strategy };
  if (/^https?:\/\//.test(where)) settings.url = where;
  else settings.command = (where.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^(["'])(.*)\1$/, '$2'));
  return settings;
}

export function AddUpstream({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [where, setWhere] = useState('');
  const [strategy, setStrategy] = useState('cached');
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    try {
      await api.create(settingsOf(name.trim(), where.trim(), strategy));
      announce();
      onClose();
      go(`/ui/upstreams/${encodeURIComponent(name.trim())}`);
    } catch (caught) {
      setProblem(caught as Problem);
      setBusy(false);
    }
  };
  return (
    <Dialog title="Add upstream" onClose={onClose}>
      <form onSubmit={submit}>
        <label>URL or command
          <input required value={where} placeholder="https://mcp.example.com/mcp" onInput={(event) => setWhere(event.currentTarget.value)} />
        </label>
        <label>Name
          <input required value={name} placeholder="example" onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <label>Lists
          <select value={strategy} onChange={(event) => setStrategy(event.currentTarget.value)}>
            <option value="cached">Cached: read when they change</option>
            <option value="direct_proxy">Direct: asked each time, as the caller</option>
          </select>
        </label>
        <ProblemNotice problem={problem} />
        <div class="actions">
          <button type="button" onClick={onClose}>Cancel</button>
          <button type="submit" class="primary" disabled={busy}>Add</button>
        </div>
      </form>
    </Dialog>
  );
}
