// A client that listens, and connects again when its stream ends, as clients do.
import { setTimeout as pause } from 'node:timers/promises';

import { send } from './raw.mjs';

const FILTER = { notifications: { toolsListChanged: true } };

/** `connections` are those that were answered; `heard(method)` says how many notifications of it came; `stop()` ends it and gives what failed. */
export class ResumingStream {
  connections = 0;
  #counts = new Map();
  #missed = 0;  // for how often it has to ask for everything anew
  #failures = [];
  #abort = new AbortController();
  #last;
  #reading;

  /** The standing stream of a session, resumed behind the last event that came. */
  static ofSession(session, token) {
    const stream = new ResumingStream();
    const headers = () => ({ accept: 'text/event-stream', ...session.headers(token), ...(stream.#last && { 'last-event-id': stream.#last }) });
    stream.#reading = stream.#read(() => fetch(session.url, { headers: headers(), signal: stream.#abort.signal }));
    return stream;
  }

  /** What a modern client listens to. Nothing is kept for it while it is away, so that it reads the lists when it comes back: it has heard of everything then. */
  static ofListener(url, token) {
    const stream = new ResumingStream();
    stream.#reading = stream.#read(async () => {
      const response = await send(url, 'subscriptions/listen', FILTER, { token, signal: stream.#abort.signal });
      if (response.ok) ++stream.#missed;
      return response;
    });
    return stream;
  }

  heard(method) {
    return (this.#counts.get(method) ?? 0) + this.#missed;
  }

  async stop() {
    this.#abort.abort();
    await this.#reading;
    return this.#failures;
  }

  async #read(connect) {
    while (!this.#abort.signal.aborted) {
      try {
        const response = await connect();
        if (response.status !== 200) {
          this.#failures.push(`stream: ${response.status} ${await response.text()}`);
        } else {
          ++this.connections;
          for await (const chunk of blocks(response)) this.#take(chunk);
        }
      } catch (error) {
        // A stream may break off; what could not be opened at all is a failure.
        if (!this.#abort.signal.aborted && error.message === 'fetch failed') this.#failures.push(`stream: ${error.cause}`);
      }
      await pause(5);
    }
  }

  #take(block) {
    const id = /^id: (.*)$/m.exec(block);
    const data = /^data: (\{.*)$/m.exec(block);
    if (id) this.#last = id[1];
    if (!data) return;
    const { method } = JSON.parse(data[1]);
    if (method) this.#counts.set(method, (this.#counts.get(method) ?? 0) + 1);
  }
}

/** The blocks of lines of an event stream. */
async function* blocks(response) {
  let text = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) yield text.slice(0, end);
  }
}
