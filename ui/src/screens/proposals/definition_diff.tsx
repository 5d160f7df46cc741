import { LongStranger, Stranger } from '../../parts/text.tsx';
import { structure, words } from '../../shown/diff.ts';

const member = (definition: unknown, key: string): unknown =>
  typeof definition === 'object' && definition !== null ? (definition as Record<string, unknown>)[key] : undefined;
const textOf = (definition: unknown, key: string) => {
  const value = typeof definition === 'string' && key === 'description' ? definition : member(definition, key);
  return typeof value === 'string' ? value : '';
};
const without = (definition: unknown) => {
  if (typeof definition !== 'object' || definition === null) return undefined;
  const { description: _description, title: _title, ...rest } = definition as Record<string, unknown>;
  return rest;
};
const json = (value: unknown) => JSON.stringify(value, null, 2);

function Words({ heading, before, after }: { heading: string; before: string; after: string }) {
  if (before === after) return null;
  return (
    <>
      <h3>{heading}</h3>
      <p class="words">
        {words(before, after).map((word) => {
          if (word.change === 'added') return <ins><LongStranger text={word.text} /></ins>;
          if (word.change === 'removed') return <del><LongStranger text={word.text} /></del>;
          return <LongStranger text={word.text} />;
        })}
      </p>
    </>
  );
}

// Words in texts; everything else by where it stands.
export function DefinitionDiff({ before, after }: { before: unknown; after: unknown }) {
  if (before === null || before === undefined) return <pre class="definition"><LongStranger text={typeof after === 'string' ? after : json(after) ?? ''} /></pre>;
  const differences = structure(without(before), without(after));
  return (
    <div class="diff">
      <Words heading="Title" before={textOf(before, 'title')} after={textOf(after, 'title')} />
      <Words heading="Description" before={textOf(before, 'description')} after={textOf(after, 'description')} />
      {differences.length > 0 && <h3>Definition</h3>}
      <ul class="structure">
        {differences.slice(0, 200).map((one) => (
          <li key={one.path.join('/')}>
            <code class="path"><Stranger text={one.path.join(' › ')} /></code>
            {'before' in one && <del><LongStranger text={json(one.before) ?? ''} /></del>}
            {'after' in one && <ins><LongStranger text={json(one.after) ?? ''} /></ins>}
          </li>
        ))}
      </ul>
    </div>
  );
}
