import { useState } from 'preact/hooks';
import { api, type Problem } from '../../api/client.ts';
import type { Connection, Upstream } from '../../api/types.ts';
import { announce, useLive } from '../../live/live.ts';
import { Commands } from '../../parts/commands.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { Caveat, Empty, Loading, ProblemNotice } from '../../parts/notice.tsx';
import { Link, useMayChange, useTitle } from '../../parts/page.tsx';
import { Badge } from '../../parts/state.tsx';
import { UntrustedText } from '../../parts/text.tsx';
import { disconnectionNotice, signsIn, stateOf } from '../../presentation/connections.ts';
import { ago, moment } from '../../presentation/time.ts';

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
        <strong>{one.subject === 'gateway' ? 'The gateway' : <UntrustedText text={one.principal} />}</strong> <span>at <Link href={`/ui/upstreams/${encodeURIComponent(one.upstream)}`}><UntrustedText text={one.upstream} /></Link></span>
        <span class="quiet" title={moment(one.connected_at)}>connected {ago(one.connected_at, now)}{one.expires_at && `, token expires ${ago(one.expires_at, now)}`}</span>
        <span class="quiet">issued by <UntrustedText text={one.issuer} />{one.scopes.length > 0 && <> for <UntrustedText text={one.scopes.join(', ')} /></>}</span>
        {one.last_error && <span class="bad"><UntrustedText text={one.last_error} /></span>}
      </span>
      <span class="actions"><button type="button" class="danger" disabled={!mayChange} onClick={onEnd}>Disconnect</button></span>
    </li>
  );
}

// Shows who has signed in at which upstream, and connects the gateway itself.
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
          text="The tokens are deleted, and revoked if the authorization server supports that. Later calls need a new sign-in. This cannot be undone."
          details={<Commands method="DELETE" path={`/admin/connections/${encodeURIComponent(ending.id)}`} />} />
      )}
      {!value && !problem && <Loading />}
      {value && value.connections.length === 0 && (
        <Empty title="Nobody has connected an upstream yet">
          <p>Callers of an upstream with <code>authentication = {'{'} type = "oauth" {'}'}</code> sign in there with their own accounts. Those who have done so appear here.</p>
        </Empty>
      )}
      <ul class="tokens">{(value?.connections ?? []).map((one) => <Row key={one.id} one={one} mayChange={mayChange} onEnd={() => setEnding(one)} />)}</ul>
      {alone.length > 0 && (
        <section aria-labelledby="own">
          <h2 id="own">Connect the gateway itself</h2>
          <p class="quiet">The gateway can then read lists without a caller. The link works once, within ten minutes.</p>
          {opened && <p class="notice good">Open <a href={opened.url} target="_blank" rel="noopener noreferrer">the sign-in for <UntrustedText text={opened.upstream} /></a>.</p>}
          <div class="actions start">
            {alone.map((one) => <button type="button" key={one.name} disabled={!mayChange} onClick={() => void attempt(async () => setOpened(await api.connectGateway(one.name)))}>Connect <UntrustedText text={one.name} /></button>)}
          </div>
        </section>
      )}
    </>
  );
}
