// The files of deploy/ for several processes: checks their contents against the program, the image and the
// documentation, and runs three processes with them behind the balancer.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { describe, test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';

import { hasNginx, startDeployedBalancer } from './support/balancer.mjs';
import { makeFolder, run, spawnChild } from './support/children.mjs';
import { LegacySession } from './support/legacy_raw.mjs';
import { freePort, OWN_ADDRESS } from './support/loopback.mjs';
import { hasPostgres, startPostgres } from './support/postgres.mjs';
import { eventually, program, root, startServer, within } from './support/programs.mjs';
import { stopAfter } from './support/programs_of_suite.mjs';
import { send } from './support/raw.mjs';
import { hasRedis } from './support/redis.mjs';

const read = (name) => readFileSync(join(root, 'deploy', name), 'utf8');
const binary = readFileSync(program('proteus'));

/** Returns the variables of an environment file, whose lines are `NAME=value`. */
function environment(text) {
  return Object.fromEntries(text.split('\n').filter((line) => /^\w+=/.test(line)).map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}

/** Returns the variables that a configuration names. */
const namedBy = (toml) => [...toml.matchAll(/^\w+_env = "(\w+)"/gm)].map(([, name]) => name);

/** Checks that a process gets every variable that it needs, and none that it does not read. */
function assertVariables(given, toml) {
  const documented = readFileSync(join(root, 'docs/configuration.md'), 'utf8');
  for (const name of given) {
    if (namedBy(toml).includes(name)) continue;
    assert.ok(binary.includes(name), `the program knows no ${name}`);
    assert.ok(documented.includes(`\`${name}\``), `${name} is not documented`);
  }
  for (const name of [...namedBy(toml), 'PROTEUS_PEPPER', 'PROTEUS_ADMIN_SECRET', 'PROTEUS_STORE', 'PROTEUS_REDIS']) assert.ok(given.includes(name), `${name} is missing`);
}

/** Checks the URL by which others reach the process. The rest of the environment is the same for all processes. */
function assertPeers(toml, url) {
  const [, at] = /^peer_listen = "0\.0\.0\.0:(\d+)"$/m.exec(toml);
  assert.equal(new URL(url).port, at);
  assert.equal(new URL(url).protocol, 'https:');
  assert.ok(binary.includes('PROTEUS_PEER_URL'));
}

function assertConfiguration(toml) {
  const folder = makeFolder();
  writeFileSync(join(folder, 'proteus.toml'), toml);
  execFileSync(program('proteus'), ['check', '--config', join(folder, 'proteus.toml')], { stdio: 'pipe', env: { ...process.env, PROTEUS_PEER_URL: 'https://10.0.0.7:9443' } });
  assert.match(toml, /^\[cluster\]$/m);
}

/** Checks that a command exists in the image's program. */
function assertCommand([path, ...args]) {
  assert.equal(path, '/usr/bin/proteus');
  execFileSync(program('proteus'), [...args, '--help'], { stdio: 'pipe' });
}

const image = read('Containerfile');
const port = Number(/^EXPOSE (\d+)$/m.exec(image)[1]);
const workingFolder = /^WORKDIR (\/etc\/\S+)$/m.exec(image)[1];
const [user, group] = /^USER (\d+):(\d+)$/m.exec(image).slice(1).map(Number);

describe('deploy/compose.yaml', () => {
  const compose = parse(read('compose.yaml'), { merge: true });
  const processes = Object.entries(compose.services).filter(([, service]) => service.image === 'proteus');

  test('REP-01 has three processes, each like the image wants it, with one configuration and one set of secrets', () => {
    assert.equal(processes.length, 3);
    assert.match(image, new RegExp(`PROTEUS_LISTEN=0\\.0\\.0\\.0:${port}`));
    for (const [name, service] of processes) {
      assert.equal(normalize(join('deploy', service.build.context)), '.', name);
      assert.ok(existsSync(join(root, service.build.dockerfile)), service.build.dockerfile);
      assert.deepEqual([service.read_only, service.cap_drop, service.security_opt], [true, ['ALL'], ['no-new-privileges:true']], name);
      const [source, target, how] = service.volumes[0].split(':');
      assert.deepEqual([target, how], [`${workingFolder}/proteus.toml`, 'ro']);
      assert.ok(existsSync(join(root, 'deploy', source)), source);
      assert.equal(service.depends_on.postgres.condition, 'service_healthy');
      const [kind, ...command] = service.healthcheck.test;
      assert.equal(kind, 'CMD');
      assertCommand(command);
      // Longer than draining takes.
      assert.ok(parseInt(service.stop_grace_period, 10) > Number(/grace = "(\d+)s"/.exec(read('cluster.toml'))[1]));
      assertVariables(Object.keys(environment(read(`${service.env_file}.example`))), read('cluster.toml'));
      assertPeers(read('cluster.toml'), service.environment.PROTEUS_PEER_URL);
      assert.equal(new URL(service.environment.PROTEUS_PEER_URL).hostname, service.networks.inside.ipv4_address);
    }
    assertConfiguration(read('cluster.toml'));
  });

  test('has a balancer that knows all of them, and a database whose password they have', () => {
    const addresses = processes.map(([, service]) => service.networks.inside.ipv4_address);
    const servers = [...read('nginx.conf').matchAll(/^ *server ([\d.]+):(\d+) /gm)].map(([, address, at]) => ({ address, port: Number(at) }));
    assert.deepEqual(servers, addresses.map((address) => ({ address, port })));
    const [{ subnet }] = compose.networks.inside.ipam.config;
    assert.ok(addresses.every((address) => address.startsWith(subnet.replace(/0\/24$/, ''))));
    assert.ok(read('cluster.toml').includes(`"${subnet}"`));
    const { balancer, postgres } = compose.services;
    assert.deepEqual(Object.keys(balancer.depends_on), processes.map(([name]) => name));
    assert.ok(balancer.ports.every((one) => one.startsWith('127.0.0.1:')));
    assert.match(balancer.user, /^[1-9]/);
    const of = environment(read(`${postgres.env_file}.example`));
    const url = new URL(environment(read('proteus.env.example')).PROTEUS_STORE);
    assert.deepEqual([url.hostname, url.username, url.password, url.pathname], ['postgres', of.POSTGRES_USER, of.POSTGRES_PASSWORD, `/${of.POSTGRES_DB}`]);
    for (const file of ['proteus.env', 'postgres.env', 'redis.env']) execFileSync('git', ['check-ignore', '--no-index', '-q', `deploy/${file}`], { cwd: root });
  });
});

/** The rights that docs/cluster.md requires of a Redis. */
const rights = /^ACL SETUSER proteus on (>PASSWORD .*)$/m.exec(readFileSync(join(root, 'docs/cluster.md'), 'utf8'))[1];

describe('the Redis of deploy/', () => {
  const { redis, ...others } = parse(read('compose.yaml'), { merge: true }).services;
  const { networks } = parse(read('compose.yaml'), { merge: true });
  const documents = parseAllDocuments(read('kubernetes.yaml')).map((one) => one.toJS());
  const named = (kind) => documents.find((one) => one.kind === kind && one.metadata.name === 'proteus-redis') ?? assert.fail(`no ${kind}`);

  test('REP-15 gives one user the rights that the program needs, keeps nothing on a disk, and evicts nothing', () => {
    const lines = read('redis.conf').split('\n');
    assert.ok(lines.includes(`user proteus on ${rights}`));
    for (const line of ['user default off', 'save ""', 'appendonly no', 'maxmemory-policy noeviction']) assert.ok(lines.includes(line), line);
    assert.equal(named('ConfigMap').data['redis.conf'], read('redis.conf'));
  });

  test('REP-15 is reached by the processes alone, with the password that they have', () => {
    assert.equal(redis.ports, undefined);
    assert.deepEqual(redis.networks, ['data']);
    assert.equal(networks.data.internal, true);
    for (const [name, service] of Object.entries(others)) assert.equal('data' in service.networks || service.networks.includes?.('data') === true, name !== 'balancer', name);
    assert.deepEqual([redis.read_only, redis.cap_drop, redis.security_opt], [true, ['ALL'], ['no-new-privileges:true']]);
    assert.match(redis.user, /^[1-9]/);
    const url = new URL(environment(read('proteus.env.example')).PROTEUS_REDIS);
    assert.deepEqual([url.hostname, url.username, url.password], ['redis', 'proteus', environment(read(`${redis.env_file}.example`)).REDIS_PASSWORD]);

    const [container] = named('Deployment').spec.template.spec.containers;
    assert.deepEqual(container.command, redis.command.map((word) => word.replaceAll('$$', '$')));
    assert.deepEqual(container.securityContext, { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } });
    const page = read('README.md');
    const [{ valueFrom }] = container.env;
    assert.ok(page.includes(`--from-literal=${valueFrom.secretKeyRef.key}=$REDIS_PASSWORD`));
    const [service] = named('Service').spec.ports;
    assert.ok(page.includes(`--from-literal=redis=redis://proteus:$REDIS_PASSWORD@proteus-redis:${service.port} `));
    const labels = named('Deployment').spec.template.metadata.labels;
    const { podSelector, ingress, policyTypes, egress } = named('NetworkPolicy').spec;
    for (const selector of [named('Service').spec.selector, named('Deployment').spec.selector.matchLabels, podSelector.matchLabels]) assert.deepEqual(selector, labels);
    const processes = documents.find(({ kind }) => kind === 'Deployment').spec.template.metadata.labels;
    assert.deepEqual(ingress, [{ from: [{ podSelector: { matchLabels: processes } }], ports: [{ protocol: 'TCP', port: service.port }] }]);
    assert.deepEqual([policyTypes, egress], [['Ingress', 'Egress'], undefined]);
  });
});

