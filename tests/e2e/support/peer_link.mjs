// A link between processes of a cluster, as an attacker or another process opens it. The keys derive from the pepper.
import { createCipheriv, hkdfSync, randomBytes } from 'node:crypto';

import { spawnChild } from './children.mjs';

const keyOf = (pepper, purpose) => Buffer.from(hkdfSync('sha256', pepper, '', purpose, 32));

/** Makes the pass that a request carries on a peer link. */
export function passOf(pepper, { to, from = 'somebody', method, target, at = Date.now() }) {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', keyOf(pepper, 'peer requests'), nonce);
  cipher.setAAD(Buffer.from(`peer ${method} ${target}`));
  const sealed = Buffer.concat([nonce, cipher.update(`${at}\n${to}\n${from}`), cipher.final(), cipher.getAuthTag()]);
  return sealed.toString('base64url');
}

const HEAD = 8;
const DATA = 1;

/** Makes a frame that opens the first stream of a link and carries these bytes. */
function frameOf(text) {
  const payload = Buffer.from(text);
  const head = Buffer.alloc(HEAD);
  head.writeUInt32BE(1, 0);
  head.writeUInt8(DATA, 4);
  head.writeUIntBE(payload.length, 5, 3);
  return Buffer.concat([head, payload]);
}

/** Returns the text of the frames received so far, and whether a frame has ended the stream. */
function unframe(bytes) {
  let text = '';
  for (let at = 0; at + HEAD <= bytes.length; ) {
    const length = bytes.readUIntBE(at + 5, 3);
    if (bytes.readUInt8(at + 4) !== DATA) return { text, ended: true };
    text += bytes.toString('latin1', at + HEAD, at + HEAD + length);
    at += HEAD + length;
  }
  return { text, ended: false };
}

/**
 * Sends `text` over a link with the key of this pepper, or without a key, and returns the whole answer; an empty text
 * if the handshake failed.
 */
export function sendOverTls(url, text, pepper = undefined) {
  const { host } = new URL(url);
  const key = pepper === undefined ? [] : ['-psk', keyOf(pepper, 'peer links').toString('hex'), '-psk_identity', 'proteus'];
  const client = spawnChild('openssl', ['s_client', '-quiet', '-ign_eof', '-connect', host, '-tls1_3', '-alpn', 'proteus/1', ...key], { stdio: ['pipe', 'pipe', 'ignore'] });
  let came = Buffer.alloc(0);
  client.stdout.on('data', (data) => {
    came = Buffer.concat([came, data]);
    if (unframe(came).ended) client.kill();
  });
  client.stdin.on('error', () => {});
  client.stdin.write(frameOf(text));
  return client.closed.then(() => unframe(came).text);
}
