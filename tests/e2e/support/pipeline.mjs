// HTTP pipelining: requests on one connection that do not wait for answers, as clients rarely send and proxies may.
import { connect } from 'node:net';

import { bodyOf, headersOf } from './raw.mjs';

/** Returns the bytes of a modern request. */
export function requestBytes(url, method, params, token) {
  const { host, pathname } = new URL(url);
  const body = bodyOf(method, params);
  const fields = { host, authorization: `Bearer ${token}`, 'content-length': Buffer.byteLength(body), ...headersOf(method, params) };
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${pathname} HTTP/1.1\r\n${head.join('')}\r\n${body}`;
}

/** Returns the first answer in a latin1 text, and the text behind it as `rest`; undefined if it is incomplete. */
function takeAnswer(text) {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = text.slice(0, end);
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(head)[1]);
  const length = /^content-length: (\d+)/im.exec(head);
  let rest = text.slice(end + 4);
  if (length) return rest.length < length[1] ? undefined : { status, head, body: rest.slice(0, length[1]), rest: rest.slice(length[1]) };
  for (let body = ''; ; ) {
    const line = rest.indexOf('\r\n');
    if (line < 0) return undefined;
    const size = Number.parseInt(rest, 16);
    const next = line + 2 + size + 2;
    if (rest.length < next) return undefined;
    body += rest.slice(line + 2, line + 2 + size);
    rest = rest.slice(next);
    if (size === 0) return { status, head, body, rest };
  }
}

/** Returns the message in a body, which may be an event stream with one message. */
function messageIn(body) {
  const text = Buffer.from(body, 'latin1').toString();
  return JSON.parse(text.startsWith('{') ? text : /^data: (.*)$/m.exec(text)[1]);
}

/** Sends all requests at once on one connection and returns the answers in order, each with `status` and `message`. */
export function pipeline(url, requests) {
  return new Promise((done, failed) => {
    const { hostname, port } = new URL(url);
    const answers = [];
    let text = '';
    const socket = connect(port, hostname, () => socket.write(requests.join('')));
    socket.setEncoding('latin1').on('error', failed);
    socket.on('close', () => failed(new Error(`closed after ${answers.length} of ${requests.length} answers: ${text.slice(0, 200)}`)));
    socket.on('data', (data) => {
      text += data;
      for (let answer; (answer = takeAnswer(text)); text = answer.rest) answers.push({ status: answer.status, message: messageIn(answer.body) });
      if (answers.length < requests.length) return;
      done(answers);
      socket.destroy();
    });
  });
}
