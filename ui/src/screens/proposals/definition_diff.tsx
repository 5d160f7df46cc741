import { LongUntrustedText, UntrustedText } from '../../parts/text.tsx';
import { structure, words } from '../../presentation/diff.ts';

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
          if (word.change === 'added') return <ins><LongUntrustedText text={word.text} /></ins>;
          if (word.change === 'removed') return <del><LongUntrustedText text={word.text} /></del>;
          return <LongUntrustedText text={word.text} />;
        })}
      </p>
    </>
  );
}

// Shows the differences of two definitions: texts by words, everything else by path.
export function DefinitionDiff({ before, after }: { before: unknown; after: unknown }) {
  if (before === null || before === undefined) return <pre class="definition"><LongUntrustedText text={typeof after === 'string' ? after : json(after) ?? ''} /></pre>;
  const differences = structure(without(before), without(after));
  return (
    <div class="diff">
      <Words heading="Title" before={textOf(before, 'title')} after={textOf(after, 'title')} />
      <Words heading="Description" before={textOf(before, 'description')} after={textOf(after, 'description')} />
      {differences.length > 0 && <h3>Definition</h3>}
      <ul class="structure">
        {differences.slice(0, 200).map((one) => (
          <li key={one.path.join('/')}>
            <code class="path"><UntrustedText text={one.path.join(' › ')} /></code>
            {'before' in one && <del><LongUntrustedText text={json(one.before) ?? ''} /></del>}
            {'after' in one && <ins><LongUntrustedText text={json(one.after) ?? ''} /></ins>}
          </li>
        ))}
      </ul>
    </div>
  );
}
