// Every server of the matrix, in the order of its rows.
import { HOUSES } from './houses.mjs';
import { OFFICIAL } from './official.mjs';
import { OTHERS } from './others.mjs';
import { OVER_HTTP } from './over_http.mjs';

export const SERVERS = [...OFFICIAL, ...OTHERS, ...OVER_HTTP, ...HOUSES];
