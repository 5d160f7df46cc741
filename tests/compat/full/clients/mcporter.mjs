import { runJson } from './command.mjs';

export async function connect({ url }) {
  const port = (...args) => runJson('mcporter', args);
  return {
    list: async () => (await port('list', '--http-url', url, '--allow-http', '--schema', '--json')).tools,
    call: (name, args) => port('call', '--http-url', url, '--allow-http', '--tool', name, '--args', JSON.stringify(args), '--output', 'json'),
    close: async () => {}
  };
}
