// For `node --import`: prints the address of a program that listens on port 0 and does not print it itself.
import { subscribe } from 'node:diagnostics_channel';

subscribe('tracing:net.server.listen:asyncEnd', ({ server }) => {
  console.log(`listening on http://127.0.0.1:${server.address().port}/mcp`);
});
