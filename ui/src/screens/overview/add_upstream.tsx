import { useState } from 'preact/hooks';
import { api, Problem } from '../../api/client.ts';
import { announce } from '../../live/live.ts';
import { Commands } from '../../parts/commands.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ProblemNotice } from '../../parts/notice.tsx';
import { go } from '../../parts/page.tsx';
import { pasted, suggestedName, type Pasted } from '../../presentation/pasted.ts';

// Returns the upstream that would be added; undefined if the text is incomplete or contains several.
function asOne(text: string, name: string, strategy: string): ({ name: string } & Record<string, unknown>) | undefined {
  try {
    const { upstreams } = pasted(text, name);
    return upstreams.length === 1 ? { ...upstreams[0]!, refresh_strategy: strategy } : undefined;
  } catch {
    return undefined;
  }
}

// Adds an upstream by its URL or command, or all servers of a client's configuration.
export function AddForm({ onDone, onCancel }: { onDone: () => void; onCancel?: () => void }) {
  const [text, setText] = useState('');
  const [name, setName] = useState('');
  const [strategy, setStrategy] = useState('cached');
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const isFile = text.trim().startsWith('{');
  const shown = asOne(text, name, strategy);
  const submit = async (event: Event) => {
    event.preventDefault();
    setProblem(undefined);
    let read: Pasted;
    try {
      read = pasted(text, name);
    } catch (caught) {
      setProblem(new Problem(400, (caught as Error).message));
      return;
    }
    setBusy(true);
    const failed: string[] = [];
    for (const settings of read.upstreams) {
      try {
        await api.create({ ...settings, refresh_strategy: strategy });
      } catch (caught) {
        failed.push(`${settings.name}: ${(caught as Problem).message}`);
      }
    }
    announce();
    setBusy(false);
    const messages = [...failed, ...read.notes];
    if (messages.length > 0) {
      setProblem(new Problem(400, failed.length > 0 ? 'Not all of them were added.' : 'Added, but something is left to do.', messages.map((message) => ({ message }))));
      return;
    }
    onDone();
    go(read.upstreams.length === 1 ? `/ui/upstreams/${encodeURIComponent(read.upstreams[0]!.name)}` : '/ui');
  };
  return (
    <form onSubmit={submit} class="add">
      <label>URL, command, or a file with mcpServers
        <textarea required rows={isFile ? 8 : 2} spellcheck={false} value={text} placeholder="https://mcp.example.com/mcp" onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      {!isFile && (
        <label>Name
          <input value={name} placeholder={text.trim() ? suggestedName(text.trim()) : 'example'} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
      )}
      <label>Lists
        <select value={strategy} onChange={(event) => setStrategy(event.currentTarget.value)}>
          <option value="cached">Cached: read when they change</option>
          <option value="direct_proxy">Direct: requested each time, as the caller</option>
        </select>
      </label>
      <ProblemNotice problem={problem} />
      {shown && <Commands method="POST" path="/admin/upstreams" body={shown} upstream={shown.name} />}
      <div class="actions">
        {onCancel && <button type="button" onClick={onCancel}>Cancel</button>}
        <button type="submit" class="primary" disabled={busy}>Add</button>
      </div>
    </form>
  );
}

export function AddUpstream({ onClose }: { onClose: () => void }) {
  return <Dialog title="Add upstream" onClose={onClose}><AddForm onDone={onClose} onCancel={onClose} /></Dialog>;
}
