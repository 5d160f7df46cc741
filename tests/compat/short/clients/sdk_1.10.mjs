import { connectSdk } from './sdk.mjs';

export const connect = (target) => connectSdk((path) => import(`sdk-1.10/${path}`), target);
