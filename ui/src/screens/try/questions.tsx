import { useState } from 'preact/hooks';
import type { Answered, Question } from '../../api/mcp.ts';
import { Members } from '../../parts/schema_form.tsx';
import { UntrustedText } from '../../parts/text.tsx';
import { initial, type Schema } from '../../presentation/schema.ts';

interface Properties { questions: Record<string, Question>; onAnswer: (answers: Record<string, Answered>) => void }

const schemaOf = (question: Question): Schema => question.params?.requestedSchema ?? { type: 'object', properties: {} };
const webAddress = (text: string | undefined) => (text && URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) ? text : undefined);

// The questions of a running tool. All questions of one result are answered together.
export function Questions({ questions, onAnswer }: Properties) {
  const keys = Object.keys(questions);
  const [given, setGiven] = useState<Record<string, unknown>>(() => Object.fromEntries(keys.map((key) => [key, initial(schemaOf(questions[key]!), schemaOf(questions[key]!), true) ?? {}])));
  const all = (answer: (key: string) => Answered) => onAnswer(Object.fromEntries(keys.map((key) => [key, answer(key)])));
  const accept = (key: string): Answered => (questions[key]!.params?.mode === 'url' ? { action: 'accept' } : { action: 'accept', content: given[key] });
  return (
    <form class="questions" onSubmit={(event) => { event.preventDefault(); all(accept); }}>
      {keys.map((key) => {
        const question = questions[key]!;
        const address = webAddress(question.params?.url);
        return (
          <fieldset class="nested" key={key}>
            <legend>The tool asks</legend>
            <p class="words"><UntrustedText text={question.params?.message ?? question.method} /></p>
            {question.params?.mode === 'url'
              ? <p>{address ? <a href={address} target="_blank" rel="noopener noreferrer"><UntrustedText text={address} /></a> : <UntrustedText text={question.params.url ?? ''} />}</p>
              : <Members schema={schemaOf(question)} root={schemaOf(question)} label="" required value={given[key]} onChange={(next) => setGiven({ ...given, [key]: next })} />}
          </fieldset>
        );
      })}
      <div class="actions">
        <button type="button" onClick={() => all(() => ({ action: 'cancel' }))}>Cancel</button>
        <button type="button" onClick={() => all(() => ({ action: 'decline' }))}>Decline</button>
        <button type="submit" class="primary">Answer</button>
      </div>
    </form>
  );
}
