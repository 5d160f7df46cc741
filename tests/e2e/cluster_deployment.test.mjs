// What deploy/ has for several processes: the files are read as those read them who run them, every name in them is one of
// the program's, and the processes are started with them behind the balancer.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { describe, test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';

import { hasNginx, startDeployedBalancer } from './support/balancer.mjs';
import { freePort } from './support/free_port.mjs';
import { makeFolder } from './support/gateway.mjs';
import { LegacySession } from './support/legacy_raw.mjs';
import { hasPostgres, startPostgres } from './support/postgres.mjs';
import { eventually, program, root, startServer, within } from './support/programs.mjs';
import { send } from './support/raw.mjs';
import { hasRedis } from './support/redis.mjs';

const read = (name) => readFileSync(join(root, 'deploy', name), 'utf8');
const binary = readFileSync(program('proteus'));

/** The lines `NAME=value` of a file of the environment. */
function environment(text) {
  return Object.fromEntries(text.split('\n').filter((line) => /^\w+=/.test(line)).map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}

/** The variables that a configuration names. */
const namedBy = (toml) => [...toml.matchAll(/^\w+_env = "(\w+)"/gm)].map(([, name]) => name);

/** That a process gets every variable it needs, and none that nobody reads. */
function assertVariables(given, toml) {
  const documented = readFileSync(join(root, 'docs/configuration.md'), 'utf8');
  for (const name of given) {
    if (namedBy(toml).includes(name)) continue;
    assert.ok(binary.includes(name), `the program knows no ${name}`);
    assert.ok(documented.includes(`\`${name}\``), `${name} is not documented`);
  }
  for (const name of [...namedBy(toml), 'PROTEUS_PEPPER', 'PROTEUS_ADMIN_SECRET', 'PROTEUS_STORE', 'PROTEUS_REDIS']) assert.ok(given.includes(name), `${name} is missing`);
}

/** By which URL others reach the process; the rest of its environment is the same for all. */
function assertPeers(toml, url) {
  const [, at] = /^peer_listen = "0\.0\.0\.0:(\d+)"$/m.exec(toml);
  assert.equal(new URL(url).port, at);
  assert.equal(new URL(url).protocol, 'https:');
  assert.ok(binary.includes('PROTEUS_PEER_URL'));
}

function assertConfiguration(toml) {
  const { folder, forget } = makeFolder();
  try {
    writeFileSync(join(folder, 'proteus.toml'), toml);
    execFileSync(program('proteus'), ['check', '--config', join(folder, 'proteus.toml')], { stdio: 'pipe', env: { ...process.env, PROTEUS_PEER_URL: 'https://10.0.0.7:9443' } });
  } finally {
    forget();
  }
  assert.match(toml, /^\[cluster\]$/m);
}

/** That a command is one of the image's program. */
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
      // Longer than it takes to drain.
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

/** The rights that docs/cluster.md says a Redis has to give. */
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

  test('asks paths that are there, at the port that the image has', async () => {
    const [http, peers] = container.ports;
    assert.deepEqual(http, { name: 'http', containerPort: port });
    assert.ok(toml.includes(`:${peers.containerPort}"`));
    assert.equal(of('Service').spec.ports[0].targetPort, 'http');
    const { folder, forget } = makeFolder();
    const gateway = await startServer('proteus', ['serve', '--listen', '127.0.0.1:0', '--data', join(folder, 'data')]);
    try {
      for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
        const { path, port: at } = container[probe].httpGet;
        assert.equal(at, 'http');
        await eventually(path, async () => (await fetch(new URL(path, gateway.url))).status === 200);
      }
    } finally {
      await gateway.stop();
      forget();
    }
  });
});

/** The Redis of compose.yaml, at any port, where the image runs it as it is. The result has `url`, for the environment of the processes, and `stop()`. */
async function startRedisOfCompose(folder, url) {
  const { command, healthcheck } = parse(read('compose.yaml'), { merge: true }).services.redis;
  const at = await freePort();
  const here = (text) => text.replaceAll('$$', '$').replaceAll('/tmp/', `${folder}/`).replace('/etc/redis/', join(root, 'deploy/'));
  const env = { ...process.env, ...environment(read('redis.env.example')) };
  const [shell, ...args] = command.map((word) => here(word));
  args.push(args.pop().replace(/redis-server \S+$/, `$& --port ${at} --bind 127.0.0.1`));
  const server = spawn(shell, args, { env, stdio: 'ignore' });
  const ended = new Promise((done) => server.once('exit', done));
  const [, check] = healthcheck.test;
  const healthy = () => spawnSync('sh', ['-c', here(check).replace('redis-cli', `redis-cli -p ${at}`)], { env, stdio: 'ignore' }).status === 0;
  await eventually('Redis', healthy);
  const stop = async () => {
    server.kill('SIGTERM');
    return within(10_000, 'the end of Redis', ended);
  };
  return { url: url.replace('@redis:6379', `@127.0.0.1:${at}`), stop };
}

