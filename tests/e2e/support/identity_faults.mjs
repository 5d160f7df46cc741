// What an identity provider may do wrong when it is asked for metadata, keys or a token.

const HUGE = 100 * 1024 * 1024;
const PIECE = Buffer.alloc(64 * 1024, '{"keys":[],');

/** Sends 100 MB, as fast as they are taken; `sent` of the provider counts them. */
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
  /** Accepts the connection and hangs up. */
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
  /** Leads to another origin, which would be asked if redirects were followed. */
  redirect: (request, response, provider) => response.writeHead(302, { location: `${provider.elsewhere}${request.url}` }).end(),
  /** A document of another issuer. */
  otherIssuer: (_, response, provider) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ issuer: 'https://other.example', jwks_uri: `${provider.issuer}/jwks`, introspection_endpoint: `${provider.issuer}/token/introspection` }));
  }
};
