// A server made with FastMCP whose tool logs.
import { FastMCP } from 'fastmcp';

const server = new FastMCP({ name: 'logger', version: '1.0.0' });
server.addTool({
  name: 'log_twice',
  description: 'Logs twice',
  execute: async (_, { log }) => {
    log.info('first');
    log.warn('second');
    return 'done';
  }
});
await server.start({ transportType: 'stdio' });
