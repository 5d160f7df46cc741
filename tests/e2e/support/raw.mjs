// Requests of the modern era without a client, where a test is about what passes over the wire.
const VERSION = '2026-07-28';

/** Sends one and gives the response, whose body is not read. */
export function send(url, method, params = {}, { token, headers = {}, signal } = {}) {
  const name = params.name ?? params.uri;
  return fetch(url, {
    method: 'POST',
    signal,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': VERSION,
      'mcp-method': method,
      ...(name ? { 'mcp-name': name } : {}),
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...headers
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method,
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': VERSION,
          'io.modelcontextprotocol/clientCapabilities': {},
          ...params._meta
        }
      }
    })
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
