import { useEffect, useRef, useState } from 'preact/hooks';
import { api, Problem, type Perspective } from '../../api/client.ts';
import { callTool, type Answered, type Progress, type Question, type ToolResult } from '../../api/mcp.ts';
import type { Why } from '../../api/types.ts';
import { useLive } from '../../live/live.ts';
import { Empty, Loading, ProblemNotice } from '../../parts/notice.tsx';
import { Link, useMayChange, usePlace, useTitle } from '../../parts/page.tsx';
import { Members } from '../../parts/schema_form.tsx';
import { UntrustedText } from '../../parts/text.tsx';
import { logged, NO_MESSAGES } from '../../presentation/messages.ts';
import { initial, type Schema } from '../../presentation/schema.ts';
import { Messages } from './messages.tsx';
import { Questions } from './questions.tsx';
import { Result } from './result.tsx';

const EARLY = 15_000; // a token is replaced this long before it expires

interface Asked { questions: Record<string, Question>; state: string | undefined }

const inputSchema = (why: Why): Schema => ((why.definition as { inputSchema?: Schema } | undefined)?.inputSchema ?? { type: 'object' });

// Sends calls through the gateway's MCP endpoint, with the rules of the principal that the page looks as.
function useCalls(perspective: Perspective, name: string, schema: Schema) {
  const [messages, setMessages] = useState(NO_MESSAGES);
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
    if (!answers) setMessages(NO_MESSAGES);
    const controller = new AbortController();
    running.current = controller;
    try {
      // Answers to questions are sent with the token of the call.
      if (!answers && token.current.until < Date.now() + EARLY) {
        const made = await api.tryToken(perspective.as);
        token.current = { text: made.token, until: Date.parse(made.expires_at) };
      }
      const answer = await callTool(
        { token: token.current.text, context: perspective.context, name, arguments: given, schema, again: answers && { answers, state: asked?.state } },
        { message: (message) => setMessages((log) => logged(log, message)), progress: setProgress }, controller.signal
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

function Trying({ perspective, name, why }: { perspective: Perspective; name: string; why: Why }) {
  const schema = inputSchema(why);
  const [given, setGiven] = useState<unknown>(() => initial(schema, schema, true) ?? {});
  const [raw, setRaw] = useState<string>();
  const [form, setForm] = useState(0); // key of the form, which is replaced when the JSON is edited
  const mayChange = useMayChange();
  const calls = useCalls(perspective, name, schema);
  const typeRaw = (text: string) => {
    setRaw(text);
    try {
      setGiven(JSON.parse(text));
      setForm((number) => number + 1);
    } catch { /* the form keeps its values until the JSON is valid again */ }
  };
  return (
    <>
      <div class="split try">
        <form class="panel" onSubmit={(event) => { event.preventDefault(); void calls.run(given); }}>
          <h2>Arguments</h2>
          <Members key={form} schema={schema} root={schema} label="" value={given} required onChange={(next) => { setGiven(next); setRaw(undefined); }} />
          {Object.keys((schema.properties as object | undefined) ?? {}).length === 0 && <p class="quiet">The tool takes no arguments.</p>}
          <label>As JSON
            <textarea rows={6} spellcheck={false} value={raw ?? JSON.stringify(given, null, 2)} onInput={(event) => typeRaw(event.currentTarget.value)} onBlur={() => setRaw(undefined)} />
          </label>
          <div class="actions">
            {calls.busy && <button type="button" onClick={calls.stop}>Stop</button>}
            <button type="submit" class="primary" disabled={!mayChange || calls.busy}>Call</button>
          </div>
          <p class="quiet">{mayChange
            ? 'The call really runs. It runs with the rules of the principal you look as, without their credentials; the audit names you.'
            : 'Viewers cannot call tools.'}</p>
        </form>
        <section class="panel" aria-label="Answer" aria-live="polite">
          <h2>Answer</h2>
          {calls.busy && <p class="quiet" role="status">Waiting…</p>}
          {calls.progress && calls.busy && (
            <p><progress aria-label="Progress" value={calls.progress.progress} max={calls.progress.total ?? Math.max(1, calls.progress.progress)} /> <UntrustedText text={calls.progress.message ?? `${calls.progress.progress}${calls.progress.total ? ` of ${calls.progress.total}` : ''}`} /></p>
          )}
          <ProblemNotice problem={calls.problem} />
          {calls.asked && <Questions questions={calls.asked.questions} onAnswer={(answers) => void calls.run(given, answers)} />}
          {calls.result && <Result result={calls.result} />}
          {!calls.busy && !calls.result && !calls.asked && !calls.problem && <p class="quiet">The tool's answer appears here.</p>}
        </section>
      </div>
      <Messages log={calls.messages} />
    </>
  );
}

export function TryTool() {
  const { query } = usePlace();
  const name = query.get('name') ?? '';
  const perspective: Perspective = { as: query.get('as'), context: query.get('context') ?? '' };
  useTitle(`Try ${name}`);
  const { value: why, problem } = useLive(() => api.why(perspective, name), [perspective.as, perspective.context, name]);
  const back = new URLSearchParams(query);
  return (
    <>
      <header class="screen-head"><h1>Try <code><UntrustedText text={name} /></code></h1><Link href={`/ui/tools?${back}`}>Why it is visible</Link></header>
      <p class="quiet">As {perspective.as === null ? 'somebody with full access' : perspective.as === '' ? 'a caller without a token' : <UntrustedText text={perspective.as} />}, at <code>/mcp{perspective.context && `/${perspective.context}`}</code>.</p>
      <ProblemNotice problem={problem} />
      {!why && !problem && <Loading />}
      {why && why.visibility === 'not_seen' && <Empty title="This principal does not see the tool"><p><UntrustedText text={why.detail} /></p></Empty>}
      {why && why.visibility !== 'not_seen' && <Trying key={`${perspective.as} ${perspective.context} ${name}`} perspective={perspective} name={name} why={why} />}
    </>
  );
}
