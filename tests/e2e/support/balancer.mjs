// nginx in front of several gateways: round robin with a new connection for each request, or as configured in deploy/.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';

import { makeFolder, spawnChild } from './children.mjs';
import { eventually, root, within } from './programs.mjs';

const PROGRAM = '/usr/sbin/nginx';

export const hasNginx = existsSync(PROGRAM);

/** Does not buffer streams, and does not retry a request at another process, because the first may have begun it. */
const configuration = (folder, port, urls) => `
daemon off;
worker_processes 1;
user ${userInfo().username};
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  upstream processes {
    ${urls.map((url) => `server ${new URL(url).host};`).join(' ')}
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://processes;
      proxy_http_version 1.1;
      proxy_set_header Connection close;
      proxy_set_header Host $http_host;
      proxy_buffering off;
      proxy_next_upstream off;
      proxy_read_timeout 1h;
    }
  }
}
`;

/** Returns deploy/nginx.conf with these processes in place of those of compose.yaml. */
function deployed(folder, port, urls) {
  let text = readFileSync(join(root, 'deploy/nginx.conf'), 'utf8').replaceAll('/tmp/', `${folder}/`).replace('/dev/stderr', `${folder}/error.log`).replace('listen 8080;', `listen 127.0.0.1:${port};`);
  urls.forEach((url, i) => (text = text.replace(`10.89.42.1${i + 1}:8080`, new URL(url).host)));
  return `daemon off;\nuser ${userInfo().username};\n${text}`;
}

/**
 * Starts nginx in front of these URLs, with its files in `folder`. The result has `url`, `log()` with the error log,
 * and `stop()`.
 */
export function startBalancer(folder, urls) {
  return start(folder, urls, configuration);
}

/**
 * Starts nginx with the file of deploy/, which sends a request to the process with the fewest connections and skips a
 * process that it cannot reach.
 */
export function startDeployedBalancer(urls) {
  return start(makeFolder('nginx'), urls, deployed);
}

async function start(folder, urls, write) {
  mkdirSync(folder, { recursive: true });
  // nginx inherits a listening socket (variable NGINX), so no port has to be guessed.
  const listening = createServer();
  await new Promise((done) => listening.listen(0, '127.0.0.1', done));
  const { port } = listening.address();
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, write(folder, port, urls));
  const args = ['-p', folder, '-e', join(folder, 'error.log'), '-c', file];
  const child = spawnChild(PROGRAM, args, { env: { ...process.env, NGINX: '3;' }, stdio: ['ignore', 'ignore', 'ignore', listening._handle.fd] });
  // From here on only nginx accepts connections.
  listening.close();
  const url = new URL(new URL(urls[0]).pathname, `http://127.0.0.1:${port}`).href;
  const log = () => readFileSync(join(folder, 'error.log'), 'utf8');
  await eventually('nginx', async () => {
    if (child.exitCode !== null) throw new Error(`nginx ended with ${child.exitCode}\n${log()}`);
    return fetch(new URL('/readyz', url)).then(({ ok }) => ok, () => false);
  });
  return {
    url,
    log,
    stop: () => {
      child.kill('SIGTERM');
      return within(10_000, 'the end of nginx', child.closed);
    }
  };
}
