// Reads the documentation: its pages, their fenced blocks, and the commands in the blocks.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { root } from './programs.mjs';

const GENERATED_OR_FOREIGN = new Set(['node_modules', 'build', '.git']);

/** Returns the paths of all Markdown pages below `folder`, relative to the root. */
function pagesBelow(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return GENERATED_OR_FOREIGN.has(entry.name) ? [] : pagesBelow(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

/** Returns the paths of all Markdown pages, relative to the root. */
export function pages() {
  return pagesBelow('').sort();
}

export function textOfPage(page) {
  return readFileSync(join(root, page), 'utf8');
}

/** Returns the fenced blocks of a page: `language` (may be empty), `text`, and `at` with page and line for messages. */
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

/** Whether the command continues on the next line: a quote is open, or the line ends with a backslash. */
function isOpen(command) {
  const rest = command.replaceAll(/\\[^\n]/g, '').replaceAll(/'[^']*'|"[^"]*"/g, '');
  return /['"]/.test(rest) || command.endsWith('\\');
}

/** Returns the commands of a block without the explanations to their right. A command may have several lines. */
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

/** Returns the program that a command runs. */
export function programOf(command) {
  return command.replace(/^(\w+=\S* )*/, '').split(/\s/)[0].replace(/^build\/release\/bin\//, '');
}

/** Returns the commands in backticks in the prose of a page: those of `make`, `proteus` and scripts. */
export function commandsInProse(page) {
  const prose = textOfPage(page).replaceAll(/^```[\s\S]*?^```/gm, '');
  return [...prose.matchAll(/`((?:make|proteus|scripts\/)[^`\n]*)`/g)].map(([, command]) => command);
}

/** Returns the base names of the source files in backticks in the prose of a page. Folders may move. */
export function namedFiles(page) {
  const prose = textOfPage(page).replaceAll(/^```[\s\S]*?^```/gm, '').replaceAll(/\[[^\]]*\]\(https?:[^)]*\)/g, '');
  return [...prose.matchAll(/`(?:[\w/-]*\/)?([\w-]+\.(?:hpp|cpp|mjs|sh))`/g)].map(([, name]) => name);
}

/** Returns the base names of all files in the tree. */
export function sourceFiles() {
  const below = (folder) =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? (GENERATED_OR_FOREIGN.has(entry.name) ? [] : below(join(folder, entry.name))) : [entry.name]
    );
  return new Set(below(''));
}

/** Returns the relative links of a page. */
export function links(page) {
  const prose = textOfPage(page).replaceAll(/^```[\s\S]*?^```/gm, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link).filter((link) => !/^https?:/.test(link));
}

/** Returns the anchors of the headings of a page. */
export function anchors(page) {
  const prose = textOfPage(page).replaceAll(/^```[\s\S]*?^```/gm, '');
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading.toLowerCase().replaceAll(/[^\p{L}\p{N} _-]/gu, '').trim().replaceAll(' ', '-')
  );
}
