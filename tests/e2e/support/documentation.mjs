// What the documentation shows: its pages and the fenced blocks in them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { root } from './programs.mjs';

/** Every page that a reader is given, by its path in the tree. */
export function pages() {
  const docs = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
  return ['README.md', 'deploy/README.md', ...docs.map((name) => `docs/${name}`)];
}

/** The fenced blocks of a page: `language` (may be empty), `text`, and `at`, page and line, for messages. */
export function blocks(page) {
  const found = [];
  let open;
  for (const [index, line] of readFileSync(join(root, page), 'utf8').split('\n').entries()) {
    const fence = /^```(\S*)/.exec(line);
    if (!fence) {
      open?.lines.push(line);
    } else if (open) {
      found.push({ language: open.language, text: `${open.lines.join('\n')}\n`, at: open.at });
      open = undefined;
    } else {
      open = { language: fence[1], lines: [], at: `${page}:${index + 1}` };
    }
  }
  if (open) throw new Error(`${open.at}: the block does not end`);
  return found;
}
