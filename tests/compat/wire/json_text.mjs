// Finds the original text of parts of a JSON document: JSON.parse loses details that a comparison must detect.

/** Returns the index after the string that begins at `at`. */
function behindString(text, at) {
  for (++at; text[at] !== '"'; ++at) if (text[at] === '\\') ++at;
  return at + 1;
}

/** Returns the index after the value that begins at `at`. */
function behindValue(text, at) {
  if (text[at] === '"') return behindString(text, at);
  if (text[at] !== '{' && text[at] !== '[') return at + /^[^,\]}\s]*/.exec(text.slice(at))[0].length;
  for (let depth = 0; ; ) {
    if (text[at] === '"') {
      at = behindString(text, at);
      continue;
    }
    if (text[at] === '{' || text[at] === '[') ++depth;
    if ((text[at] === '}' || text[at] === ']') && --depth === 0) return at + 1;
    ++at;
  }
}

const behindSpace = (text, at) => at + /^\s*/.exec(text.slice(at, at + 4096))[0].length;

/** Returns the members of an object as a map from key to the text of the value, in the original order. */
export function members(text) {
  const found = new Map();
  let at = behindSpace(text, text.indexOf('{') + 1);
  while (text[at] !== '}') {
    const end = behindString(text, at);
    const key = JSON.parse(text.slice(at, end));
    at = behindSpace(text, behindSpace(text, end) + 1);
    const stop = behindValue(text, at);
    found.set(key, text.slice(at, stop));
    at = behindSpace(text, stop);
    if (text[at] === ',') at = behindSpace(text, at + 1);
  }
  return found;
}

/** Returns the texts of the elements of an array. */
export function elements(text) {
  const found = [];
  let at = behindSpace(text, text.indexOf('[') + 1);
  while (text[at] !== ']') {
    const stop = behindValue(text, at);
    found.push(text.slice(at, stop));
    at = behindSpace(text, stop);
    if (text[at] === ',') at = behindSpace(text, at + 1);
  }
  return found;
}
