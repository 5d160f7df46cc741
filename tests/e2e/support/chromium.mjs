// Debian's Chromium, headless, driven over its debugging protocol: a real browser, with its rules for cookies,
// redirects and policies.
import { makeFolder, spawnChild } from './children.mjs';
import { eventually, within } from './programs.mjs';

const PATIENCE_MS = 60_000;

export class Chromium {
  static async start() {
    const profile = makeFolder('chromium');
    const args = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', `--user-data-dir=${profile}`, '--remote-debugging-port=0', 'about:blank'];
    const child = spawnChild(process.env.CHROMIUM ?? 'chromium', args, { stdio: ['ignore', 'ignore', 'pipe'] });
    let log = '';
    const listening = new Promise((found, failed) => {
      void child.closed.then((how) => failed(new Error(`Chromium has ended with ${how}: ${log}`)));
      child.stderr.on('data', (data) => {
        log += data;
        const [, port] = /DevTools listening on ws:\/\/127\.0\.0\.1:(\d+)\//.exec(log) ?? [];
        if (port) found(port);
      });
    });
    const browser = new Chromium(child);
    try {
      await browser.attach(await within(PATIENCE_MS, 'starting Chromium', listening));
      return browser;
    } catch (error) {
      await browser.stop();
      throw error;
    }
  }

  constructor(child) {
    Object.assign(this, { child, last: 0, waiting: new Map() });
  }

  async attach(port) {
    const pages = await (await fetch(`http://127.0.0.1:${port}/json/list`)).json();
    this.socket = new WebSocket(pages.find(({ type }) => type === 'page').webSocketDebuggerUrl);
    this.socket.addEventListener('message', ({ data }) => {
      const { id, result, error } = JSON.parse(data);
      const waits = this.waiting.get(id);
      this.waiting.delete(id);
      if (error) waits?.failed(new Error(error.message));
      else waits?.done(result);
    });
    await new Promise((open, failed) => {
      this.socket.addEventListener('open', open);
      this.socket.addEventListener('error', failed);
    });
  }

  send(method, params = {}) {
    const id = ++this.last;
    const answer = new Promise((done, failed) => this.waiting.set(id, { done, failed }));
    this.socket.send(JSON.stringify({ id, method, params }));
    return within(PATIENCE_MS, method, answer);
  }

  /** Returns the value of an expression in the page; undefined while the page navigates. */
  async value(expression) {
    try {
      return (await this.send('Runtime.evaluate', { expression, returnByValue: true })).result.value;
    } catch {
      return undefined;
    }
  }

  /** Opens a URL as a person would and does what the pages ask for. Returns the text of the last page. */
  async connect(url, { token, subject }) {
    await this.send('Page.navigate', { url });
    const fill = `(() => {
      if (document.readyState !== 'complete' || document.proteusSent) return '';
      const words = document.body?.innerText ?? '';
      if (/You can close this page|does not work|failed|not valid/.test(words)) return words;
      const input = (name, value) => { const found = document.querySelector('input[name=' + name + ']'); if (found) found.value = value; };
      input('secret', ${JSON.stringify(token)});
      input('login', ${JSON.stringify(subject)});
      input('password', 'any');
      const button = document.querySelector('button[value=allow]') ?? document.querySelector('form button');
      if (button) { document.proteusSent = true; button.click(); }
      return '';
    })()`;
    let words = '';
    await eventually('the pages come to an end', async () => (words = (await this.value(fill)) ?? '') !== '', PATIENCE_MS);
    return words;
  }

  async stop() {
    this.socket?.close();
    this.child.kill('SIGKILL');
    await within(PATIENCE_MS, 'the end of Chromium', this.child.closed);
  }
}
