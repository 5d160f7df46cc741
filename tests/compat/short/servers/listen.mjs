// Listens on the port of the environment or a free port, and prints the URL.
import { createServer } from 'node:http';

export function listen(handler, path = '/mcp') {
  const server = createServer(handler);
  server.keepAliveTimeout = 0;
  server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => {
    console.log(`listening on http://127.0.0.1:${server.address().port}${path}`);
  });
}
