// build.mjs <file.cpp>: bundles and compresses the page, and writes it as C++ source. cmake/Embed.cmake runs it.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const LARGEST = 250 * 1024; // limit of all files
const LARGEST_SENT = 60 * 1024; // limit of what the first screen needs, compressed

const bundled = await build({
  absWorkingDir: here,
  entryPoints: ['src/main.tsx', 'src/style/page.css'],
  outdir: 'assets',
  entryNames: '[name]-[hash]',
  bundle: true,
  minify: true,
  write: false,
  format: 'esm',
  splitting: true, // loads code on demand that the first screen does not need
  chunkNames: '[name]-[hash]',
  metafile: true,
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  logLevel: 'warning'
});

const TYPES = { '.js': 'text/javascript', '.css': 'text/css', '.html': 'text/html; charset=utf-8', '.svg': 'image/svg+xml' };
const files = bundled.outputFiles.map((file) => ({
  path: `/ui/assets/${basename(file.path)}`,
  type: TYPES[file.path.slice(file.path.lastIndexOf('.'))],
  content: Buffer.from(file.contents)
}));
const icon = readFileSync(join(here, 'src/icon.svg'));
const iconHash = createHash('sha256').update(icon).digest('hex').slice(0, 8);
files.push({ path: `/ui/assets/icon-${iconHash}.svg`, type: TYPES['.svg'], content: icon });

const at = (pattern) => files.find((file) => pattern.test(file.path)).path;
const html = readFileSync(join(here, 'src/index.html'), 'utf8')
  .replace('{script}', at(/\/main-[^/]*\.js$/))
  .replace('{style}', at(/\.css$/))
  .replace('{icon}', at(/\.svg$/));
files.push({ path: '/ui', type: TYPES['.html'], content: Buffer.from(html) });

for (const file of files) {
  file.gzip = gzipSync(file.content, { level: 9 });
  file.tag = createHash('sha256').update(file.content).digest('hex').slice(0, 16);
}
const total = files.reduce((sum, file) => sum + file.content.length, 0);
// Only files that are imported exclusively by dynamic imports are loaded later.
const imports = Object.values(bundled.metafile.outputs).flatMap((output) => output.imports);
const later = new Set(imports.filter((one) => one.kind === 'dynamic-import').map((one) => basename(one.path)));
for (const one of imports) if (one.kind === 'import-statement') later.delete(basename(one.path));
const sent = files.filter((file) => !later.has(basename(file.path))).reduce((sum, file) => sum + file.gzip.length, 0);
if (total > LARGEST || sent > LARGEST_SENT) {
  console.error(`the page is too large: ${total} bytes of at most ${LARGEST}, ${sent} compressed of at most ${LARGEST_SENT}`);
  process.exit(1);
}

const literal = (bytes) => {
  const lines = [];
  for (let i = 0; i < bytes.length; i += 40) {
    lines.push(`"${[...bytes.subarray(i, i + 40)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')}"`);
  }
  return lines.join('\n        ');
};
const entries = files.map(
  (file) => `    {"${file.path}", "${file.type}", "\\"${file.tag}\\"",\n     std::string_view(\n        ${literal(file.gzip)},\n        ${file.gzip.length})},`
);
writeFileSync(
  process.argv[2],
  `#include <array>

#include "admin/http/page_files.hpp"

namespace proteus::admin {

std::span<const PageFile> page_files() {
  static constexpr std::array<PageFile, ${files.length}> kFiles{{
${entries.join('\n')}
  }};
  return kFiles;
}

}  // namespace proteus::admin
`
);
console.log(`the page: ${total} bytes; ${sent} compressed for the first screen`);
