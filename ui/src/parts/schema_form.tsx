import { useState } from 'preact/hooks';
import { choicesOf, initial, inputType, isInteger, isLong, kindOf, MOST_PROPERTIES, numberOf, propertiesOf, requiredOf, resolved, variantFor, variantsOf, type Schema } from '../presentation/schema.ts';
import { visible } from '../presentation/text.ts';
import { UntrustedText } from './text.tsx';

const SHOWN_DEPTH = 2;

interface Properties { schema: Schema; root: Schema; label: string; value: unknown; required: boolean; depth?: number; onChange: (value: unknown) => void }

const About = ({ schema }: { schema: Schema }) => (typeof schema.description === 'string' ? <span class="hint"><UntrustedText text={schema.description} /></span> : null);

function Name({ label, required, schema }: { label: string; required: boolean; schema: Schema }) {
  return <span><UntrustedText text={typeof schema.title === 'string' ? schema.title : label} />{required && <span class="needed" title="required"> *</span>}</span>;
}

// Keeps its text, because JSON is invalid most of the time while it is typed.
function JsonField({ schema, label, value, required, onChange }: Properties) {
  const [text, setText] = useState(value === undefined ? '' : JSON.stringify(value));
  const [wrong, setWrong] = useState(false);
  const type = (typed: string) => {
    setText(typed);
    try {
      onChange(typed.trim() === '' ? undefined : JSON.parse(typed));
      setWrong(false);
    } catch {
      setWrong(true);
    }
  };
  return (
    <label><Name label={label} required={required} schema={schema} /><About schema={schema} />
      <textarea rows={3} spellcheck={false} value={text} placeholder="JSON" aria-invalid={wrong} onInput={(event) => type(event.currentTarget.value)} />
    </label>
  );
}

function List(properties: Properties) {
  const { schema, root, label, value, required, depth = 0, onChange } = properties;
  const items = Array.isArray(value) ? value : [];
  const item = schema.items as Schema;
  return (
    <fieldset class="nested"><legend><Name label={label} required={required} schema={schema} /></legend><About schema={schema} />
      {items.map((one, index) => (
        <div class="list-item" key={index}>
          <Field schema={item} root={root} label={`${index + 1}`} value={one} required depth={depth + 1} onChange={(next) => onChange(items.map((old, at) => (at === index ? next : old)))} />
          <button type="button" aria-label={`Remove ${index + 1} of ${visible(label)}`} onClick={() => onChange(items.filter((_, at) => at !== index))}>✕</button>
        </div>
      ))}
      <button type="button" onClick={() => onChange([...items, initial(item, root, true, depth + 1) ?? ''])}>Add to <UntrustedText text={label} /></button>
    </fieldset>
  );
}

const NONE = -1; // no variant is chosen, because the value is optional

function Variants({ schema, root, label, value, required, depth = 0, onChange }: Properties) {
  const variants = variantsOf(schema);
  const [chosen, setChosen] = useState(() => (value === undefined && !required ? NONE : variantFor(variants, value, root)));
  const choose = (next: number) => {
    setChosen(next);
    onChange(next === NONE ? undefined : initial(variants[next]!, root, true, depth + 1));
  };
  const word = (one: Schema, index: number) => String(resolved(one, root).title ?? resolved(one, root).type ?? `Form ${index + 1}`);
  return (
    <fieldset class="nested"><legend><Name label={label} required={required} schema={schema} /></legend><About schema={schema} />
      <label>One of
        <select value={chosen} onChange={(event) => choose(Number(event.currentTarget.value))}>{!required && <option value={NONE}>None</option>}{variants.map((one, index) => <option value={index}>{visible(word(one, index).slice(0, 200))}</option>)}</select>
      </label>
      {chosen !== NONE && <Field key={chosen} schema={variants[chosen] ?? {}} root={root} label={label} value={value} required depth={depth + 1} onChange={onChange} />}
    </fieldset>
  );
}

