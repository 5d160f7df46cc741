import { connectSdk } from './sdk.mjs';

export const connect = (target) => connectSdk((path) => import(`@modelcontextprotocol/sdk/${path}`), target);
