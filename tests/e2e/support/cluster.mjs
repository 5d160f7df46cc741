// Several gateways that share a PostgreSQL, and what tests ask of each.
import assert from 'node:assert/strict';

import { startGateway } from './gateway.mjs';
import { send } from './raw.mjs';

export const SECRET = 'the-admin-secret-of-this-test';
export const PEPPER = 'pepper-pepper-pepper-pepper-pepper';

/** Starts one of them, known by that name; `store` is where it finds PostgreSQL, and the rest as for `startGateway`. */
export function startMember(store, name, { env = {}, ...settings } = {}) {
  return startGateway({ cluster: { name }, ...settings, env: { PROTEUS_STORE: store, PROTEUS_PEPPER: PEPPER, PROTEUS_ADMIN_SECRET: SECRET, ...env } });
}

/** The answer of the admin API, whatever it is. */
export async function admin(gateway, method, path, body) {
  const response = await fetch(new URL(`/admin/${path}`, gateway.url), { method, headers: { 'x-admin-secret': SECRET }, body: body && JSON.stringify(body) });
  const text = await response.text();
  return { status: response.status, applied: response.headers.get('proteus-applied'), json: text ? JSON.parse(text) : undefined };
}

/** The same, where anything but success is a failure of the test. */
export async function done(gateway, method, path, body) {
  const answer = await admin(gateway, method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.json)}`);
  return answer;
}

/** One modern request: the message that answers it, and the status. */
export async function ask(gateway, method, params = {}, token = undefined) {
  const response = await send(gateway.url, method, params, { token });
  const text = await response.text();
  const data = /^data: (.*)$/m.exec(text);
  return { status: response.status, ...(text.startsWith('{') || data ? JSON.parse(data ? data[1] : text) : {}) };
}

export const toolsOf = async (gateway, token) => ((await ask(gateway, 'tools/list', {}, token)).result?.tools ?? []).map(({ name }) => name);

export const tool = (name, type = 'string') => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object', properties: { to: { type } } } });