// The control for one place of a schema. An undefined value is left out of the arguments.
export function Field(properties: Properties) {
  const { root, label, value, required, depth = 0, onChange } = properties;
  const schema = resolved(properties.schema, root);
  const name = <><Name label={label} required={required} schema={schema} /><About schema={schema} /></>;
  switch (kindOf(schema, depth)) {
    case 'fixed': return <label>{name}<output><UntrustedText text={JSON.stringify(schema.const)} /></output></label>;
    case 'boolean':
      return <label class="check"><input type="checkbox" checked={value === true} onChange={(event) => onChange(event.currentTarget.checked)} />{name}</label>;
    case 'choice': {
      const choices = choicesOf(schema);
      const at = choices.findIndex((one) => JSON.stringify(one.value) === JSON.stringify(value));
      return (
        <label>{name}
          <select required={required} value={at < 0 ? '' : at} onChange={(event) => onChange(event.currentTarget.value === '' ? undefined : choices[Number(event.currentTarget.value)]!.value)}>
            <option value="">{required ? 'Choose' : 'None'}</option>
            {choices.map((one, index) => <option value={index}>{visible(one.word.slice(0, 200))}</option>)}
          </select>
        </label>
      );
    }
    case 'number':
      return (
        <label>{name}
          <input type="number" required={required} step={isInteger(schema) ? 1 : 'any'} min={schema.minimum as number} max={schema.maximum as number}
            value={value === undefined ? '' : String(value)} onInput={(event) => onChange(numberOf(event.currentTarget.value))} />
        </label>
      );
    case 'text': {
      const text = typeof value === 'string' ? value : '';
      const type = (next: string) => onChange(next === '' && !required ? undefined : next);
      return (
        <label>{name}
          {isLong(schema) ? <textarea rows={4} required={required} value={text} onInput={(event) => type(event.currentTarget.value)} />
            : <input {...{ type: inputType(schema) as "text" }} required={required} value={text} placeholder={typeof schema.format === 'string' ? schema.format : undefined} onInput={(event) => type(event.currentTarget.value)} />}
        </label>
      );
    }
    case 'object': {
      const members = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
      // Deep objects are shown on demand, because a schema that refers to itself has no end.
      if (depth > SHOWN_DEPTH && value === undefined) return <p><button type="button" onClick={() => onChange(initial(schema, root, true, depth) ?? {})}>Fill in <UntrustedText text={label} /></button></p>;
      return <fieldset class="nested"><legend><Name label={label} required={required} schema={schema} /></legend><About schema={schema} />
        {/* The required properties of an optional object are required once the object has a value. */}
        <Members {...properties} schema={schema} value={members} required={required || value !== undefined} onChange={(next) => onChange(!required && Object.keys(next as object).length === 0 ? undefined : next)} /></fieldset>;
    }
    case 'list': return <List {...properties} schema={schema} />;
    case 'variants': return <Variants {...properties} schema={schema} />;
    default: return <JsonField {...properties} schema={schema} />;
  }
}

// The controls of an object's properties.
export function Members({ schema, root, value, required, depth = 0, onChange }: Properties) {
  const members = (value ?? {}) as Record<string, unknown>;
  const needed = requiredOf(schema);
  const properties = propertiesOf(schema);
  const set = (key: string, next: unknown) => {
    const { [key]: _, ...others } = members;
    onChange(next === undefined ? others : { ...others, [key]: next });
  };
  return (
    <>
      {properties.slice(0, MOST_PROPERTIES).map(([key, member]) => (
        <Field key={key} schema={member} root={root} label={key} value={members[key]} required={required && needed.has(key)} depth={depth + 1} onChange={(next) => set(key, next)} />
      ))}
      {properties.length > MOST_PROPERTIES && <p class="quiet">{(properties.length - MOST_PROPERTIES).toLocaleString('en')} more can be given as JSON.</p>}
    </>
  );
}
