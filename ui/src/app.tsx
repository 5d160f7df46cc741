import { useEffect, useState } from 'preact/hooks';
import { api, Problem, setOnChange, setOnSignedOut, type Asked } from './api/client.ts';
import type { Session } from './api/types.ts';
import { announce, start, useConnection, onOtherTabChange } from './live/live.ts';
import { Commands } from './parts/commands.tsx';
import { Dialog } from './parts/dialog.tsx';
import { Empty, Loading, ProblemNotice } from './parts/notice.tsx';
import { go, Link, SessionContext, usePlace, type Place } from './parts/page.tsx';
import { upstreamIn } from './presentation/paths.ts';
import { Audit } from './screens/audit/audit.tsx';
import { Calls } from './screens/calls/calls.tsx';
import { Connections } from './screens/connections/connections.tsx';
import { Contexts } from './screens/contexts/contexts.tsx';
import { Datasets } from './screens/datasets/datasets.tsx';
import { Overview } from './screens/overview/overview.tsx';
import { Sessions } from './screens/sessions/sessions.tsx';
import { TryTool } from './screens/try/try_tool.tsx';
import { Proposals } from './screens/proposals/proposals.tsx';
import { SignInForm } from './screens/sign-in/sign_in.tsx';
import { Timeline } from './screens/timeline/timeline.tsx';
import { Tokens } from './screens/tokens/tokens.tsx';
import { Tools } from './screens/tools/tools.tsx';
import { UpstreamScreen } from './screens/upstream/upstream.tsx';

const RENEW = 20 * 60 * 1000; // shorter than the lifetime of a session
const SCREENS: [string, string][] = [['/ui', 'Overview'], ['/ui/tools', 'Tools'], ['/ui/proposals', 'Proposals'], ['/ui/timeline', 'Timeline'], ['/ui/contexts', 'Contexts'], ['/ui/datasets', 'Datasets'], ['/ui/tokens', 'Tokens'], ['/ui/connections', 'Connections'], ['/ui/sessions', 'Sessions'], ['/ui/calls', 'Calls'], ['/ui/audit', 'Audit']];

function Screen({ place }: { place: Place }) {
  const upstream = upstreamIn(place.path);
  if (upstream) return <UpstreamScreen key={upstream} name={upstream} />;
  switch (place.path) {
    case '/ui': return <Overview />;
    case '/ui/tools': return <Tools />;
    case '/ui/proposals': return <Proposals />;
    case '/ui/timeline': return <Timeline />;
    case '/ui/contexts': return <Contexts />;
    case '/ui/datasets': return <Datasets />;
    case '/ui/tokens': return <Tokens />;
    case '/ui/connections': return <Connections />;
    case '/ui/sessions': return <Sessions />;
    case '/ui/try': return <TryTool />;
    case '/ui/calls': return <Calls />;
    case '/ui/audit': return <Audit />;
    default: return <Empty title="There is no such screen"><p><Link href="/ui">Overview</Link></p></Empty>;
  }
}

// Shows the last change as a command, including changes that are made without a dialog.
function LastChange({ change }: { change: Asked }) {
  const upstream = change.method === 'DELETE' ? undefined : upstreamIn(change.path);
  return <section aria-label="Your last change"><Commands title="Your last change as curl" {...change} upstream={upstream} /></section>;
}

function Shell({ session, place, onSignOut }: { session: Session; place: Place; onSignOut: () => Promise<void> }) {
  const connection = useConnection();
  const [last, setLast] = useState<Asked>();
  const [problem, setProblem] = useState<Problem>();
  useEffect(() => setOnChange(setLast), []);
  const signOut = () => {
    setProblem(undefined);
    onSignOut().catch((caught: Problem) => setProblem(new Problem(caught.status, `The sign-out failed: ${caught.message}`)));
  };
  return (
    <>
      <a class="skip" href="#main">Skip to content</a>
      <header class="top">
        <Link href="/ui" class="brand">Proteus</Link>
        <nav aria-label="Screens">
          {SCREENS.map(([href, word]) => <Link key={href} href={href} current={place.path === href}>{word}</Link>)}
        </nav>
        <div class="who">
          <span>{session.name}{session.role === 'viewer' && <span class="tag">viewer</span>}</span>
          <button type="button" onClick={signOut}>Sign out</button>
        </div>
      </header>
      {connection === 'lost' && <p class="lost" role="alert">The gateway does not answer. What you see may be old; the page keeps trying.</p>}
      <main id="main" tabIndex={-1}>
        <ProblemNotice problem={problem} />
        <Screen place={place} />
      </main>
      <footer class="quiet">Proteus {session.version}{last && <LastChange change={last} />}</footer>
    </>
  );
}

export function App() {
  const place = usePlace();
  const [session, setSession] = useState<Session | null>(null);
  const [state, setState] = useState<'asking' | 'out' | 'in' | 'ended'>('asking');
  const [problem, setProblem] = useState<Problem>();
  const enter = (entered: Session) => {
    setSession(entered);
    setState('in');
    start();
    if (location.pathname === '/ui/sign-in') go(entered.path ?? '/ui', 'replace');
    announce();
  };
  useEffect(() => {
    setOnSignedOut(() => setState((before) => (before === 'in' ? 'ended' : before)));
    // The code of a sign-in link is single-use. Removes it from the address bar at once.
    const code = location.pathname === '/ui/sign-in' ? location.hash.slice(1) : '';
    if (code) history.replaceState(null, '', '/ui/sign-in');
    const entering = code ? api.signInByCode(code).catch((caught: Problem) => {
      setProblem(new Problem(400, caught.status === 401 ? 'The link was used before, or has expired.' : caught.message));
      return api.session();
    }) : api.session();
    entering.then(enter, (caught: Problem) => {
      setState('out');
      if (caught.status !== 401) setProblem(caught);
    });
    const timer = setInterval(() => {
      if (!document.hidden) void api.session().then(setSession, () => {});
    }, RENEW);
    return () => clearInterval(timer);
  }, []);
  // The user may sign in again in another tab.
  useEffect(() => (state === 'ended' ? onOtherTabChange(() => void api.session().then(enter, () => {})) : undefined), [state]);
  const signOut = async () => {
    await api.signOut().catch((caught: Problem) => {
      if (caught.status !== 401) throw caught;
    });
    setSession(null);
    setState('out');
  };
  if (state === 'asking') return <main class="alone"><Loading /></main>;
  if (state === 'out' || !session) {
    return (
      <main class="alone">
        <h1>Proteus</h1>
        <ProblemNotice problem={problem} />
        <SignInForm onDone={enter} />
      </main>
    );
  }
  return (
    <SessionContext.Provider value={session}>
      <Shell session={session} place={place} onSignOut={signOut} />
      {state === 'ended' && <Dialog title="Sign in again" fixed onClose={() => {}}><SignInForm again onDone={enter} /></Dialog>}
    </SessionContext.Provider>
  );
}
