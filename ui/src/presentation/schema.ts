// Turns a JSON Schema into a form: the kind of control for each place of the schema, and its initial value.

export type Schema = Record<string, unknown>;
export type Kind = 'text' | 'number' | 'boolean' | 'choice' | 'object' | 'list' | 'variants' | 'fixed' | 'json';

const DEEPEST = 8; // deeper values are edited as JSON
const MOST_CHOICES = 500; // more would be hard to choose from
const MOST_VARIANTS = 50;
const MOST_BEGUN = 100; // places with an initial value; a schema can refer to itself
export const MOST_PROPERTIES = 60; // properties of one object that have a control

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value);

function pointerKey(part: string): string {
  let key = part;
  try {
    key = decodeURIComponent(part);
  } catch { /* not percent-encoded */ }
  return key.replaceAll('~1', '/').replaceAll('~0', '~');
}

// Resolves references within the schema. References to other documents are never fetched and allow any value.
export function resolved(schema: Schema, root: Schema): Schema {
  let current = schema;
  for (let step = 0; step < 10 && typeof current.$ref === 'string'; step += 1) {
    if (!current.$ref.startsWith('#/')) return {};
    let found: unknown = root;
    for (const key of current.$ref.slice(2).split('/')) found = isSchema(found) ? found[pointerKey(key)] : undefined;
    if (!isSchema(found)) return {};
    const { $ref: _, ...beside } = current;
    current = { ...found, ...beside };
  }
  return current;
}

// Returns the only type of a schema. A type "null" besides it means that the value is optional.
function typeOf(schema: Schema): string | undefined {
  if (typeof schema.type === 'string') return schema.type;
  const types = Array.isArray(schema.type) ? schema.type.filter((one) => one !== 'null') : [];
  if (types.length === 1) return types[0];
  if (schema.type === undefined && isSchema(schema.properties)) return 'object';
  return undefined;
}

export function variantsOf(schema: Schema): Schema[] {
  const all = schema.oneOf ?? schema.anyOf;
  return Array.isArray(all) ? all.filter(isSchema).filter((one) => one.type !== 'null') : [];
}

export function kindOf(schema: Schema, depth = 0): Kind {
  if (schema.const !== undefined) return 'fixed';
  if (Array.isArray(schema.enum)) return schema.enum.length <= MOST_CHOICES ? 'choice' : 'json';
  const variants = variantsOf(schema);
  if (variants.length > MOST_CHOICES) return 'json';
  if (variants.length > 0 && variants.every((one) => one.const !== undefined)) return 'choice';
  if (variants.length > 0) return depth < DEEPEST && variants.length <= MOST_VARIANTS ? 'variants' : 'json';
  switch (typeOf(schema)) {
    case 'string': return 'text';
    case 'number': case 'integer': return 'number';
    case 'boolean': return 'boolean';
    case 'object': return isSchema(schema.properties) && depth < DEEPEST ? 'object' : 'json';
    case 'array': return isSchema(schema.items) && depth < DEEPEST ? 'list' : 'json';
    default: return 'json';
  }
}

export interface Choice { value: unknown; word: string }
// Returns the choices with the titles from the schema: `enumNames`, or the titles of variants.
export function choicesOf(schema: Schema): Choice[] {
  const names = Array.isArray(schema.enumNames) ? schema.enumNames : [];
  if (Array.isArray(schema.enum)) return schema.enum.map((value, index) => ({ value, word: String(names[index] ?? (typeof value === 'string' ? value : JSON.stringify(value))) }));
  return variantsOf(schema).map((one) => ({ value: one.const, word: String(one.title ?? (typeof one.const === 'string' ? one.const : JSON.stringify(one.const))) }));
}

export const propertiesOf = (schema: Schema): [string, Schema][] =>
  isSchema(schema.properties) ? Object.entries(schema.properties).map(([key, value]) => [key, isSchema(value) ? value : {}]) : [];
export const requiredOf = (schema: Schema): Set<string> => new Set(Array.isArray(schema.required) ? schema.required.map(String) : []);

// Returns the initial value of a form: defaults and constants, and empty values for what is required.
export function initial(schema: Schema, root: Schema, required: boolean, depth = 0, budget = { left: MOST_BEGUN }): unknown {
  const own = resolved(schema, root);
  if (--budget.left < 0) return undefined;
  if (own.default !== undefined) return own.default;
  if (!required) return undefined;
  switch (kindOf(own, depth)) {
    case 'fixed': return own.const;
    case 'boolean': return false;
    case 'list': return [];
    case 'variants': return initial(variantsOf(own)[0]!, root, true, depth + 1, budget);
    case 'object': {
      const needed = requiredOf(own);
      const members = propertiesOf(own).map(([key, value]) => [key, initial(value, root, needed.has(key), depth + 1, budget)] as const);
      return Object.fromEntries(members.filter(([, value]) => value !== undefined));
    }
    default: return undefined;
  }
}

const INPUTS: Record<string, 'date' | 'email' | 'time' | 'url'> = { date: 'date', email: 'email', time: 'time', uri: 'url', url: 'url' };
export const inputType = (schema: Schema) => INPUTS[String(schema.format ?? '')] ?? 'text';
export const isInteger = (schema: Schema) => typeOf(schema) === 'integer';
export const isLong = (schema: Schema) => typeof schema.maxLength === 'number' && schema.maxLength > 200;

// Returns a typed number. Other text is returned unchanged, so that the upstream reports the error.
export function numberOf(text: string): unknown {
  if (text.trim() === '') return undefined;
  const number = Number(text);
  return Number.isNaN(number) ? text : number;
}

// Returns the index of the variant that fits a value best, by its type and its members.
export function variantFor(variants: Schema[], value: unknown, root: Schema): number {
  const own = Array.isArray(value) ? 'array' : typeof value;
  const fits = variants.map((one) => {
    const schema = resolved(one, root);
    const type = typeOf(schema);
    if (type !== own && !(own === 'number' && type === 'integer')) return -1;
    if (own !== 'object' || value === null) return 1;
    const keys = Object.keys(value as object);
    const known = new Map(propertiesOf(schema));
    return keys.filter((key) => known.has(key) && (known.get(key)!.const === undefined || known.get(key)!.const === (value as Schema)[key])).length * 2 - keys.filter((key) => !known.has(key)).length;
  });
  const best = Math.max(...fits);
  return best < 0 ? 0 : fits.indexOf(best);
}
