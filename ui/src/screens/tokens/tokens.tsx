import { useState } from 'preact/hooks';
import { api, type Problem } from '../../api/client.ts';
import type { Token } from '../../api/types.ts';
import { announce, useLive } from '../../live/live.ts';
import { Commands } from '../../parts/commands.tsx';
import { Confirm, Dialog } from '../../parts/dialog.tsx';
import { Caveat, Empty, Loading, ProblemNotice } from '../../parts/notice.tsx';
import { Link, useMayChange, useTitle } from '../../parts/page.tsx';
import { Badge } from '../../parts/state.tsx';
import { UntrustedText } from '../../parts/text.tsx';
import { ago, moment } from '../../presentation/time.ts';
import { about, revocationNotice } from '../../presentation/tokens.ts';
import type { Tone } from '../../presentation/upstreams.ts';
import { NewToken } from './new_token.tsx';
import { Rules } from './rules.tsx';

const STATES: Record<string, { tone: Tone; mark: string; word: string }> = {
  active: { tone: 'good', mark: '●', word: 'Active' },
  expired: { tone: 'off', mark: '❚❚', word: 'Expired' },
  failed: { tone: 'bad', mark: '✖', word: 'Failed' }
};

function About({ token }: { token: Token }) {
  const { text, failed } = about(token);
  return <span class={failed ? 'bad' : 'quiet'}><UntrustedText text={text} /></span>;
}

function Secret({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <Dialog title="The token's secret" onClose={onClose}>
      <p>It is shown only now; Proteus keeps only its hash. Whoever has it can call as this principal.</p>
      <p><code class="secret">{secret}</code></p>
      <div class="actions"><button type="button" class="primary" onClick={onClose}>I have it</button></div>
    </Dialog>
  );
}

export function Tokens() {
  useTitle('Tokens');
  const { value, problem, reload } = useLive(api.tokens, []);
  const [asked, setAsked] = useState<{ name: string; what: 'rotate' | 'revoke' } | null>(null);
  const [adding, setAdding] = useState(false);
  const [secret, setSecret] = useState('');
  const [failed, setFailed] = useState<Problem>();
  const [caveat, setCaveat] = useState<string>();
  const mayChange = useMayChange();
  const act = async (confirmed: boolean) => {
    const what = asked;
    setAsked(null);
    if (!confirmed || !what) return;
    setFailed(undefined);
    setCaveat(undefined);
    try {
      if (what.what === 'revoke') setCaveat(revocationNotice(await api.revokeToken(what.name)));
      else setSecret((await api.rotateToken(what.name)).token);
      announce();
    } catch (caught) {
      setFailed(caught as Problem);
    }
    reload();
  };
  return (
    <>
      <header class="screen-head">
        <h1>Tokens</h1>
        {mayChange && <button type="button" class="primary" onClick={() => setAdding(true)}>Make a token</button>}
      </header>
      {adding && <NewToken onClose={() => setAdding(false)} onMade={(made) => { setAdding(false); setSecret(made); announce(); reload(); }} />}
      {secret && <Secret secret={secret} onClose={() => setSecret('')} />}
      {asked && (
        <Confirm title={`${asked.what === 'revoke' ? 'Revoke' : 'Rotate'} ${asked.name}?`} action={asked.what === 'revoke' ? 'Revoke' : 'Rotate'}
          tone={asked.what === 'revoke' ? 'bad' : undefined} onDone={(confirmed) => void act(confirmed)}
          details={<Commands method={asked.what === 'revoke' ? 'DELETE' : 'POST'} path={`/admin/tokens/${encodeURIComponent(asked.name)}${asked.what === 'rotate' ? '/rotate' : ''}`} />}
          text={asked.what === 'revoke'
            ? 'It is refused from the next request on. Its streams, sessions and calls end. This cannot be undone.'
            : 'It gets a new secret. The old one keeps working for 24 hours.'} />
      )}
      <ProblemNotice problem={failed ?? problem} />
      <Caveat text={caveat} />
      {!value && !problem && <Loading />}
      {value && value.length === 0 && <Empty title="No token yet"><p>A token makes its holder a principal with its own rules. Make one here, or under <code>[[auth.tokens]]</code> in the configuration.</p></Empty>}
      <ul class="tokens">
        {(value ?? []).map((token) => (
          <li key={`${token.origin} ${token.name}`}>
            <Badge {...(STATES[token.state] ?? STATES.failed!)} />
            <span class="about"><strong><UntrustedText text={token.name} /></strong> <About token={token} />
              <span class="quiet">{token.expires_at ? `expires ${ago(token.expires_at, Date.now())}` : 'does not expire'}{token.origin === 'runtime' && (token.last_used_at ? `, used ${ago(token.last_used_at, Date.now())}` : ', never used')}</span>
              {token.previous_until && <span>the old secret works until {moment(token.previous_until)}</span>}</span>
            <span class="actions">
              <Link href={`/ui/tools?as=${encodeURIComponent(token.name)}`}>What it sees</Link>
              {token.origin === 'runtime' && (
                <>
                  <button type="button" disabled={!mayChange} onClick={() => setAsked({ name: token.name, what: 'rotate' })}>Rotate</button>
                  <button type="button" class="danger" disabled={!mayChange} onClick={() => setAsked({ name: token.name, what: 'revoke' })}>Revoke</button>
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
      <Rules />
    </>
  );
}
