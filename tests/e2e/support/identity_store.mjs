// The store of an identity provider. The default store is one per process, so providers would know each other's tokens.

/** The provider's adapter for one kind of record in a store. The provider itself checks expiry. */
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
