// Observes which refresh tokens and codes an authorization server gets, which tokens it issues, and when.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export class RefreshWatch {
  sent = [];
  codes = [];
  secrets = new Set();
  #arrival;
  #answered;

  constructor(provider) {
    const note = (ctx) => {
      const { grant_type, refresh_token, code } = ctx.oidc.params ?? {};
      if (grant_type === 'refresh_token') this.sent.push(refresh_token);
      if (grant_type === 'authorization_code') this.codes.push(code);
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

  /** Resolves when the next token request arrives. */
  arrival() {
    return new Promise((arrived) => (this.#arrival = arrived));
  }

  /** Resolves when the server has written its next answer to a token request. */
  answered() {
    return new Promise((done) => (this.#answered = done));
  }

  /** Returns the refresh tokens and codes that were sent more than once. */
  repeated() {
    return [this.sent, this.codes].flatMap((all) => all.filter((each, place) => all.indexOf(each) !== place));
  }

  /**
   * Moments to kill a gateway that requests a token. Each function waits for its moment; `asking` resolves when the
   * call that needs the token ends.
   */
  moments() {
    return {
      'before the request is seen': () => pause(Math.random() * 20),
      'when it arrives': () => this.arrival(),
      'when it is answered': () => this.answered(),
      'just after': () => this.answered().then(() => pause(Math.random() * 4)),
      'at the end': (asking) => asking
    };
  }

  /** Returns the issued tokens that the files of this folder contain in the clear. */
  inTheClear(folder) {
    const written = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'latin1')).join('\n');
    return [...this.secrets].filter((secret) => written.includes(secret));
  }
}
