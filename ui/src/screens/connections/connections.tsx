import { useState } from 'preact/hooks';
import { api, type Problem } from '../../api/client.ts';
import type { Connection, Upstream } from '../../api/types.ts';
import { announce, useLive } from '../../live/live.ts';
import { Commands } from '../../parts/commands.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { Caveat, Empty, Loading, ProblemNotice } from '../../parts/notice.tsx';
import { Link, useMayChange, useTitle } from '../../parts/page.tsx';
import { Badge } from '../../parts/state.tsx';
import { Stranger } from '../../parts/text.tsx';
import { disconnectionNotice, signsIn, stateOf } from '../../shown/connections.ts';
import { ago, moment } from '../../shown/time.ts';

async function load(): Promise<{ connections: Connection[]; upstreams: Upstream[] }> {
  const [connections, upstreams] = await Promise.all([api.connections(), api.upstreams()]);
  return { connections, upstreams: upstreams.filter(signsIn) };
}

function Row({ one, mayChange, onEnd }: { one: Connection; mayChange: boolean; onEnd: () => void }) {
  const now = Date.now();
  return (
    <li>
      <Badge {...stateOf(one)} />
      <span class="about">
        <strong>{one.subject === 'gateway' ? 'The gateway' : <Stranger text={one.principal} />}</strong> <span>at <Link href={`/ui/upstreams/${encodeURIComponent(one.upstream)}`}><Stranger text={one.upstream} /></Link></span>
        <span class="quiet" title={moment(one.connected_at)}>connected {ago(one.connected_at, now)}{one.expires_at && `, token ends ${ago(one.expires_at, now)}`}</span>
        <span class="quiet">by <Stranger text={one.issuer} />{one.scopes.length > 0 && <> for <Stranger text={one.scopes.join(', ')} /></>}</span>
        {one.last_error && <span class="bad"><Stranger text={one.last_error} /></span>}
      </span>
      <span class="actions"><button type="button" class="danger" disabled={!mayChange} onClick={onEnd}>Disconnect</button></span>
    </li>
  );
}

// Who has signed in at which upstream. The gateway connects itself here, too.
export function Connections() {
  useTitle('Connections');
  const { value, problem, reload } = useLive(load, []);
  const [ending, setEnding] = useState<Connection>();
  const [failed, setFailed] = useState<Problem>();
  const [caveat, setCaveat] = useState<string>();
  const [opened, setOpened] = useState<{ upstream: string; url: string }>();
  const mayChange = useMayChange();
  const attempt = async (what: () => Promise<unknown>) => {
    setFailed(undefined);
    setCaveat(undefined);
    try {
      await what();
      announce();
    } catch (caught) {
      setFailed(caught as Problem);
    }
    reload();
  };
  const end = (confirmed: boolean) => {
    const { id } = ending!;
    setEnding(undefined);
    if (confirmed) void attempt(async () => setCaveat(disconnectionNotice(await api.disconnect(id))));
  };
  const alone = (value?.upstreams ?? []).filter((one) => !value!.connections.some((other) => other.subject === 'gateway' && other.upstream === one.name));
  return (
    <>
      <header class="screen-head"><h1>Connections</h1></header>
      <ProblemNotice problem={failed ?? problem} />
      <Caveat text={caveat} />
      {ending && (
        <Confirm title={`Disconnect ${ending.subject === 'gateway' ? 'the gateway' : ending.principal} from ${ending.upstream}?`} action="Disconnect" tone="bad" onDone={end}
          text="The tokens are forgotten, and revoked where the authorization server offers that. Calls need a new sign-in. This cannot be undone."
          details={<Commands method="DELETE" path={`/admin/connections/${encodeURIComponent(ending.id)}`} />} />
      )}
      {!value && !problem && <Loading />}
      {value && value.connections.length === 0 && (
        <Empty title="Nobody has connected an upstream yet">
          <p>Upstreams with <code>authentication = {'{'} type = "oauth" {'}'}</code> ask each caller to sign in at their own identity provider. Who has done so appears here.</p>
        </Empty>
      )}
      <ul class="tokens">{(value?.connections ?? []).map((one) => <Row key={one.id} one={one} mayChange={mayChange} onEnd={() => setEnding(one)} />)}</ul>
      {alone.length > 0 && (
        <section aria-labelledby="own">
          <h2 id="own">Connect the gateway itself</h2>
          <p class="quiet">So that it reads lists without a caller. The link works once, for ten minutes.</p>
          {opened && <p class="notice good">Open <a href={opened.url} target="_blank" rel="noopener noreferrer">the sign-in for <Stranger text={opened.upstream} /></a>.</p>}
          <div class="actions start">
            {alone.map((one) => <button type="button" key={one.name} disabled={!mayChange} onClick={() => void attempt(async () => setOpened(await api.connectGateway(one.name)))}>Connect <Stranger text={one.name} /></button>)}
          </div>
        </section>
      )}
    </>
  );
}
