import { connectSdk } from './sdk.mjs';

export const connect = (target) => connectSdk((path) => import(`sdk-1.0/${path}`), target);
