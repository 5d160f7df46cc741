// measure.mjs [upstreams] [tools of each]: prints what the page of a large gateway costs, as JSON.
import { startGateway } from '../e2e/support/gateway.mjs';
import { residentKib } from '../e2e/support/programs.mjs';
import { heapMib, measureScreen, observe, stalls, startCrowd } from './support/crowd.mjs';
import { launch, SECRET, signedIn } from './support/world.mjs';

const [upstreams = 1000, toolsEach = 100] = process.argv.slice(2).map(Number);
const crowd = await startCrowd({ upstreams, toolsEach });
const began = performance.now();
const gateway = await startGateway({ upstreams: crowd.upstreams, env: { PROTEUS_ADMIN_SECRET: SECRET } });
const started = Math.round(performance.now() - began);
const browser = await launch();
try {
  const { origin } = new URL(gateway.url);
  const page = await signedIn(browser, origin);
  await observe(page);
  const figures = { upstreams, toolsInAll: upstreams * toolsEach, started };
  for (const [name, path] of [['overview', '/ui'], ['tools', '/ui/tools']]) {
    figures[name] = { ...(await measureScreen(page, origin + path)), heapMib: Number((await heapMib(page)).toFixed(1)) };
  }
  figures.gatewayMib = Math.round(residentKib(gateway.pid) / 1024);
  figures.stalls = await stalls(origin);
  console.log(JSON.stringify(figures, null, 2));
} finally {
  await browser.close();
  await gateway.stop();
  await crowd.stop();
}