const missing = !(hasPostgres && hasNginx && hasRedis) && 'PostgreSQL 15, nginx or Redis is not installed';

describe('the files of deploy/ in use', { skip: missing }, () => {
  test('REP-01 REP-02 three processes with the configuration of deploy/ serve behind its balancer, and are found healthy', async () => {
    const { folder, forget } = makeFolder();
    const postgres = startPostgres();
    const gateways = [];
    let balancer;
    let redis;
    try {
      redis = await startRedisOfCompose(folder, environment(read('proteus.env.example')).PROTEUS_REDIS);
      writeFileSync(join(folder, 'proteus.toml'), read('cluster.toml').replace('0.0.0.0:9443', '127.0.0.1:0'));
      const env = { ...environment(read('proteus.env.example')), PROTEUS_STORE: postgres.dsn, PROTEUS_REDIS: redis.url };
      for (let i = 0; i < 3; ++i) gateways.push(await startServer('proteus', ['serve', '--config', join(folder, 'proteus.toml'), '--listen', '127.0.0.1:0', '--data', join(folder, 'none')], { env }));
      // The health check of compose.yaml, where the image runs it: beside the configuration, with the address of the image.
      const [command, ...args] = parse(read('compose.yaml'), { merge: true }).services['proteus-1'].healthcheck.test.slice(1);
      assertCommand([command, ...args]);
      const check = (listen) => execFileSync(program('proteus'), args, { cwd: folder, env: { ...process.env, ...env, PROTEUS_LISTEN: listen }, stdio: 'pipe' });
      for (const { url } of gateways) check(`0.0.0.0:${new URL(url).port}`);
      const nobody = await freePort();
      assert.throws(() => check(`0.0.0.0:${nobody}`));

      balancer = await startDeployedBalancer(gateways.map((gateway) => gateway.url));
      const { url } = balancer;
      const listed = await send(url, 'tools/list', {}, { token: env.AGENT_TOKEN });
      assert.equal(listed.status, 200);
      assert.equal((await send(url, 'tools/list', {}, { token: 'of-a-stranger' })).status, 401);
      const { processes } = await (await fetch(new URL('/admin/processes', url), { headers: { 'x-admin-secret': env.PROTEUS_ADMIN_SECRET } })).json();
      assert.equal(processes.filter(({ live }) => live).length, 3);
      assert.equal((await fetch(new URL('/metrics', url))).status, 404);
      assert.ok(!existsSync(join(folder, 'none')), 'a data directory was made');
      // A session outlives its process, which needs all the rights that this Redis gives.
      for (const gateway of gateways) await eventually('with Redis', async () => (await (await fetch(new URL('/readyz', gateway.url))).json()).redis === 'there');
      const session = await LegacySession.open(gateways[0].url, env.AGENT_TOKEN);
      session.url = url;
      const lists = async () => {
        const response = await session.post('tools/list', {}, env.AGENT_TOKEN);
        await response.text();
        return response.status;
      };
      assert.equal(await lists(), 200);
      // One that is gone is passed over, whomever it served.
      const [gone] = gateways.splice(0, 1);
      gone.signal('SIGKILL');
      await gone.ended;
      for (const token of ['a', 'b', 'c', 'd', 'e', 'f']) assert.equal((await send(url, 'tools/list', {}, { token })).status, 401);
      await eventually('taken over', async () => (await lists()) === 200);
      for (const { url: at } of gateways) assert.match(await (await fetch(new URL('/metrics', at))).text(), /^proteus_redis_failed_commands_total 0$/m);
    } finally {
      if (balancer) await within(10_000, 'the end of nginx', balancer.stop());
      for (const gateway of gateways) await gateway.stop();
      await redis?.stop();
      await postgres.stop();
      forget();
    }
  });
});
