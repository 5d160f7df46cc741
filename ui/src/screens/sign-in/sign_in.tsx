import { useEffect, useState } from 'preact/hooks';
import { api, Problem } from '../../api/client.ts';
import type { Session } from '../../api/types.ts';
import { ProblemNotice } from '../../parts/notice.tsx';
import { UntrustedText } from '../../parts/text.tsx';

const short = (issuer: string) => issuer.replace(/^https?:\/\//, '').replace(/\/$/, '');

// Signs in at an identity provider, to which the browser navigates and from which it returns. A session that has ended
// is renewed in a new tab, to keep what the user has typed in this one.
function Providers({ again, onProblem }: { again: boolean | undefined; onProblem: (problem: Problem) => void }) {
  const [issuers, setIssuers] = useState<string[]>([]);
  useEffect(() => void api.providers().then(setIssuers, () => {}), []);
  const leave = async (issuer: string) => {
    try {
      location.assign(await api.signInAt(issuer, location.pathname + location.search));
    } catch (caught) {
      onProblem(caught as Problem);
    }
  };
  if (issuers.length === 0) return null;
  return (
    <div class="providers">
      {again
        ? <a class="button" href="/ui/sign-in" target="_blank" rel="noopener">Sign in with an identity provider, in a new tab</a>
        : issuers.map((issuer) => <button type="button" key={issuer} onClick={() => void leave(issuer)}>Sign in at <UntrustedText text={short(issuer)} /></button>)}
    </div>
  );
}

// Sends the secret to the gateway and forgets it. The session is in a cookie that no script can read.
export function SignInForm({ onDone, again }: { onDone: (session: Session) => void; again?: boolean }) {
  const [secret, setSecret] = useState('');
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      onDone(await api.signIn(secret));
      setSecret('');
    } catch (caught) {
      const failed = caught as Problem;
      setProblem(failed.status === 401 ? new Problem(400, 'No admin key has this secret.') : failed);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form onSubmit={submit} class="sign-in">
      {again && <p>Your session has ended. What you typed is still there.</p>}
      <label>Admin secret or key
        <input type="password" name="secret" autocomplete="current-password" required autofocus value={secret}
          onInput={(event) => setSecret(event.currentTarget.value)} />
      </label>
      <ProblemNotice problem={problem} />
      <button type="submit" class="primary" disabled={busy || !secret}>Sign in</button>
      <p class="quiet">The owner of the data directory can print the secret: <code>proteus admin-secret</code></p>
      <Providers again={again} onProblem={setProblem} />
    </form>
  );
}
