// What the documentation shows: its pages, the fenced blocks in them, and the commands in those.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { root } from './programs.mjs';

/** Every page that a reader is given, by its path in the tree. */
export function pages() {
  const docs = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
  return ['README.md', 'deploy/README.md', ...docs.map((name) => `docs/${name}`)];
}

export function textOfPage(page) {
  return readFileSync(join(root, page), 'utf8');
}

/** The fenced blocks of a page: `language` (may be empty), `text`, and `at`, page and line, for messages. */
export function blocks(page) {
  const found = [];
  let open;
  for (const [index, line] of textOfPage(page).split('\n').entries()) {
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

/** Whether a shell would want more lines: a quote is open, or the line is continued. */
function isOpen(command) {
  const rest = command.replaceAll(/\\[^\n]/g, '').replaceAll(/'[^']*'|"[^"]*"/g, '');
  return /['"]/.test(rest) || command.endsWith('\\');
}

/** The commands of a block, each as a shell takes it; what stands to the right of one to explain it is left out. */
export function commands(text) {
  const all = [];
  let command = '';
  for (const line of text.split('\n')) {
    if (command === '' && /^\s*(#|$)/.test(line)) continue;
    command += command === '' ? line : `\n${line}`;
    if (isOpen(command)) continue;
    all.push(command.includes('\n') ? command : command.replace(/ {3,}[^'"]*$/, ''));
    command = '';
  }
  if (command !== '') throw new Error(`a command does not end: ${command}`);
  return all;
}

/** The program that a command begins with. */
export function programOf(command) {
  return command.replace(/^(\w+=\S* )*/, '').split(/\s/)[0].replace(/^build\/release\/bin\//, '');
}

/** The relative links of a page. */
export function links(page) {
  const prose = textOfPage(page).replaceAll(/^```[\s\S]*?^```/gm, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link).filter((link) => !/^https?:/.test(link));
}

/** The anchors that the headings of a page make. */
export function anchors(page) {
  const prose = textOfPage(page).replaceAll(/^```[\s\S]*?^```/gm, '');
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading.toLowerCase().replaceAll(/[^\p{L}\p{N} _-]/gu, '').trim().replaceAll(' ', '-')
  );
}
