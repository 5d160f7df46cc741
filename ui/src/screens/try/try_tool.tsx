import { useEffect, useRef, useState } from 'preact/hooks';
import { api, Problem, type Look } from '../../api/client.ts';
import { callTool, type Answered, type Message, type Progress, type Question, type ToolResult } from '../../api/mcp.ts';
import type { Why } from '../../api/types.ts';
import { useLive } from '../../live/live.ts';
import { Empty, Loading, ProblemNotice } from '../../parts/notice.tsx';
import { Link, useMayChange, usePlace, useTitle } from '../../parts/page.tsx';
import { Members } from '../../parts/schema_form.tsx';
import { Stranger } from '../../parts/text.tsx';
import { initial, type Schema } from '../../shown/schema.ts';
import { Messages } from './messages.tsx';
import { Questions } from './questions.tsx';
import { Result } from './result.tsx';

const EARLY = 15_000; // a token that ends so soon is not used any more

interface Asked { questions: Record<string, Question>; state: string | undefined }

const inputSchema = (why: Why): Schema => ((why.definition as { inputSchema?: Schema } | undefined)?.inputSchema ?? { type: 'object' });

// Calls go through the gateway's endpoint, with the rules of whom the page looks as.
function useCalls(look: Look, name: string, schema: Schema) {
  const [messages, setMessages] = useState<Message[]>([]);
  const [progress, setProgress] = useState<Progress>();
  const [result, setResult] = useState<ToolResult>();
  const [asked, setAsked] = useState<Asked>();
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const token = useRef({ text: '', until: 0 });
  const running = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const run = async (given: unknown, answers?: Record<string, Answered>) => {
    setBusy(true);
    setProblem(undefined);
    setResult(undefined);
    setAsked(undefined);
    setProgress(undefined);
    if (!answers) setMessages([]);
    const controller = new AbortController();
    running.current = controller;
    try {
      // Who answers a question is who was asked: the same token.
      if (!answers && token.current.until < Date.now() + EARLY) {
        const made = await api.tryToken(look.as);
        token.current = { text: made.token, until: Date.parse(made.expires_at) };
      }
      const answer = await callTool(
        { token: token.current.text, context: look.context, name, arguments: given, schema, again: answers && { answers, state: asked?.state } },
        { message: (message) => setMessages((before) => [...before, message]), progress: setProgress }, controller.signal
      );
      if (answer.resultType === 'input_required') setAsked({ questions: answer.inputRequests ?? {}, state: answer.requestState });
      else setResult(answer);
    } catch (caught) {
      if (!controller.signal.aborted) setProblem(caught instanceof Problem ? caught : new Problem(400, (caught as Error).message));
    } finally {
      setBusy(false);
    }
  };
  return { messages, progress, result, asked, problem, busy, run, stop: () => running.current?.abort() };
}

function Trying({ look, name, why }: { look: Look; name: string; why: Why }) {
  const schema = inputSchema(why);
  const [given, setGiven] = useState<unknown>(() => initial(schema, schema, true) ?? {});
  const [raw, setRaw] = useState<string>();
  const [form, setForm] = useState(0); // another one where the JSON was edited
  const mayChange = useMayChange();
  const calls = useCalls(look, name, schema);
  const typeRaw = (text: string) => {
    setRaw(text);
    try {
      setGiven(JSON.parse(text));
      setForm((number) => number + 1);
    } catch { /* until it is JSON again, the form shows what it was */ }
  };
  return (
    <>
      <div class="split try">
        <form class="panel" onSubmit={(event) => { event.preventDefault(); void calls.run(given); }}>
          <h2>Arguments</h2>
          <Members key={form} schema={schema} root={schema} label="" value={given} required onChange={(next) => { setGiven(next); setRaw(undefined); }} />
          {Object.keys((schema.properties as object | undefined) ?? {}).length === 0 && <p class="quiet">It takes none.</p>}
          <label>As JSON
            <textarea rows={6} spellcheck={false} value={raw ?? JSON.stringify(given, null, 2)} onInput={(event) => typeRaw(event.currentTarget.value)} onBlur={() => setRaw(undefined)} />
          </label>
          <div class="actions">
            {calls.busy && <button type="button" onClick={calls.stop}>Stop</button>}
            <button type="submit" class="primary" disabled={!mayChange || calls.busy}>Call</button>
          </div>
          <p class="quiet">{mayChange
            ? 'The call really runs. It has the rules of whom you look as and none of their credentials: a token of five minutes that is in the audit under your name.'
            : 'A viewer looks, and calls nothing.'}</p>
        </form>
        <section class="panel" aria-label="Answer" aria-live="polite">
          <h2>Answer</h2>
          {calls.busy && <p class="quiet" role="status">Waiting…</p>}
          {calls.progress && calls.busy && (
            <p><progress aria-label="Progress" value={calls.progress.progress} max={calls.progress.total ?? Math.max(1, calls.progress.progress)} /> <Stranger text={calls.progress.message ?? `${calls.progress.progress}${calls.progress.total ? ` of ${calls.progress.total}` : ''}`} /></p>
          )}
          <ProblemNotice problem={calls.problem} />
          {calls.asked && <Questions questions={calls.asked.questions} onAnswer={(answers) => void calls.run(given, answers)} />}
          {calls.result && <Result result={calls.result} />}
          {!calls.busy && !calls.result && !calls.asked && !calls.problem && <p class="quiet">What the tool answers appears here.</p>}
        </section>
      </div>
      <Messages messages={calls.messages} />
    </>
  );
}

export function TryTool() {
  const { query } = usePlace();
  const name = query.get('name') ?? '';
  const look: Look = { as: query.get('as'), context: query.get('context') ?? '' };
  useTitle(`Try ${name}`);
  const { value: why, problem } = useLive(() => api.why(look, name), [look.as, look.context, name]);
  const back = new URLSearchParams(query);
  return (
    <>
      <header class="screen-head"><h1>Try <code><Stranger text={name} /></code></h1><Link href={`/ui/tools?${back}`}>Why it is seen</Link></header>
      <p class="quiet">As {look.as === null ? 'somebody with full access' : look.as === '' ? 'a caller without a token' : <Stranger text={look.as} />}, at <code>/mcp{look.context && `/${look.context}`}</code>.</p>
      <ProblemNotice problem={problem} />
      {!why && !problem && <Loading />}
      {why && why.visibility === 'not_seen' && <Empty title="They do not see it"><p><Stranger text={why.detail} /></p></Empty>}
      {why && why.visibility !== 'not_seen' && <Trying key={`${look.as} ${look.context} ${name}`} look={look} name={name} why={why} />}
    </>
  );
}
