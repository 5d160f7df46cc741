// The checks of the matrix, in the order of its columns. Checks that change the server come last.
import { CONVERSATIONS } from './conversations.mjs';
import { OTHER_ERA, OTHER_ERA_ASKING, RESTART } from './gateway_only.mjs';
import { LISTS } from './lists.mjs';
import { REQUESTS } from './requests.mjs';

export const CHECKS = [...LISTS, ...REQUESTS, OTHER_ERA, OTHER_ERA_ASKING, ...CONVERSATIONS, RESTART];
