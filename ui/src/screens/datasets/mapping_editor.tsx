import { useState } from 'preact/hooks';
import { api, type Problem } from '../../api/client.ts';
import type { MappingProblem, ReviewedMapping } from '../../api/types.ts';
import { Commands } from '../../parts/commands.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { ProblemNotice } from '../../parts/notice.tsx';
import { Badge } from '../../parts/state.tsx';
import { Stranger } from '../../parts/text.tsx';
import { TypeGraph } from './type_graph.tsx';

function Findings({ problems }: { problems: MappingProblem[] }) {
  if (problems.length === 0) return null;
  return (
    <ul class="rows">
      {problems.slice(0, 200).map((one) => (
        <li>{one.kind === 'doubtful' ? <Badge tone="warn" mark="▲" word="Look" /> : <Badge tone="bad" mark="✖" word="Wrong" />}{' '}
          {one.line && <span class="kind">line {one.line} </span>}{one.path && <code><Stranger text={one.path} /></code>} <Stranger text={one.message} /></li>
      ))}
    </ul>
  );
}

// A mapping as a person looks it over: edit, check against the database, ratify.
export function MappingEditor({ text: given, found, onDone }: { text: string; found?: ReviewedMapping; onDone: (ratified: boolean) => void }) {
  const [text, setText] = useState(given);
  const [reviewed, setReviewed] = useState(found);
  const [asked, setAsked] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const attempt = async (what: () => Promise<void>) => {
    setBusy(true);
    setProblem(undefined);
    try {
      await what();
    } catch (caught) {
      setProblem(caught as Problem);
    } finally {
      setBusy(false);
    }
  };
  const check = () => attempt(async () => setReviewed(await api.validate(text)));
  const ratify = (confirmed: boolean) => {
    setAsked(false);
    if (confirmed) void attempt(async () => { await api.ratify(text); onDone(true); });
  };
  return (
    <section class="panel" aria-label="Mapping">
      <h2>Mapping</h2>
      <p class="quiet">What is in it can be read by whoever may call the dataset's tool, and nothing else. Remove what they should not see.</p>
      {asked && (
        <Confirm title="Ratify this mapping?" action="Ratify" onDone={ratify} details={<Commands method="POST" path="/admin/datasets/ratify" body={{ mapping: text }} />}
          text="The dataset can then be connected. The ratification has your name, and any change of the file ends it." />
      )}
      <div class="beside">
        <label>TOML
          <textarea rows={22} spellcheck={false} value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <div>
          {reviewed?.ok && <p class="notice good">It fits its database.</p>}
          <ProblemNotice problem={problem} />
          {reviewed && <Findings problems={reviewed.problems} />}
          {reviewed?.entity_types && reviewed.entity_types.length > 0 && <TypeGraph types={reviewed.entity_types} links={reviewed.relationships ?? []} />}
        </div>
      </div>
      <div class="actions">
        <button type="button" onClick={() => onDone(false)}>Close</button>
        <button type="button" disabled={busy} onClick={() => void check()}>Check</button>
        <button type="button" class="primary" disabled={busy} onClick={() => setAsked(true)}>Ratify</button>
      </div>
    </section>
  );
}
