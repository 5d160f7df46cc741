// Readable differences: of words in texts, and of values in structures.

export interface Word { text: string; change: 'same' | 'added' | 'removed' }

const MOST = 2000; // words of each side; longer parts are shown as a whole

// Returns the difference of two texts by words. Takes time and memory proportional to the product of the numbers of
// words between the common beginning and the common end.
export function words(before: string, after: string): Word[] {
  const a = before.match(/\s+|[^\s]+/g) ?? [];
  const b = after.match(/\s+|[^\s]+/g) ?? [];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const left = a.slice(start, a.length - end);
  const right = b.slice(start, b.length - end);
  const out: Word[] = [];
  const push = (text: string | undefined, change: Word['change']) => {
    if (!text) return;
    const last = out.at(-1);
    if (last?.change === change) last.text += text;
    else out.push({ text, change });
  };
  push(a.slice(0, start).join(''), 'same');
  if (left.length > MOST || right.length > MOST) {
    push(left.join(''), 'removed');
    push(right.join(''), 'added');
  } else {
    middle(left, right, push);
  }
  push(a.slice(a.length - end).join(''), 'same');
  return out;
}

function middle(a: string[], b: string[], push: (text: string | undefined, change: Word['change']) => void) {
  const width = b.length + 1;
  const longest = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      longest[i * width + j] = a[i] === b[j]
        ? longest[(i + 1) * width + j + 1]! + 1
        : Math.max(longest[(i + 1) * width + j]!, longest[i * width + j + 1]!);
    }
  }
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      push(a[i], 'same');
      i += 1;
      j += 1;
    } else if (longest[(i + 1) * width + j]! >= longest[i * width + j + 1]!) {
      push(a[i], 'removed');
      i += 1;
    } else {
      push(b[j], 'added');
      j += 1;
    }
  }
  for (; i < a.length; i += 1) push(a[i], 'removed');
  for (; j < b.length; j += 1) push(b[j], 'added');
}

export interface Difference { path: string[]; before?: unknown; after?: unknown }

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

// Returns the values that differ, with their paths. Objects are compared by member, lists as a whole.
export function structure(before: unknown, after: unknown, path: string[] = [], out: Difference[] = []): Difference[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return out;
  if (isObject(before) && isObject(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      structure(before[key], after[key], [...path, key], out);
    }
    return out;
  }
  out.push({ path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) });
  return out;
}
