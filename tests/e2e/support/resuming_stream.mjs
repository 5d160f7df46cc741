// A listening client that reconnects when its stream ends, as clients do.
import { setTimeout as pause } from 'node:timers/promises';

import { send } from './raw.mjs';

const FILTER = { notifications: { toolsListChanged: true } };
const CHANGES = ['notifications/subscriptions/acknowledged', 'notifications/tools/list_changed'];

/**
 * `connections` counts the accepted connections, and `heard(method)` the notifications of a method. `stop()` ends the
 * stream and returns its failures.
 */
export class ResumingStream {
  connections = 0;
  #counts = new Map();
  #failures = [];
  #changed = () => {};
  #abort = new AbortController();
  #last;
  #reading;

  /** Listens on the standing stream of a session, and resumes it behind the last event. */
  static ofSession(session, token) {
    const stream = new ResumingStream();
    const headers = () => ({ accept: 'text/event-stream', ...session.headers(token), ...(stream.#last && { 'last-event-id': stream.#last }) });
    stream.#reading = stream.#read(() => fetch(session.url, { headers: headers(), signal: stream.#abort.signal }));
    return stream;
  }

  /**
   * Listens as a modern client, and calls `changed` when its lists may have changed. The gateway keeps no events for a
   * client that is disconnected, so that is also after each acknowledgement of a new connection.
   */
  static ofListener(url, token, changed) {
    const stream = new ResumingStream();
    stream.#changed = changed;
    stream.#reading = stream.#read(() => send(url, 'subscriptions/listen', FILTER, { token, signal: stream.#abort.signal }));
    return stream;
  }

  /** Returns how many notifications of this method have arrived. */
  heard(method) {
    return this.#counts.get(method) ?? 0;
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
        // A stream may break. A stream that cannot be opened is a failure.
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
    if (CHANGES.includes(method)) this.#changed();
  }
}

/** Yields the events of a stream, each as its lines. */
async function* blocks(response) {
  let text = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) yield text.slice(0, end);
  }
}
