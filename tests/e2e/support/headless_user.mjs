// A person with a browser: follows an authorization request through the pages of the provider, and comes back with what the client gets.

const MOST_PAGES = 12;

/** Cookies by name: one provider, one sign-in, so paths need not be told apart. */
class Cookies {
  values = new Map();

  keep(response) {
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie);
      if (value === '') this.values.delete(name);
      else this.values.set(name, value);
    }
  }

  toString() {
    return [...this.values].map(([name, value]) => `${name}=${value}`).join('; ');
  }
}

/** Signs in as `subject`, consents to everything, and returns the URL that leads back to the client. */
export async function signIn(authorizationUrl, subject) {
  const cookies = new Cookies();
  const { origin } = new URL(authorizationUrl);
  let url = new URL(authorizationUrl);
  let form;
  for (let page = 0; page < MOST_PAGES; ++page) {
    const response = await fetch(url, { method: form ? 'POST' : 'GET', body: form, redirect: 'manual', headers: { cookie: `${cookies}` } });
    cookies.keep(response);
    const text = await response.text();
    form = undefined;
    const location = response.headers.get('location');
    if (location) {
      url = new URL(location, url);
      if (url.origin !== origin) return url;
      continue;
    }
    const [, action] = /<form[^>]* action="([^"]*)"/.exec(text) ?? [];
    const [, prompt] = /name="prompt" value="(\w+)"/.exec(text) ?? [];
    if (response.status !== 200 || !action) throw new Error(`the provider answers ${response.status}: ${text.replaceAll(/<style>[\s\S]*?<\/style>|<[^>]*>|\s+/g, ' ')}`);
    url = new URL(action.replaceAll('&amp;', '&'), url);
    form = new URLSearchParams({ prompt, ...(prompt === 'login' ? { login: subject, password: 'any' } : {}) });
  }
  throw new Error(`no way back to the client after ${MOST_PAGES} pages`);
}
