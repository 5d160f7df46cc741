// What an identity provider remembers. The one that comes with it is shared by all providers of a process, which would know each other's tokens.

/** One kind of thing in a store, as the provider asks for it; expiry is the provider's own business. */
export class Shelf {
  constructor(store, kind) {
    this.store = store;
    this.kind = kind;
  }

  async upsert(id, payload) {
    this.store.set(`${this.kind}:${id}`, payload);
  }

  async find(id) {
    return this.store.get(`${this.kind}:${id}`);
  }

  async findByUid(uid) {
    return [...this.store].find(([key, payload]) => key.startsWith(`${this.kind}:`) && payload.uid === uid)?.[1];
  }

  async consume(id) {
    (await this.find(id)).consumed = Math.floor(Date.now() / 1000);
  }

  async destroy(id) {
    this.store.delete(`${this.kind}:${id}`);
  }

  async revokeByGrantId(grantId) {
    for (const [key, payload] of this.store) {
      if (key.startsWith(`${this.kind}:`) && payload.grantId === grantId) this.store.delete(key);
    }
  }
}
