// A person at a headless browser: opens links, fills in forms, and follows redirects between sites.
import assert from 'node:assert/strict';

const MOST_PAGES = 30;
const unescaped = (text) => text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

/** Cookies by origin and name, as in one browser profile. */
class Jar {
  origins = new Map();

  of(url) {
    if (!this.origins.has(url.origin)) this.origins.set(url.origin, new Map());
    return this.origins.get(url.origin);
  }

  keep(url, response) {
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie);
      if (value === '') this.of(url).delete(name);
      else this.of(url).set(name, value);
    }
  }

  header(url) {
    return [...this.of(url)].map(([name, value]) => `${name}=${value}`).join('; ');
  }
}

/** Returns the text of a page without its markup. */
export const wordsOf = (html) => unescaped(html.replaceAll(/<style>[\s\S]*?<\/style>|<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')).trim();

function formOf(html) {
  const [, action, inside] = /<form[^>]* action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/.exec(html) ?? [];
  if (action === undefined) return undefined;
  const fields = [...inside.matchAll(/<input[^>]*type="hidden"[^>]*>/g)].map(([input]) => [/name="([^"]*)"/.exec(input)[1], unescaped(/value="([^"]*)"/.exec(input)?.[1] ?? '')]);
  return { action: unescaped(action), fields };
}

/**
 * A person with an account `subject` at every provider, and optionally a `token` of the gateway or an admin `key`.
 * `stopAt(url)` decides which redirect the person does not follow, so that a test can use it otherwise.
 */
export class Person {
  jar = new Jar();
  visited = [];

  constructor(subject, { token, key, decision = 'allow', stopAt = () => false } = {}) {
    Object.assign(this, { subject, token, key, decision, stopAt });
  }

  async request(url, form) {
    const headers = { cookie: this.jar.header(url), ...(form ? { origin: url.origin } : {}) };
    const response = await fetch(url, { method: form ? 'POST' : 'GET', body: form, redirect: 'manual', headers });
    this.jar.keep(url, response);
    return response;
  }

  /**
   * Opens a link and does what the pages ask for until nothing is left to do. Returns the last page, or the redirect
   * that was not followed.
   */
  async open(link) {
    let url = new URL(link);
    let form;
    for (let page = 0; page < MOST_PAGES; ++page) {
      const response = await this.request(url, form);
      this.visited.push(`${form ? 'POST' : 'GET'} ${url.origin}${url.pathname}`);
      const html = await response.text();
      const location = response.headers.get('location');
      form = undefined;
      if (location) {
        url = new URL(location, url);
        if (this.stopAt(url)) return { url, stopped: true };
        continue;
      }
      const found = formOf(html);
      const filled = response.status < 400 && found ? this.fill(html, found) : undefined;
      if (!filled) return { url, status: response.status, html, words: wordsOf(html) };
      url = new URL(found.action, url);
      form = new URLSearchParams(filled);
    }
    throw new Error(`no end after ${MOST_PAGES} pages: ${this.visited.join(', ')}`);
  }

  /** Returns the filled fields of a page's form, or undefined if the person has nothing to fill in. */
  fill(html, { fields }) {
    const [, prompt] = /name="prompt" value="(\w+)"/.exec(html) ?? [];
    if (prompt === 'login') return [...fields, ['login', this.subject], ['password', 'any']];
    if (prompt) return fields;
    if (html.includes('name="decision"')) return [...fields, ['decision', this.decision]];
    if (html.includes('Admin key')) return this.key ? [...fields, ['secret', this.key]] : undefined;
    if (html.includes('name="secret"')) return this.token ? [...fields, ['secret', this.token]] : undefined;
    if (html.includes('Who is connecting?')) return fields;
    return undefined;
  }

  async connect(link) {
    const page = await this.open(link);
    assert.match(page.words ?? '', / is connected/, `${page.status} ${page.words ?? page.url}\n${this.visited.join('\n')}`);
    return page;
  }
}
