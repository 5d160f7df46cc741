// Checks values against the types that `GET /admin` returns, which are written in a subset of TypeScript.

const TOKEN = /\s*('[^']*'|[A-Za-z_]\w*|\[\]|[{}[\]<>:;?|,])/gy;

function tokens(text) {
  TOKEN.lastIndex = 0;
  const out = [];
  for (let match = TOKEN.exec(text); match; match = TOKEN.exec(text)) out.push(match[1]);
  if (out.join('') !== text.replaceAll(/\s+(?=(?:[^']*'[^']*')*[^']*$)/g, '')) throw new Error(`cannot read ${text}`);
  return out;
}

/** Returns a function of a value and its place that returns a description of the fault, or nothing. */
function parse(text, types) {
  const all = tokens(text);
  let at = 0;
  const take = (expected) => {
    if (expected !== undefined && all[at] !== expected) throw new Error(`${expected} is missing in ${text}, before ${all[at]}`);
    return all[at++];
  };
  const plain = (kind) => (value, place) => (typeof value === kind ? undefined : `${place} is ${JSON.stringify(value)?.slice(0, 60)}, and no ${kind}`);
  const single = () => {
    const token = take();
    if (token === '{') return members();
    if (token.startsWith("'")) return (value, place) => (value === token.slice(1, -1) ? undefined : `${place} is ${JSON.stringify(value)}, and not ${token}`);
    if (token === 'Record') {
      take('<');
      take('string');
      take(',');
      const each = either();
      take('>');
      return (value, place) => (typeof value !== 'object' || value === null ? `${place} is no object` : first(Object.entries(value), ([key, member]) => each(member, `${place}.${key}`)));
    }
    if (token === 'unknown') return () => undefined;
    if (token === 'null') return (value, place) => (value === null ? undefined : `${place} is not null`);
    if (['string', 'number', 'boolean'].includes(token)) return plain(token);
    if (!(token in types)) throw new Error(`there is no type ${token}`);
    return (value, place) => typed(types, token)(value, place);
  };
  const listed = () => {
    let inner = single();
    while (all[at] === '[]') {
      take();
      const each = inner;
      inner = (value, place) => (Array.isArray(value) ? first(value.entries(), ([index, member]) => each(member, `${place}[${index}]`)) : `${place} is no list`);
    }
    return inner;
  };
  const either = () => {
    const ways = [listed()];
    while (all[at] === '|') {
      take();
      ways.push(listed());
    }
    return (value, place) => {
      const faults = ways.map((way) => way(value, place));
      return faults.includes(undefined) ? undefined : faults[0];
    };
  };
  const members = () => {
    const known = [];
    while (all[at] !== '}') {
      if (all[at] === '[') {
        while (take() !== ']');
        take(':');
        either();
      } else {
        const name = take();
        const optional = all[at] === '?' && Boolean(take());
        take(':');
        known.push([name, optional, either()]);
      }
      if (all[at] === ';') take();
    }
    take('}');
    return (value, place) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return `${place} is no object`;
      return first(known, ([name, optional, check]) => {
        if (value[name] === undefined) return optional ? undefined : `${place}.${name} is missing`;
        return check(value[name], `${place}.${name}`);
      });
    };
  };
  const check = either();
  if (at !== all.length) throw new Error(`there is more in ${text}: ${all[at]}`);
  return check;
}

function first(all, check) {
  for (const one of all) {
    const fault = check(one);
    if (fault) return fault;
  }
  return undefined;
}

const made = new Map();
function typed(types, name) {
  if (!made.has(name)) made.set(name, parse(types[name], types));
  return made.get(name);
}

/** Returns what is wrong with a value that should have this type, or nothing. */
export const faultOf = (types, text, value, place) => parse(text, types)(value, place);
