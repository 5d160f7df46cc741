import { useState } from 'preact/hooks';
import { api, type Problem } from '../../api/client.ts';
import type { Dataset, ReviewedMapping } from '../../api/types.ts';
import { announce, useLive } from '../../live/live.ts';
import { Commands } from '../../parts/commands.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { Empty, Loading, ProblemNotice } from '../../parts/notice.tsx';
import { Link, useMayChange, useTitle } from '../../parts/page.tsx';
import { Badge } from '../../parts/state.tsx';
import { UntrustedText } from '../../parts/text.tsx';
import { moment } from '../../presentation/time.ts';
import { MappingEditor } from './mapping_editor.tsx';
import { Propose } from './propose.tsx';
import { TypeGraph } from './type_graph.tsx';

type Action = 'connect' | 'disconnect' | 'review' | 'revoke';

function status(dataset: Dataset) {
  if (dataset.connected) return <Badge tone="good" mark="●" word="Connected" />;
  if (dataset.status === 'ratified') return <Badge tone="wait" mark="◌" word="Ratified" />;
  return <Badge tone="warn" mark="▲" word={(dataset.status ?? 'gone').replaceAll('_', ' ')} />;
}

function Card({ dataset, mayChange, onAct }: { dataset: Dataset; mayChange: boolean; onAct: (what: Action) => void }) {
  return (
    <article class="context">
      <header class="card-head"><h2><UntrustedText text={dataset.name || (dataset.file ?? '')} /></h2>{status(dataset)}</header>
      {dataset.reason && <p class="notice warn"><UntrustedText text={dataset.reason} /></p>}
      {dataset.withdrawn && <p class="notice warn">Disconnected: <UntrustedText text={dataset.withdrawn.reason} /></p>}
      <div class="beside">
        <dl class="facts one">
          <div><dt>File</dt><dd><code><UntrustedText text={dataset.file ?? ''} /></code></dd></div>
          {dataset.ratified && <div><dt>Ratified</dt><dd>by <UntrustedText text={dataset.ratified.by} />, {moment(dataset.ratified.at)}</dd></div>}
          {dataset.revoked && <div><dt>Revoked</dt><dd>by <UntrustedText text={dataset.revoked.by} />, {moment(dataset.revoked.at)}</dd></div>}
          {dataset.entity_types && <div><dt>Entities</dt><dd><UntrustedText text={dataset.entity_types.join(', ')} /></dd></div>}
          {dataset.relationship_types && <div><dt>Relationships</dt><dd><UntrustedText text={dataset.relationship_types.join(', ') || 'none'} /></dd></div>}
          {dataset.tool && <div><dt>Tool</dt><dd><code>{dataset.tool}</code></dd></div>}
        </dl>
        {dataset.entity_types && dataset.entity_types.length > 0 && <TypeGraph types={dataset.entity_types} links={dataset.relationships ?? []} />}
      </div>
      <div class="actions">
        {dataset.name && <button type="button" disabled={!mayChange} onClick={() => onAct('review')}>{dataset.status === 'ratified' ? 'Mapping' : 'Review'}</button>}
        {dataset.status === 'ratified' && <button type="button" class="danger" disabled={!mayChange} onClick={() => onAct('revoke')}>Revoke</button>}
        {dataset.connected && dataset.tool && <Link class="button" href={`/ui/try?name=${encodeURIComponent(dataset.tool)}`}>Try a workup</Link>}
        {dataset.connected
          ? <button type="button" disabled={!mayChange} onClick={() => onAct('disconnect')}>Disconnect</button>
          : <button type="button" class="primary" disabled={!mayChange || dataset.status !== 'ratified'} onClick={() => onAct('connect')}>Connect</button>}
      </div>
    </article>
  );
}

type Open = { what: 'propose' } | { what: 'mapping'; text: string; found?: ReviewedMapping } | null;

export function Datasets() {
  useTitle('Datasets');
  const { value, problem, reload } = useLive(api.datasets, []);
  const [failed, setFailed] = useState<Problem>();
  const [open, setOpen] = useState<Open>(null);
  const [revoking, setRevoking] = useState('');
  const mayChange = useMayChange();
  const attempt = async (what: () => Promise<unknown>) => {
    setFailed(undefined);
    try {
      await what();
      announce();
    } catch (caught) {
      setFailed(caught as Problem);
    }
    reload();
  };
  const act = (name: string, what: Action) => {
    if (what === 'revoke') setRevoking(name);
    else if (what === 'review') void attempt(async () => setOpen({ what: 'mapping', text: await api.mapping(name) }));
    else void attempt(() => api.connectDataset(name, what));
  };
  const revoke = (confirmed: boolean) => {
    const name = revoking;
    setRevoking('');
    if (confirmed) void attempt(() => api.revoke(name));
  };
  const variables = value?.environment ?? [];
  return (
    <>
      <header class="screen-head">
        <h1>Datasets</h1>
        {mayChange && variables.length > 0 && <button type="button" class="primary" onClick={() => setOpen({ what: 'propose' })}>Propose a dataset</button>}
      </header>
      <ProblemNotice problem={failed ?? problem} />
      {!value && !problem && <Loading />}
      {revoking && (
        <Confirm title={`Revoke ${revoking}?`} action="Revoke" tone="bad" onDone={revoke} details={<Commands method="POST" path={`/admin/datasets/${encodeURIComponent(revoking)}/revoke`} />}
          text="Its tool disappears, and nobody can connect it until somebody ratifies it again." />
      )}
      {open?.what === 'propose' && <Propose variables={variables} onCancel={() => setOpen(null)} onDraft={(draft) => setOpen({ what: 'mapping', text: draft.draft, found: draft })} />}
      {open?.what === 'mapping' && <MappingEditor key={open.text} text={open.text} found={open.found} onDone={(ratified) => { setOpen(null); if (ratified) announce(); reload(); }} />}
      {(value?.faults ?? []).map((fault) => <p class="notice warn"><UntrustedText text={fault} /></p>)}
      {Object.entries(value?.withdrawn ?? {}).map(([name, { reason, at }]) => <p class="notice warn" key={name}><UntrustedText text={name} /> was disconnected, {moment(at)}: <UntrustedText text={reason} /></p>)}
      {value && value.datasets.length === 0 && !open && (
        <Empty title="No dataset yet"><p>A dataset is a database that agents read through a mapping that a person has ratified. Propose and ratify one here, or with <code>proteus dataset propose</code> and <code>proteus dataset ratify</code>.</p></Empty>
      )}
      {value && variables.length === 0 && <p class="quiet">To propose and ratify datasets here, list the environment variables with the addresses of databases under <code>[datasets] environment</code>.</p>}
      <div class="cards wide">
        {(value?.datasets ?? []).map((dataset) => <Card key={dataset.file} dataset={dataset} mayChange={mayChange} onAct={(what) => act(dataset.name, what)} />)}
      </div>
    </>
  );
}
