import { useState } from 'preact/hooks';
import { api, type Problem } from '../../api/client.ts';
import type { ProposedMapping } from '../../api/types.ts';
import { Commands } from '../../parts/commands.tsx';
import { ProblemNotice } from '../../parts/notice.tsx';

// Drafts a mapping from the schema of a database, whose address stays in a variable of the gateway's environment.
export function Propose({ variables, onDraft, onCancel }: { variables: string[]; onDraft: (draft: ProposedMapping) => void; onCancel: () => void }) {
  const [name, setName] = useState('');
  const [variable, setVariable] = useState(variables[0] ?? '');
  const [schema, setSchema] = useState('public');
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const body = { name: name.trim(), dsn_env: variable, schema: schema.trim() || 'public' };
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      onDraft(await api.propose(body));
    } catch (caught) {
      setProblem(caught as Problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <section class="panel" aria-label="Propose a dataset">
      <h2>Propose a dataset</h2>
      <form onSubmit={submit}>
        <div class="filters">
          <label>Name<input required value={name} placeholder="acme" onInput={(event) => setName(event.currentTarget.value)} /></label>
          <label>Variable with its address
            <select value={variable} onChange={(event) => setVariable(event.currentTarget.value)}>{variables.map((one) => <option value={one}>{one}</option>)}</select>
          </label>
          <label>Schema, for PostgreSQL<input value={schema} onInput={(event) => setSchema(event.currentTarget.value)} /></label>
        </div>
        <ProblemNotice problem={problem} />
        <Commands method="POST" path="/admin/datasets/propose" body={body} />
        <div class="actions"><button type="button" onClick={onCancel}>Cancel</button><button type="submit" class="primary" disabled={busy}>{busy ? 'Reading…' : 'Draft'}</button></div>
      </form>
    </section>
  );
}
