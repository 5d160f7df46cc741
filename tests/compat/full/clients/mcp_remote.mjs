// mcp-remote makes a remote server one on standard streams: the client behind it is the SDK's.
import { connectSdk } from '../../short/clients/sdk.mjs';
import { scriptOf } from './command.mjs';

export const connect = ({ url }) =>
  connectSdk((path) => import(`sdk-1.20/${path}`), { command: process.execPath, args: [scriptOf('mcp-remote'), url, '--allow-http', '--transport', 'http-only'] });
