// What an authorization server sees of refresh tokens: which were sent, what it gave for them, and when.
export class RefreshWatch {
  sent = [];
  secrets = new Set();
  #arrival;
  #answered;

  constructor(provider) {
    const note = (ctx) => {
      const { grant_type, refresh_token } = ctx.oidc.params ?? {};
      if (grant_type === 'refresh_token') this.sent.push(refresh_token);
      for (const secret of [ctx.body?.access_token, ctx.body?.refresh_token, ctx.body?.id_token]) if (secret) this.secrets.add(secret);
    };
    provider.provider.on('grant.success', note);
    provider.provider.on('grant.error', note);
    const receive = provider.receive.bind(provider);
    provider.receive = (request, response) => {
      if (request.method === 'POST' && request.url === '/token') {
        this.#arrival?.();
        response.once('finish', () => this.#answered?.());
      }
      receive(request, response);
    };
  }

  /** The next request for a token. */
  arrival() {
    return new Promise((arrived) => (this.#arrival = arrived));
  }

  /** The next answer to one, as far as the server knows. */
  answered() {
    return new Promise((done) => (this.#answered = done));
  }

  /** Those that were sent more than once. */
  repeated() {
    return this.sent.filter((token, place) => this.sent.indexOf(token) !== place);
  }
}
