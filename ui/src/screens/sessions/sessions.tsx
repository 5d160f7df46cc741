import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { api, type Problem } from '../../api/client.ts';
import type { ClientSession, Listed, ParkedCall, Stream, ToolSession } from '../../api/types.ts';
import { useLive } from '../../live/live.ts';
import { Commands } from '../../parts/commands.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { Caveat, Loading, ProblemNotice } from '../../parts/notice.tsx';
import { Link, useMayChange, useTitle } from '../../parts/page.tsx';
import { UntrustedText } from '../../parts/text.tsx';
import { endingNotice, removalNotice } from '../../presentation/sessions.ts';
import { count, visible } from '../../presentation/text.ts';
import { ago } from '../../presentation/time.ts';

interface Ending { word: string; what: string; method: string; path: string; body?: unknown; run: () => Promise<string | undefined> }

const who = (principal: string | null) => (principal === null ? 'Without a token' : <UntrustedText text={principal} />);
const where = (context: string) => `/mcp${context && `/${context}`}`;

interface GroupProperties<One> { title: string; help: string; all: Listed<One>; row: (one: One) => { key: string; about: ComponentChildren; ending: Ending }; onEnd: (ending: Ending) => void }

function Group<One>({ title, help, all, row, onEnd }: GroupProperties<One>) {
  const mayChange = useMayChange();
  return (
    <section>
      <h2>{title} <span class="quiet">{all.total.toLocaleString('en')}</span></h2>
      {all.total === 0 && <p class="quiet">{help}</p>}
      <ul class="tokens open">
        {all.newest.map((one) => {
          const { key, about, ending } = row(one);
          return (
            <li key={key}>
              <span class="about">{about}</span>
              <span class="actions"><button type="button" disabled={!mayChange} aria-label={`End ${visible(ending.word)}`} onClick={() => onEnd(ending)}>End</button></span>
            </li>
          );
        })}
      </ul>
      {all.total > all.newest.length && <p class="quiet">The newest {count(all.newest.length, 'entry', 'entries')}.</p>}
    </section>
  );
}

// Shows what is open: parked calls, client sessions, streams and tool sessions.
export function Sessions() {
  useTitle('Sessions');
  const { value, problem, reload } = useLive(api.sessions, []);
  const [asked, setAsked] = useState<Ending>();
  const [failed, setFailed] = useState<Problem>();
  const [caveat, setCaveat] = useState<string>();
  const now = Date.now();
  const end = async (confirmed: boolean) => {
    const ending = asked!;
    setAsked(undefined);
    if (!confirmed) return;
    setFailed(undefined);
    setCaveat(undefined);
    try {
      setCaveat(await ending.run());
    } catch (caught) {
      setFailed(caught as Problem);
    }
    reload();
  };
  const ended = (id: string, word: string, what: string): Ending => ({ word, what, method: 'DELETE', path: `/admin/sessions/${id}`, run: async () => endingNotice(await api.endSession(id)) });
  const client = (one: ClientSession) => ({
    key: one.id, ending: ended(one.id, `the session of ${one.client || 'a client'}`, 'Its streams and calls end, and the client has to open a new one.'),
    about: <><strong>{who(one.principal)}</strong> <span><UntrustedText text={one.client || 'unnamed client'} /> at <code>{where(one.context)}</code></span>
      <span class="quiet">since {ago(one.began_at, now)}, used {ago(one.last_used_at, now)}, revision <UntrustedText text={one.protocol_version} />{one.listens && ', listens'}</span></>
  });
  const stream = (one: Stream) => ({
    key: one.id, ending: ended(one.id, 'the stream', 'The client may open another one.'),
    about: <><strong>{who(one.principal)}</strong> <span>at <code>{where(one.context)}</code></span>
      <span class="quiet">since {ago(one.began_at, now)}, is notified of {[...one.hears_of, ...(one.resources ? [count(one.resources, 'resource')] : [])].join(', ') || 'nothing'}</span></>
  });
  const parked = (one: ParkedCall) => ({
    key: one.id, ending: ended(one.id, 'the call', 'It is cancelled at the upstream, and its answer is lost.'),
    about: <><strong>{who(one.principal)}</strong> <span>at <Link href={`/ui/upstreams/${encodeURIComponent(one.upstream)}`}><UntrustedText text={one.upstream} /></Link></span>
      <span class="quiet">since {ago(one.began_at, now)}, waits for {one.waits_for}</span></>
  });
  const tools = (one: ToolSession) => ({
    key: one.session_id,
    ending: { word: `the tool session ${one.session_id}`, what: 'Its tools and its token stop working. This cannot be undone.', method: 'POST', path: '/admin/session/cleanup', body: { session_id: one.session_id }, run: async () => removalNotice(await api.endToolSession(one.session_id)) },
    about: <><strong><UntrustedText text={one.session_id} /></strong> <span>of <UntrustedText text={typeof one.user_id === 'string' ? one.user_id : JSON.stringify(one.user_id)} /> at <code>{where(one.context)}</code></span>
      <span class="quiet">{count(one.tools, 'tool')}, since {ago(one.began_at, now)}, used {ago(one.last_used_at, now)}</span></>
  });
  return (
    <>
      <header class="screen-head"><h1>Sessions</h1></header>
      <ProblemNotice problem={failed ?? problem} />
      <Caveat text={caveat} />
      {asked && <Confirm title={`End ${asked.word}?`} text={asked.what} action="End" tone="bad" onDone={(confirmed) => void end(confirmed)} details={<Commands method={asked.method} path={asked.path} body={asked.body} />} />}
      {!value && !problem && <Loading />}
      {value && (
        <>
          <Group title="Waiting calls" help="A call waits here if its upstream has asked a question and the client has not answered yet." all={value.parked_calls} row={parked} onEnd={setAsked} />
          <Group title="Client sessions" help="Clients of the legacy era have sessions. Modern clients have none." all={value.client_sessions} row={client} onEnd={setAsked} />
          <Group title="Streams" help="Modern clients that want to be notified of changes keep a stream open." all={value.streams} row={stream} onEnd={setAsked} />
          <Group title="Tool sessions" help="A tool session gives the holder of one token additional tools. POST /admin/session/init creates one." all={value.tool_sessions} row={tools} onEnd={setAsked} />
        </>
      )}
    </>
  );
}
