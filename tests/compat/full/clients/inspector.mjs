import { runJson } from './command.mjs';

const inspect = (url, ...args) => runJson('@modelcontextprotocol/inspector', ['--cli', url, '--transport', 'http', ...args]);

export async function connect({ url }) {
  return {
    list: async () => (await inspect(url, '--method', 'tools/list')).tools,
    call: (name, args) => inspect(url, '--method', 'tools/call', '--tool-name', name, ...Object.entries(args).flatMap(([key, value]) => ['--tool-arg', `${key}=${value}`])),
    close: async () => {}
  };
}