describe('deploy/kubernetes.yaml', () => {
  const documents = parseAllDocuments(read('kubernetes.yaml')).map((one) => {
    assert.deepEqual(one.errors, []);
    return one.toJS();
  });
  const of = (kind) => documents.find((one) => one.kind === kind) ?? assert.fail(`no ${kind}`);
  const deployment = of('Deployment').spec;
  const pod = deployment.template.spec;
  const [container] = pod.containers;
  const toml = of('ConfigMap').data['proteus.toml'];

  test('REP-07 replaces one process after the other, and never has fewer', () => {
    assert.deepEqual(deployment.strategy, { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } });
    assert.ok(deployment.replicas >= 3);
    const labels = deployment.template.metadata.labels;
    for (const selector of [deployment.selector.matchLabels, of('Service').spec.selector, of('PodDisruptionBudget').spec.selector.matchLabels]) assert.deepEqual(selector, labels);
    assert.equal(of('PodDisruptionBudget').spec.maxUnavailable, 1);
    const grace = Number(/grace = "(\d+)s"/.exec(toml)[1]);
    assert.ok(pod.terminationGracePeriodSeconds > grace + container.lifecycle.preStop.sleep.seconds);
  });

  test('runs as the image does: not as root, with nothing to write to', () => {
    assert.deepEqual([pod.securityContext.runAsUser, pod.securityContext.runAsGroup, pod.securityContext.runAsNonRoot], [user, group, true]);
    assert.deepEqual(container.securityContext, { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } });
    assertCommand(['/usr/bin/proteus', ...container.args]);
    assert.deepEqual(container.volumeMounts, [{ name: 'configuration', mountPath: workingFolder, readOnly: true }]);
    assert.equal(pod.volumes[0].configMap.name, of('ConfigMap').metadata.name);
    assertConfiguration(toml);
  });

  test('takes every secret from one that the page beside it makes', () => {
    const [address, peers, ...secrets] = container.env;
    assert.deepEqual(address, { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } });
    assert.equal(peers.name, 'PROTEUS_PEER_URL');
    assertPeers(toml, peers.value.replace('$(POD_IP)', '10.0.0.7'));
    assertVariables(secrets.map(({ name }) => name), toml);
    const page = read('README.md');
    for (const { name, value, valueFrom } of secrets) {
      assert.equal(value, undefined, name);
      assert.ok(page.includes(`--from-literal=${valueFrom.secretKeyRef.key}=`), valueFrom.secretKeyRef.key);
      assert.ok(page.includes(`secret generic ${valueFrom.secretKeyRef.name} `));
    }
  });

  test('asks paths that are there, at the port that the image has', async (context) => {
    const own = stopAfter(context);
    const [http, peers] = container.ports;
    assert.deepEqual(http, { name: 'http', containerPort: port });
    assert.ok(toml.includes(`:${peers.containerPort}"`));
    assert.equal(of('Service').spec.ports[0].targetPort, 'http');
    const folder = makeFolder();
    const gateway = own(await startServer('proteus', ['serve', '--listen', '127.0.0.1:0', '--data', join(folder, 'data')]));
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
      const { path, port: at } = container[probe].httpGet;
      assert.equal(at, 'http');
      await eventually(path, async () => (await fetch(new URL(path, gateway.url))).status === 200);
    }
  });
});

