// A peer link as a stranger could try to use it, and as one of us does, made of nothing but the pepper.
import { spawn } from 'node:child_process';
import { createCipheriv, hkdfSync, randomBytes } from 'node:crypto';

const keyOf = (pepper, purpose) => Buffer.from(hkdfSync('sha256', pepper, '', purpose, 32));

/** What a request shows on a peer link. */
export function passOf(pepper, { to, from = 'somebody', method, target, at = Date.now() }) {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', keyOf(pepper, 'peer requests'), nonce);
  cipher.setAAD(Buffer.from(`peer ${method} ${target}`));
  const sealed = Buffer.concat([nonce, cipher.update(`${at}\n${to}\n${from}`), cipher.final(), cipher.getAuthTag()]);
  return sealed.toString('base64url');
}

/** Sends `text` over TLS with the key of a pepper, or with none, and gives what comes back until the connection ends; empty where there was no handshake. */
export function sendOverTls(url, text, pepper = undefined) {
  const { host } = new URL(url);
  const key = pepper === undefined ? [] : ['-psk', keyOf(pepper, 'peer links').toString('hex'), '-psk_identity', 'proteus'];
  const client = spawn('openssl', ['s_client', '-quiet', '-ign_eof', '-connect', host, '-tls1_3', '-alpn', 'http/1.1', ...key], { stdio: ['pipe', 'pipe', 'ignore'] });
  let answer = '';
  client.stdout.on('data', (data) => (answer += data));
  client.stdin.on('error', () => {});
  client.stdin.write(text);
  return new Promise((done) => client.once('close', () => done(answer)));
}
