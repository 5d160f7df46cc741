// Modern requests without a client library, for tests about the messages on the wire.
import { request } from 'node:http';

const VERSION = '2026-07-28';

/** Returns the fields of a request's head. */
export function headersOf(method, params) {
  const name = params.name ?? params.uri;
  return {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': VERSION,
    'mcp-method': method,
    ...(name ? { 'mcp-name': name } : {})
  };
}

export function bodyOf(method, params) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': VERSION,
    'io.modelcontextprotocol/clientCapabilities': {},
    ...params._meta
  };
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } });
}

/** Sends a request and returns the response, whose body is still unread. */
export function send(url, method, params = {}, { token, headers = {}, signal } = {}) {
  const authorization = token ? { authorization: `Bearer ${token}` } : {};
  return fetch(url, {
    method: 'POST',
    signal,
    headers: { ...headersOf(method, params), ...authorization, ...headers },
    body: bodyOf(method, params)
  });
}

/** Sends a request on the connections of `agent`, for tests with many requests, and returns the answering message. */
export function ask(agent, url, method, params = {}) {
  return new Promise((done, failed) => {
    const outgoing = request(url, { agent, method: 'POST', headers: headersOf(method, params) }, (incoming) => {
      let text = '';
      incoming.on('data', (data) => (text += data));
      incoming.on('error', failed);
      incoming.on('end', () => done(JSON.parse(text)));
    });
    outgoing.on('error', failed);
    outgoing.end(bodyOf(method, params));
  });
}

/** Yields the messages of an event stream until it ends. */
export async function* events(response) {
  let text = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
      const data = /^data: (.*)$/m.exec(text.slice(0, end));
      if (data) yield JSON.parse(data[1]);
    }
  }
}
