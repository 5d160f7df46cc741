import { useState } from 'preact/hooks';
import { api, type Problem } from '../../api/client.ts';
import type { Dataset } from '../../api/types.ts';
import { announce, useLive } from '../../live/live.ts';
import { Empty, Loading, ProblemNotice } from '../../parts/notice.tsx';
import { Link, useMayChange, useTitle } from '../../parts/page.tsx';
import { Badge } from '../../parts/state.tsx';
import { Stranger } from '../../parts/text.tsx';
import { moment } from '../../shown/time.ts';
import { TypeGraph } from './type_graph.tsx';

function status(dataset: Dataset) {
  if (dataset.connected) return <Badge tone="good" mark="●" word="Connected" />;
  if (dataset.status === 'ratified') return <Badge tone="wait" mark="◌" word="Ratified" />;
  return <Badge tone="warn" mark="▲" word={dataset.status.replaceAll('_', ' ')} />;
}

function Card({ dataset, mayChange, onAct }: { dataset: Dataset; mayChange: boolean; onAct: (what: 'connect' | 'disconnect') => void }) {
  return (
    <article class="context">
      <header class="card-head"><h2><Stranger text={dataset.name || dataset.file} /></h2>{status(dataset)}</header>
      {dataset.reason && <p class="notice warn"><Stranger text={dataset.reason} /></p>}
      {dataset.withdrawn && <p class="notice warn">Disconnected: <Stranger text={dataset.withdrawn.reason} /></p>}
      <div class="beside">
        <dl class="facts one">
          <div><dt>File</dt><dd><code><Stranger text={dataset.file} /></code></dd></div>
          {dataset.ratified && <div><dt>Ratified</dt><dd>by <Stranger text={dataset.ratified.by} />, {moment(dataset.ratified.at)}</dd></div>}
          {dataset.entity_types && <div><dt>Entities</dt><dd>{dataset.entity_types.join(', ')}</dd></div>}
          {dataset.relationship_types && <div><dt>Relationships</dt><dd>{dataset.relationship_types.join(', ') || 'none'}</dd></div>}
          {dataset.tool && <div><dt>Tool</dt><dd><code>{dataset.tool}</code></dd></div>}
        </dl>
        {dataset.entity_types && dataset.entity_types.length > 0 && <TypeGraph types={dataset.entity_types} links={dataset.relationships ?? []} />}
      </div>
      <div class="actions">
        {dataset.connected && dataset.tool && <Link class="button" href={`/ui/try?name=${encodeURIComponent(dataset.tool)}`}>Try a workup</Link>}
        {dataset.connected
          ? <button type="button" disabled={!mayChange} onClick={() => onAct('disconnect')}>Disconnect</button>
          : <button type="button" class="primary" disabled={!mayChange || dataset.status !== 'ratified'} onClick={() => onAct('connect')}>Connect</button>}
      </div>
    </article>
  );
}

export function Datasets() {
  useTitle('Datasets');
  const { value, problem, reload } = useLive(api.datasets, []);
  const [failed, setFailed] = useState<Problem>();
  const mayChange = useMayChange();
  const act = async (name: string, what: 'connect' | 'disconnect') => {
    setFailed(undefined);
    try {
      await api.connectDataset(name, what);
      announce();
    } catch (caught) {
      setFailed(caught as Problem);
    }
    reload();
  };
  return (
    <>
      <header class="screen-head"><h1>Datasets</h1></header>
      <ProblemNotice problem={failed ?? problem} />
      {!value && !problem && <Loading />}
      {(value?.faults ?? []).map((fault) => <p class="notice warn"><Stranger text={fault} /></p>)}
      {value && value.datasets.length === 0 && (
        <Empty title="No dataset yet"><p>A dataset is a database that agents read through a mapping which a person ratified: <code>proteus dataset propose</code>, then <code>proteus dataset ratify</code>.</p></Empty>
      )}
      <div class="cards wide">
        {(value?.datasets ?? []).map((dataset) => <Card key={dataset.file} dataset={dataset} mayChange={mayChange} onAct={(what) => void act(dataset.name, what)} />)}
      </div>
    </>
  );
}
