// Customers of the bank, who use the official clients.
import assert from 'node:assert/strict';

import { Session } from './clients.mjs';

export const OPEN_TOOLS = ['agent_handoff', 'pin_authentication'];
export const ACCOUNT_TOOLS = ['invest', 'sign_out', 'transfer_money', 'view_balance', 'view_transactions'];
export const ALL_TOOLS = [...OPEN_TOOLS, ...ACCOUNT_TOOLS].sort();

let last = 0;
/** Returns a name that no earlier test used, because the bank remembers its customers. */
export function freshName(name) {
  return `${name}-${++last}`;
}

/** One customer with a dedicated client. If `meta` identifies the customer, every request carries it. */
export class Customer {
  static async enter(client, target, meta = undefined) {
    return new Customer(await Session.open(client, target), meta);
  }

  constructor(session, meta) {
    this.session = session;
    this.meta = meta;
  }

  params(more = {}) {
    return this.meta === undefined ? more : { ...more, _meta: { ...this.meta } };
  }

  tools() {
    return this.session.toolNames(this.params());
  }

  call(name, args = {}, options = undefined) {
    return this.session.callWith(this.params({ name, arguments: args }), options);
  }

  async enterPin(pin = '1234') {
    return this.call('pin_authentication', { pin });
  }

  async balance() {
    return (await this.call('view_balance')).structuredContent;
  }

  async refused(name, args = {}) {
    await assert.rejects(this.call(name, args), (error) => error.code === -32602);
  }

  close() {
    return this.session.close();
  }
}

/** Runs `body` with the customers that `entering` resolves to, and always closes them. */
export async function withCustomers(entering, body) {
  const entered = await Promise.allSettled(entering);
  try {
    const failed = entered.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
    return await body(...entered.map((one) => one.value));
  } finally {
    await Promise.all(entered.map((one) => one.value?.close()));
  }
}
