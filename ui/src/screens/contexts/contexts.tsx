import { useMemo } from 'preact/hooks';
import { api } from '../../api/client.ts';
import type { Context, View } from '../../api/types.ts';
import { useLive } from '../../live/live.ts';
import { Empty, Loading, ProblemNotice } from '../../parts/notice.tsx';
import { Link, useTitle } from '../../parts/page.tsx';
import { UntrustedText } from '../../parts/text.tsx';
import { VirtualList } from '../../parts/virtual_list.tsx';
import { compare, isWhole, listed, type Shown } from '../../presentation/contexts.ts';
import { count, visible } from '../../presentation/text.ts';

const COMPARED = 1000; // tools of each list
const BESIDE = 6; // contexts side by side

const MARKS: Record<Shown, string> = { same: '●', 'other description': '◐', absent: '–', unknown: '?' };

async function load(): Promise<{ contexts: Context[]; views: View[] }> {
  const contexts = await api.contexts();
  const looked = ['', ...contexts.slice(0, BESIDE).map((one) => one.name)];
  return { contexts, views: await Promise.all(looked.map((context) => api.view({ as: null, context }, '', 0, COMPARED))) };
}

const tools = (context: string, name?: string) =>
  `/ui/tools?${new URLSearchParams({ ...(context ? { context } : {}), ...(name ? { name } : {}) })}`;

function Card({ context, view }: { context: Context; view: View | undefined }) {
  return (
    <article class="context">
      <h2><UntrustedText text={context.display_name} /></h2>
      <p><code>{context.endpoint}</code> {view && <Link href={tools(context.name)}>{count(view.total, 'tool')}</Link>}</p>
      <dl class="facts one">
        <div><dt>Shows</dt><dd>{context.include.join(', ') || 'no tools'}</dd></div>
        {listed(context) && <div><dt>Lists</dt><dd>{listed(context)}</dd></div>}
        {context.exclude.length > 0 && <div><dt>Leaves out</dt><dd>{context.exclude.join(', ')}</dd></div>}
        {context.parent && <div><dt>Inherits from</dt><dd>{context.parent}</dd></div>}
        {context.schemas.length > 0 && <div><dt>Schemas</dt><dd>{context.schemas.join(', ')}</dd></div>}
        {context.dataset && <div><dt>Dataset</dt><dd>{context.dataset}</dd></div>}
        {context.siblings.length > 0 && <div><dt>Mentions</dt><dd>{context.siblings.join(', ')}</dd></div>}
        {context.instructions && <div><dt>Instructions</dt><dd class="words"><UntrustedText text={context.instructions} /></dd></div>}
      </dl>
      {context.warnings.map((warning) => <p class="notice warn"><UntrustedText text={warning} /></p>)}
    </article>
  );
}

// Compares the tools of contexts side by side.
export function Contexts() {
  useTitle('Contexts');
  const { value, problem } = useLive(load, []);
  const rows = useMemo(() => compare(value?.views ?? []), [value]);
  if (!value) return <><header class="screen-head"><h1>Contexts</h1></header><ProblemNotice problem={problem} />{!problem && <Loading />}</>;
  const { contexts, views } = value;
  return (
    <>
      <header class="screen-head"><h1>Contexts</h1></header>
      <ProblemNotice problem={problem} />
      {contexts.length === 0 ? (
        <Empty title="No context yet"><p>A context shows a part of the catalog at its own path, with its own descriptions. Add one as <code>[contexts.NAME]</code> to the configuration.</p></Empty>
      ) : (
        <>
          <div class="cards">{contexts.map((context) => <Card key={context.name} context={context} view={views.find((view) => view.context === context.name)} />)}</div>
          <section aria-labelledby="beside">
            <h2 id="beside">Side by side</h2>
            <p class="quiet">As somebody with full access sees them. ● shown, ◐ shown with another description, – not shown.{contexts.length > BESIDE && ` The first ${BESIDE} contexts.`}</p>
            {!views.every(isWhole) && <p class="notice warn">Only the first {COMPARED.toLocaleString('en')} tools of each list are compared. ? marks a tool that may be in the rest of a list, or not at all; open it to find out.</p>}
            <div class="matrix-row table-head" aria-hidden="true"><span>Tool</span>{views.map((view) => <span>{view.context || '/mcp'}</span>)}</div>
            <VirtualList count={rows.length} rowHeight={40} label="Tools by context"
              row={(index) => {
                const row = rows[index]!;
                return (
                  <div class="matrix-row">
                    <code><UntrustedText text={row.name} /></code>
                    {row.shown.map((how, column) => {
                      const context = views[column]!.context;
                      const word = visible(`${row.name} in ${context || '/mcp'}: ${how}`);
                      return how === 'absent'
                        ? <span class="quiet" role="img" aria-label={word}>{MARKS.absent}</span>
                        : <Link href={tools(context, row.name)}><span role="img" aria-label={word}>{MARKS[how]}</span></Link>;
                    })}
                  </div>
                );
              }} />
          </section>
        </>
      )}
    </>
  );
}
