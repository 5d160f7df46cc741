// mcp-remote turns a remote server into one on standard streams, which the SDK's client then uses.
import { connectSdk } from '../../short/clients/sdk.mjs';
import { scriptOf } from './command.mjs';

export const connect = ({ url }) =>
  connectSdk((path) => import(`sdk-1.20/${path}`), { command: process.execPath, args: [scriptOf('mcp-remote'), url, '--allow-http', '--transport', 'http-only'] });
