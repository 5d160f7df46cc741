// One server that acts as many upstreams, one for each path, and measurements of the page in front of them.
import { createServer } from 'node:http';

import { tool } from './world.mjs';

const DISCOVERED = { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, ttlMs: 0, cacheScope: 'private' };
const digits = (number, length) => String(number).padStart(length, '0');

/** Starts the server. The result has `upstreams` for a configuration, and `stop()`. */
export async function startCrowd({ upstreams, toolsEach }) {
  const list = JSON.stringify(Array.from({ length: toolsEach }, (_, i) => tool(`t${digits(i, 3)}`, `Does thing ${i} of many.`)));
  const answers = {
    'server/discover': JSON.stringify(DISCOVERED),
    'tools/list': `{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":${list}}`,
    'tools/call': JSON.stringify({ resultType: 'complete', content: [{ type: 'text', text: 'done' }] })
  };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    const { id = null, method } = JSON.parse(body || '{}');
    const result = answers[method];
    response.setHeader('content-type', 'application/json');
    response.end(result ? `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}` : `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":{"code":-32601,"message":"no"}}`);
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', 4096, listening));
  const { port } = server.address();
  const stop = () => {
    server.closeAllConnections();
    return new Promise((closed) => server.close(closed));
  };
  return { upstreams: Array.from({ length: upstreams }, (_, i) => ({ name: `u${digits(i, 4)}`, url: `http://127.0.0.1:${port}/${i}/mcp` })), stop };
}

/** Makes the page record in `firstRow` when its first row appears. */
export const observe = (page) =>
  page.addInitScript(() => {
    const rows = new MutationObserver(() => {
      const first = document.querySelector('.virtual-row:not(:has(> span.tool-row))');
      if (!first) return;
      rows.disconnect();
      requestAnimationFrame(() => { globalThis.firstRow = Math.round(performance.now()); });
    });
    rows.observe(document, { childList: true, subtree: true });
  });

/**
 * Returns the time that `work` takes on the page's main thread, in milliseconds: `own` for all tasks, and `longest` for
 * the longest. CPU time, because the time of other programs on the machine is not the page's.
 */
export async function costOf(page, work) {
  const browser = page.context().browser();
  await browser.startTracing(page, { categories: ['toplevel', '__metadata'] });
  let trace;
  try {
    await work();
  } finally {
    trace = JSON.parse((await browser.stopTracing()).toString()).traceEvents;
  }
  const mains = new Set(trace.filter((one) => one.name === 'thread_name' && one.args.name === 'CrRendererMain').map((one) => `${one.pid} ${one.tid}`));
  const tasks = trace.filter((one) => one.ph === 'X' && one.name.endsWith('RunTask') && one.tdur !== undefined && mains.has(`${one.pid} ${one.tid}`)).map((one) => one.tdur / 1000);
  if (tasks.length === 0) throw new Error('the browser traced no task');
  return { own: Math.round(tasks.reduce((sum, one) => sum + one, 0)), longest: Math.round(Math.max(...tasks)) };
}

/**
 * Measures opening a screen with a long list, and scrolling that list from end to end. `firstRow` is the time of the
 * first row in milliseconds since navigation, by the clock.
 */
export async function measureScreen(page, url) {
  const opening = await costOf(page, async () => {
    await page.goto(url);
    await page.waitForFunction(() => globalThis.firstRow !== undefined);
  });
  const scrolling = await costOf(page, () => page.evaluate(async () => {
    const list = document.querySelector('.virtual');
    const frames = () => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    for (let step = 0; step <= 100; step += 1) {
      list.scrollTop = (step / 100) * list.scrollHeight;
      await frames();
    }
  }));
  return { firstRow: await page.evaluate(() => globalThis.firstRow), opening, scrolling, rows: await page.locator('.virtual-row').count() };
}

/** Returns the size of the page's JavaScript heap in MiB, after garbage collection. */
export async function heapMib(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  await session.send('Performance.enable');
  const { metrics } = await session.send('Performance.getMetrics');
  await session.detach();
  return metrics.find((one) => one.name === 'JSHeapUsedSize').value / 2 ** 20;
}

/** Returns how often a worker of the gateway stalled. */
export async function stalls(origin) {
  const text = await (await fetch(`${origin}/metrics`)).text();
  return [...text.matchAll(/^(proteus_\w*stall\w*)(?:\{[^}]*\})? (\S+)$/gm)].reduce((sum, [, , value]) => sum + Number(value), 0);
}
