// For `node --import`: a program that listens on port 0 says where, which its author did not think of.
import { subscribe } from 'node:diagnostics_channel';

subscribe('tracing:net.server.listen:asyncEnd', ({ server }) => {
  console.log(`listening on http://127.0.0.1:${server.address().port}/mcp`);
});