/**
 * Starts the Redis of compose.yaml on a free port, without its container. `url` is the URL in the environment file. The
 * result has `url` for this environment, and `stop()`.
 */
async function startRedisOfCompose(folder, url) {
  const { command, healthcheck } = parse(read('compose.yaml'), { merge: true }).services.redis;
  const at = await freePort();
  const address = `-h ${OWN_ADDRESS} -p ${at}`;
  const here = (text) => text.replaceAll('$$', '$').replaceAll('/tmp/', `${folder}/`).replace('/etc/redis/', join(root, 'deploy/'));
  const env = { ...process.env, ...environment(read('redis.env.example')) };
  const [shell, ...args] = command.map((word) => here(word));
  args.push(args.pop().replace(/redis-server \S+$/, `$& --port ${at} --bind ${OWN_ADDRESS}`));
  const server = spawnChild(shell, args, { env, stdio: 'ignore' });
  const [, check] = healthcheck.test;
  const healthy = async () => (await run('sh', ['-c', here(check).replace('redis-cli', `redis-cli ${address}`)], { env })).code === 0;
  const stop = () => {
    server.kill('SIGTERM');
    return within(10_000, 'the end of Redis', server.closed);
  };
  try {
    await eventually('Redis', healthy);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: url.replace('@redis:6379', `@${OWN_ADDRESS}:${at}`), stop };
}

