// A legacy session without a client library, for tests about who may use a session.

const VERSION = '2025-11-25';

/** One session. Each request names the token that it sends. */
export class LegacySession {
  static async open(url, token) {
    const session = new LegacySession(url);
    const params = { protocolVersion: VERSION, capabilities: {}, clientInfo: { name: 'proteus-e2e', version: '1' } };
    const response = await session.post('initialize', params, token);
    if (!response.ok) throw new Error(`initialize: ${response.status} ${await response.text()}`);
    await response.text();
    session.id = response.headers.get('mcp-session-id');
    await (await session.send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }), token)).text();
    return session;
  }

  constructor(url) {
    this.url = url;
    this.requests = 0;
  }

  headers(token) {
    return {
      authorization: `Bearer ${token}`,
      ...(this.id ? { 'mcp-session-id': this.id, 'mcp-protocol-version': VERSION } : {})
    };
  }

  send(body, token) {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...this.headers(token) };
    return fetch(this.url, { method: 'POST', headers, body });
  }

  post(method, params, token) {
    return this.send(JSON.stringify({ jsonrpc: '2.0', id: ++this.requests, method, params }), token);
  }

  /** Opens the standing stream. */
  stream(token, signal) {
    return fetch(this.url, { signal, headers: { accept: 'text/event-stream', ...this.headers(token) } });
  }

  end(token) {
    return fetch(this.url, { method: 'DELETE', headers: this.headers(token) });
  }
}

/** Yields the events of a stream as they arrive: `id`, and `data` with the message. Either may be undefined. */
export async function* eventsOf(response) {
  let text = '';
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    text += piece;
    for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
      const field = (name) => new RegExp(`^${name}: (.+)$`, 'm').exec(text.slice(0, end))?.[1];
      const [id, data] = [field('id'), field('data')];
      if (id !== undefined || data !== undefined) yield { id, data: data && JSON.parse(data) };
    }
  }
}
