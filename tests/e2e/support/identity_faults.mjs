// Faults of an identity provider that is asked for metadata, keys or introspection.

const HUGE = 100 * 1024 * 1024;
const PIECE = Buffer.alloc(64 * 1024, '{"keys":[],');

/** Sends 100 MB as fast as the client reads; `sent` of the provider counts the bytes. */
function huge(_, response, provider) {
  provider.sent = 0;
  response.writeHead(200, { 'content-type': 'application/json' });
  const more = () => {
    while (provider.sent < HUGE && !response.destroyed) {
      provider.sent += PIECE.length;
      if (!response.write(PIECE)) return response.once('drain', more);
    }
    return response.end();
  };
  more();
}

export const FAULTS = {
  /** Receives the request and closes the connection. */
  reset: (request) => request.socket.destroy(),
  /** Never answers. */
  silent: () => {},
  /** Begins to answer, and never ends. */
  stuck: (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{');
  },
  huge,
  garbage: (_, response) => response.end('\u0000<html>}{'),
  error: (_, response) => response.writeHead(500).end(),
  /** Redirects to another origin, which would get a request if the gateway followed redirects. */
  redirect: (request, response, provider) => response.writeHead(302, { location: `${provider.elsewhere}${request.url}` }).end(),
  /** Answers with the metadata of another issuer. */
  otherIssuer: (_, response, provider) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ issuer: 'https://other.example', jwks_uri: `${provider.issuer}/jwks`, introspection_endpoint: `${provider.issuer}/token/introspection` }));
  }
};
