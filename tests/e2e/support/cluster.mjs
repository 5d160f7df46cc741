// Several gateways that share a PostgreSQL server, and requests that tests send to them.
import assert from 'node:assert/strict';

import { startGateway } from './gateway.mjs';
import { eventually } from './programs.mjs';
import { send } from './raw.mjs';

export const SECRET = 'the-admin-secret-of-this-test';
export const PEPPER = 'pepper-pepper-pepper-pepper-pepper';

/** Starts the process `name`; `store` is the DSN of PostgreSQL. The other settings are those of `startGateway`. */
export function startMember(store, name, { env = {}, ...settings } = {}) {
  return startGateway({ cluster: { name }, ...settings, env: { PROTEUS_STORE: store, PROTEUS_PEPPER: PEPPER, PROTEUS_ADMIN_SECRET: SECRET, ...env } });
}

/** Sends a request to the admin API and returns the answer, whatever its status is. */
export async function admin(gateway, method, path, body) {
  const response = await fetch(new URL(`/admin/${path}`, gateway.url), { method, headers: { 'x-admin-secret': SECRET }, body: body && JSON.stringify(body) });
  const text = await response.text();
  return { status: response.status, applied: response.headers.get('proteus-applied'), json: text ? JSON.parse(text) : undefined };
}

/** Like `admin`, but any status except success fails the test. */
export async function done(gateway, method, path, body) {
  const answer = await admin(gateway, method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.json)}`);
  return answer;
}

/**
 * Like `done`, for a change; then waits until every live process has applied it. A process that lacks CPU time may need
 * longer than the answer waits, and then the answer says so.
 */
export async function doneEverywhere(gateway, method, path, body) {
  const answer = await done(gateway, method, path, body);
  const [applied, live] = answer.applied.split('/').map(Number);
  assert.ok(applied >= 1 && applied <= live, answer.applied);
  const isApplied = ({ live: isLive, behind }) => !isLive || behind === 0;
  if (applied < live) await eventually('applied everywhere', async () => (await done(gateway, 'GET', 'processes')).json.processes.every(isApplied));
  return answer;
}

/** Sends a modern request and returns the message that answers it, with the HTTP status. */
export async function ask(gateway, method, params = {}, token = undefined) {
  const response = await send(gateway.url, method, params, { token });
  const text = await response.text();
  const data = /^data: (.*)$/m.exec(text);
  return { status: response.status, ...(text.startsWith('{') || data ? JSON.parse(data ? data[1] : text) : {}) };
}

export const toolsOf = async (gateway, token) => ((await ask(gateway, 'tools/list', {}, token)).result?.tools ?? []).map(({ name }) => name);

export const tool = (name, type = 'string') => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object', properties: { to: { type } } } });
