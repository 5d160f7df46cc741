// Requests of the modern era without a client, where a test is about what passes over the wire.
import { request } from 'node:http';

const VERSION = '2026-07-28';

/** What a request carries besides its body. */
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

/** Sends one and gives the response, whose body is not read. */
export function send(url, method, params = {}, { token, headers = {}, signal } = {}) {
  const authorization = token ? { authorization: `Bearer ${token}` } : {};
  return fetch(url, {
    method: 'POST',
    signal,
    headers: { ...headersOf(method, params), ...authorization, ...headers },
    body: bodyOf(method, params)
  });
}

/** Sends one by the connections of an agent, for tests that send many, and gives the message that answers it. */
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

/** The messages of an event stream, to its end. */
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