const missing = !(hasPostgres && hasNginx && hasRedis) && 'PostgreSQL 15, nginx or Redis is not installed';

describe('the files of deploy/ in use', { skip: missing }, () => {
  test('REP-01 REP-02 three processes with the configuration of deploy/ serve behind its balancer, and are found healthy', async (context) => {
    const own = stopAfter(context);
    const folder = makeFolder();
    const postgres = own(await startPostgres());
    const gateways = [];
    const redis = own(await startRedisOfCompose(folder, environment(read('proteus.env.example')).PROTEUS_REDIS));
    writeFileSync(join(folder, 'proteus.toml'), read('cluster.toml').replace('0.0.0.0:9443', '127.0.0.1:0'));
    const env = { ...environment(read('proteus.env.example')), PROTEUS_STORE: postgres.dsn, PROTEUS_REDIS: redis.url };
    for (let i = 0; i < 3; ++i) gateways.push(own(await startServer('proteus', ['serve', '--config', join(folder, 'proteus.toml'), '--listen', '127.0.0.1:0', '--data', join(folder, 'none')], { env })));
    // The health check of compose.yaml as in the image: next to the configuration, with the image's listen address.
    const [command, ...args] = parse(read('compose.yaml'), { merge: true }).services['proteus-1'].healthcheck.test.slice(1);
    assertCommand([command, ...args]);
    const check = (listen) => execFileSync(program('proteus'), args, { cwd: folder, env: { ...process.env, ...env, PROTEUS_LISTEN: listen }, stdio: 'pipe' });
    for (const { url } of gateways) check(`0.0.0.0:${new URL(url).port}`);
    const nobody = await freePort();
    assert.throws(() => check(`0.0.0.0:${nobody}`));

    const balancer = own(await startDeployedBalancer(gateways.map((gateway) => gateway.url)));
    const { url } = balancer;
    const listed = await send(url, 'tools/list', {}, { token: env.AGENT_TOKEN });
    assert.equal(listed.status, 200);
    assert.equal((await send(url, 'tools/list', {}, { token: 'of-a-stranger' })).status, 401);
    const { processes } = await (await fetch(new URL('/admin/processes', url), { headers: { 'x-admin-secret': env.PROTEUS_ADMIN_SECRET } })).json();
    assert.equal(processes.filter(({ live }) => live).length, 3);
    assert.equal((await fetch(new URL('/metrics', url))).status, 404);
    assert.ok(!existsSync(join(folder, 'none')), 'a data directory was made');
    // A session outlives its process, which needs all the rights that this Redis grants.
    for (const gateway of gateways) await eventually('with Redis', async () => (await (await fetch(new URL('/readyz', gateway.url))).json()).redis === 'there');
    const session = await LegacySession.open(gateways[0].url, env.AGENT_TOKEN);
    session.url = url;
    const lists = async () => {
      const response = await session.post('tools/list', {}, env.AGENT_TOKEN);
      await response.text();
      return response.status;
    };
    assert.equal(await lists(), 200);
    // The balancer skips a process that is gone, whichever clients it served.
    const [gone, ...others] = gateways;
    await gone.kill();
    for (const token of ['a', 'b', 'c', 'd', 'e', 'f']) assert.equal((await send(url, 'tools/list', {}, { token })).status, 401);
    await eventually('taken over', async () => (await lists()) === 200);
    for (const { url: at } of others) assert.match(await (await fetch(new URL('/metrics', at))).text(), /^proteus_redis_failed_commands_total 0$/m);
  });
});
