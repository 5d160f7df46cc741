// Proofs of possession (RFC 9449), right and wrong ones.
import { createHash, randomUUID } from 'node:crypto';

import * as jose from 'jose';

/** A key for proofs, with its thumbprint. */
export async function makeDpopKey(alg = 'ES256') {
  const { publicKey, privateKey } = await jose.generateKeyPair(alg);
  const jwk = await jose.exportJWK(publicKey);
  return { alg, privateKey, jwk, thumbprint: await jose.calculateJwkThumbprint(jwk) };
}

export function hashOf(token) {
  return createHash('sha256').update(token).digest('base64url');
}

/**
 * What a resource server does with a proof: throws where it does not prove that whoever sends this request has the key of that thumbprint. The result is
 * what it says.
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

/** A proof for one request; `claims` and `header` replace what would be right. */
export function prove(key, { url, method = 'POST', token, claims = {}, header = {} }) {
  const right = { jti: randomUUID(), htm: method, htu: url, iat: Math.floor(Date.now() / 1000), ...(token ? { ath: hashOf(token) } : {}) };
  return new jose.SignJWT({ ...right, ...claims }).setProtectedHeader({ alg: key.alg, typ: 'dpop+jwt', jwk: key.jwk, ...header }).sign(key.privateKey);
}
