import { connectV2 } from './sdk_v2.mjs';

export const connect = (target) => connectV2(target, { pin: '2026-07-28' });
