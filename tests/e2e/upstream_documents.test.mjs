// A gateway on https that authorization servers know by a document that it serves, and not by a registration.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import tls from 'node:tls';

import { makeFolder } from './support/children.mjs';
import { Person } from './support/person.mjs';
import { runningPrograms } from './support/programs_of_suite.mjs';
import { send } from './support/raw.mjs';
import { linkIn, startStory, TOKENS } from './support/sign_in_story.mjs';

/** Makes a certificate for loopback, and makes this process trust it. */
function makeCertificate(folder) {
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', ...names, '-keyout', key, '-out', certificate], { stdio: 'ignore' });
  tls.setDefaultCACertificates([...tls.getCACertificates(), readFileSync(certificate, 'utf8')]);
  return { certificate, key };
}

async function whoami({ gateway }) {
  const response = await send(gateway.url, 'tools/call', { name: 'notes_whoami', arguments: {} }, { token: TOKENS.ada });
  const { result, error } = await response.json();
  return result?.content?.[0]?.text ?? JSON.stringify(error);
}

/** Returns a list that collects the ids of the clients to which a provider gives tokens. */
function clientsOf({ provider }) {
  const clients = [];
  provider.provider.on('grant.success', (ctx) => clients.push(ctx.oidc.client.clientId));
  return clients;
}

const isDocument = /\/oauth\/client\/[^/]+\.json$/;

describe('an authorization server that takes clients described by documents', () => {
  const folder = makeFolder();
  let secure;
  let plain;
  runningPrograms(async (programs) => {
    const provider = { documents: true };
    secure = await startStory(programs, { provider, server: { tls: makeCertificate(folder) } });
    plain = await startStory(programs, { provider });
  });

  test('UPC-02 finds that of a gateway on https at the id of its client, and registers nothing', async () => {
    assert.match(secure.gateway.url, /^https:/);
    const clients = clientsOf(secure);
    const person = new Person('ada', { token: TOKENS.ada });
    await person.connect(linkIn(await whoami(secure)));
    assert.equal(await whoami(secure), 'these are the notes of ada');
    assert.equal(clients.length, 1);
    assert.match(clients[0], isDocument);
    assert.equal(new URL(clients[0]).origin, new URL(secure.gateway.url).origin);
    assert.equal(secure.provider.asked('/reg'), 0);

    const response = await fetch(clients[0]);
    assert.equal(response.status, 200);
    const document = await response.json();
    assert.equal(document.client_id, clients[0]);
    assert.equal(document.token_endpoint_auth_method, 'none');
    assert.equal(document.redirect_uris.length, 1);
    assert.match(document.redirect_uris[0], /^https:.*\/oauth\/callback\//);
    assert.equal((await fetch(new URL('/oauth/client/other.json', secure.gateway.url))).status, 404);
    assert.ok([...person.jar.of(new URL(secure.gateway.url)).keys()].includes('__Host-proteus_connect'));
  });

  test('UPC-02 gets no document from a gateway on plain http, which registers a client', async () => {
    const clients = clientsOf(plain);
    await new Person('ada', { token: TOKENS.ada }).connect(linkIn(await whoami(plain)));
    assert.equal(await whoami(plain), 'these are the notes of ada');
    assert.doesNotMatch(clients[0], isDocument);
    assert.equal(plain.provider.asked('/reg'), 1);
  });
});
