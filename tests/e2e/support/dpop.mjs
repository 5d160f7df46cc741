// Proofs of possession (RFC 9449), valid and invalid ones.
import { createHash, randomUUID } from 'node:crypto';

import * as jose from 'jose';

/** Makes a key for proofs, with its thumbprint. */
export async function makeDpopKey(alg = 'ES256') {
  const { publicKey, privateKey } = await jose.generateKeyPair(alg);
  const jwk = await jose.exportJWK(publicKey);
  return { alg, privateKey, jwk, thumbprint: await jose.calculateJwkThumbprint(jwk) };
}

export function hashOf(token) {
  return createHash('sha256').update(token).digest('base64url');
}

/**
 * Checks a proof as a resource server does: throws unless it proves that the sender of this request has the key with
 * this thumbprint. Returns the claims of the proof.
 */
export async function checkProof(proof, { url, method, token, thumbprint }) {
  const { payload, protectedHeader } = await jose.jwtVerify(proof, jose.EmbeddedJWK, { typ: 'dpop+jwt', maxTokenAge: 60 });
  const expected = { htm: method, htu: url, ath: hashOf(token) };
  for (const [claim, value] of Object.entries(expected)) {
    if (payload[claim] !== value) throw new Error(`${claim} is ${payload[claim]}, not ${value}`);
  }
  if ((await jose.calculateJwkThumbprint(protectedHeader.jwk)) !== thumbprint) throw new Error('the token is bound to another key');
  return payload;
}

/** Makes a proof for one request; `claims` and `header` override the correct values. */
export function prove(key, { url, method = 'POST', token, claims = {}, header = {} }) {
  const right = { jti: randomUUID(), htm: method, htu: url, iat: Math.floor(Date.now() / 1000), ...(token ? { ath: hashOf(token) } : {}) };
  return new jose.SignJWT({ ...right, ...claims }).setProtectedHeader({ alg: key.alg, typ: 'dpop+jwt', jwk: key.jwk, ...header }).sign(key.privateKey);
}
