import { connectSdk } from '../../short/clients/sdk.mjs';

export const connect = (target) => connectSdk((path) => import(`sdk-1.15/${path}`), target);
