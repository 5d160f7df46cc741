// UIX-01: the page is small, and comes from this gateway alone.
import assert from 'node:assert/strict';
import { get } from 'node:http';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';

import { startGateway } from '../e2e/support/gateway.mjs';
import { stopAfter } from '../e2e/support/programs_of_suite.mjs';

const KIB = 1024;

/** Returns the status and the body as it was sent. */
const raw = (url) =>
  new Promise((done, fail) => {
    get(url, (response) => {
      const pieces = [];
      response.on('data', (piece) => pieces.push(piece));
      response.on('end', () => done({ status: response.statusCode, body: Buffer.concat(pieces) }));
    }).on('error', fail);
  });

test('UIX-01 all files are under 250 KB, and the first screen under 60 KB compressed', async (context) => {
  const own = stopAfter(context);
  const gateway = own(await startGateway({}));
  const { origin } = new URL(gateway.url);
  const sizes = new Map();
  const open = async (path) => {
    const { status, body } = await raw(origin + path);
    assert.equal(status, 200, path);
    const content = gunzipSync(body);
    sizes.set(path, { sent: body.length, whole: content.length });
    return content.toString();
  };
  const document = await open('/ui');
  const named = [...document.matchAll(/\/ui\/assets\/[\w.-]+/g)].map(([path]) => path);
  assert.ok(named.length >= 3);
  const scripts = [];
  for (const path of new Set(named)) scripts.push(await open(path));
  const first = [...sizes.values()].reduce((sum, one) => sum + one.sent, 0);
  assert.ok(first < 60 * KIB, `${first} bytes for the first screen`);
  const later = new Set(scripts.flatMap((text) => [...text.matchAll(/"\.\/([\w-]+\.js)"/g)].map(([, name]) => `/ui/assets/${name}`)));
  assert.ok(later.size > 0, 'charts are loaded when they are needed');
  for (const path of later) if (!sizes.has(path)) await open(path);
  const all = [...sizes.values()].reduce((sum, one) => sum + one.whole, 0);
  assert.ok(all < 250 * KIB, `${all} bytes in all`);
  assert.doesNotMatch(document, /https?:\/\//);
});
