import { useState } from 'preact/hooks';
import { api, type Problem } from '../../api/client.ts';
import type { MappingProblem, ReviewedMapping } from '../../api/types.ts';
import { Commands } from '../../parts/commands.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { ProblemNotice } from '../../parts/notice.tsx';
import { Badge } from '../../parts/state.tsx';
import { UntrustedText } from '../../parts/text.tsx';
import { TypeGraph } from './type_graph.tsx';

function Findings({ problems }: { problems: MappingProblem[] }) {
  if (problems.length === 0) return null;
  return (
    <ul class="rows">
      {problems.slice(0, 200).map((one) => (
        <li>{one.kind === 'doubtful' ? <Badge tone="warn" mark="▲" word="Check" /> : <Badge tone="bad" mark="✖" word="Wrong" />}{' '}
          {one.line && <span class="kind">line {one.line} </span>}{one.path && <code><UntrustedText text={one.path} /></code>} <UntrustedText text={one.message} /></li>
      ))}
    </ul>
  );
}

// Reviews a mapping: edits it, checks it against the database, and ratifies it.
export function MappingEditor({ text: given, found, onDone }: { text: string; found?: ReviewedMapping; onDone: (ratified: boolean) => void }) {
  const [text, setText] = useState(given);
  const [reviewed, setReviewed] = useState(found);
  const [checked, setChecked] = useState(given); // the text that was reviewed
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
  const check = () => attempt(async () => {
    setReviewed(await api.validate(text));
    setChecked(text);
  });
  const ratify = (confirmed: boolean) => {
    setAsked(false);
    if (confirmed) void attempt(async () => { await api.ratify(text); onDone(true); });
  };
  return (
    <section class="panel" aria-label="Mapping">
      <h2>Mapping</h2>
      <p class="quiet">Everybody who may call the dataset's tool can read what the mapping contains, and nothing else. Remove what they should not see.</p>
      {asked && (
        <Confirm title="Ratify this mapping?" action="Ratify" onDone={ratify} details={<Commands method="POST" path="/admin/datasets/ratify" body={{ mapping: text }} />}
          text="The dataset can then be connected. The ratification is recorded under your name, and any change to the file ends it." />
      )}
      <div class="beside">
        <label>TOML
          <textarea rows={22} spellcheck={false} value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <div>
          {reviewed?.ok && checked === text && <p class="notice good">The mapping matches its database.</p>}
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
