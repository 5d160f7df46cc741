// What the official clients need to sign in on their own: storage, and a person at a browser.
import { Session } from './clients.mjs';
import { signIn } from './headless_user.mjs';

const REDIRECT = 'http://127.0.0.1:1/callback';

/** The `OAuthClientProvider` of both SDKs, with a person who signs in when asked. `renewable`: with refresh tokens. */
export class PersonAtClient {
  constructor(subject, { renewable = false, dpop } = {}) {
    this.subject = subject;
    this.redirectUrl = REDIRECT;
    this.clientMetadata = {
      client_name: 'proteus-e2e',
      redirect_uris: [REDIRECT],
      grant_types: ['authorization_code', ...(renewable ? ['refresh_token'] : [])],
      response_types: ['code'],
      token_endpoint_auth_method: 'none'
    };
    this.asked = []; // the authorization requests that the person saw
    this.saved = []; // the tokens that the client got
    if (dpop) this.dpop = () => dpop;
  }

  clientInformation() {
    return this.client;
  }

  saveClientInformation(client) {
    this.client = client;
  }

  tokens() {
    return this.saved.at(-1);
  }

  saveTokens(tokens) {
    this.saved.push(tokens);
  }

  codeVerifier() {
    return this.verifier;
  }

  saveCodeVerifier(verifier) {
    this.verifier = verifier;
  }

  discoveryState() {
    return this.discovered;
  }

  saveDiscoveryState(state) {
    this.discovered = state;
  }

  async redirectToAuthorization(url) {
    this.asked.push(url);
    this.callback = (await signIn(url, this.subject)).searchParams;
  }

  /** Returns the parameters of the last redirect, once. */
  takeCallback() {
    const { callback } = this;
    this.callback = undefined;
    return callback;
  }
}

/** Completes the sign-in if the client failed because its person had to sign in; otherwise rethrows `error`. */
async function finishSignIn(session, person, error) {
  const callback = person.takeCallback();
  if (!callback) throw error;
  await session.sdk.finishSignIn(session.transport, callback);
}

/** Connects as a host does: is refused, signs in, and connects again. */
export async function connectSignedIn(client, url, person) {
  const first = new Session(client.sdk, client.era, { url, authProvider: person });
  try {
    await first.client.connect(first.transport);
    throw new Error('it was let in without a token');
  } catch (error) {
    await finishSignIn(first, person, error);
  }
  await first.client.close();
  return Session.open(client, { url, authProvider: person });
}

/** Calls a tool as a host does: if the client needs more scopes, its person signs in again and the call is repeated. */
export async function callStepping(session, person, name, args) {
  try {
    return await session.call(name, args);
  } catch (error) {
    await finishSignIn(session, person, error);
    return session.call(name, args);
  }
}
