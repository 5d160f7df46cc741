// A light load: `node load.mjs URL UPSTREAMS SECONDS`. Sends some 200 calls per second, spread over the upstreams. Runs
// in a separate process, so that nothing else delays its measurements. Prints JSON: the times of the calls in ms, and
// the failures.
import { Agent } from 'node:http';

import { ask } from '../e2e/support/raw.mjs';

const [url, upstreams, seconds] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const REST_MS = (upstreams * 1000) / 200;
const agent = new Agent({ keepAlive: true, maxSockets: upstreams });
const times = [];
const failures = [];
const end = performance.now() + seconds * 1000;

async function lane(index) {
  await new Promise((rest) => setTimeout(rest, (REST_MS * index) / upstreams));
  while (performance.now() < end) {
    const began = performance.now();
    try {
      const answer = await ask(agent, url, 'tools/call', { name: `h${index}_test_simple_text`, arguments: {} });
      if (answer.error || answer.result?.isError) failures.push(JSON.stringify(answer).slice(0, 200));
    } catch (error) {
      failures.push(String(error));
    }
    times.push(performance.now() - began);
    await new Promise((rest) => setTimeout(rest, REST_MS));
  }
}

await Promise.all(Array.from({ length: upstreams }, (_, index) => lane(index)));
agent.destroy();
console.log(JSON.stringify({ times, failures }));
