// What the documentation shows: its pages, the fenced blocks in them, and the commands in those.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { root } from './programs.mjs';

const GENERATED_OR_FOREIGN = new Set(['node_modules', 'build', '.git']);

/** Every Markdown page below `folder`, by its path in the tree. */
function pagesBelow(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return GENERATED_OR_FOREIGN.has(entry.name) ? [] : pagesBelow(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

/** Every page that a reader is given, by its path in the tree. */
export function pages() {
  return pagesBelow('').sort();
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

/** The programs, scripts and `make` targets that the prose of a page names between backticks. */
export function commandsInProse(page) {
  const prose = textOfPage(page).replaceAll(/^```[\s\S]*?^```/gm, '');
  return [...prose.matchAll(/`((?:make|proteus|scripts\/)[^`\n]*)`/g)].map(([, command]) => command);
}

/** The source files and tests that the prose of a page names between backticks, by their last part: folders may move. */
export function namedFiles(page) {
  const prose = textOfPage(page).replaceAll(/^```[\s\S]*?^```/gm, '').replaceAll(/\[[^\]]*\]\(https?:[^)]*\)/g, '');
  return [...prose.matchAll(/`(?:[\w/-]*\/)?([\w-]+\.(?:hpp|cpp|mjs|sh))`/g)].map(([, name]) => name);
}

/** The last part of the path of every file in the tree. */
export function sourceFiles() {
  const below = (folder) =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? (GENERATED_OR_FOREIGN.has(entry.name) ? [] : below(join(folder, entry.name))) : [entry.name]
    );
  return new Set(below(''));
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
