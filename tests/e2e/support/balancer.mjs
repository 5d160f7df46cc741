// nginx in front of several gateways: each request goes to the next one, by a connection of its own; or as deploy/ has it.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

import { eventually, root } from './programs.mjs';

const PROGRAM = '/usr/sbin/nginx';

export const hasNginx = existsSync(PROGRAM);

/** Streams pass as they come, and nginx asks no second process what a first one may have begun. */
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

/** What deploy/nginx.conf says, with these processes in place of those of compose.yaml. */
function deployed(folder, port, urls) {
  let text = readFileSync(join(root, 'deploy/nginx.conf'), 'utf8').replaceAll('/tmp/', `${folder}/`).replace('/dev/stderr', `${folder}/error.log`).replace('listen 8080;', `listen 127.0.0.1:${port};`);
  urls.forEach((url, i) => (text = text.replace(`10.89.42.1${i + 1}:8080`, new URL(url).host)));
  return `daemon off;\nuser ${userInfo().username};\n${text}`;
}

/** Starts it in front of these URLs, with its files in `folder`. The result has `url`, `log()`, what it complained about, and `stop()`. */
export function startBalancer(folder, urls) {
  return start(folder, urls, configuration);
}

/** The same by the file of deploy/, which keeps connections, sends a request to the process with the fewest, and passes over one that it cannot reach. Its files go with it. */
export async function startDeployedBalancer(urls) {
  const folder = mkdtempSync(join(tmpdir(), 'proteus-nginx-'));
  const balancer = await start(folder, urls, deployed);
  const stop = async () => {
    const how = await balancer.stop();
    rmSync(folder, { recursive: true, force: true });
    return how;
  };
  return { ...balancer, stop };
}

async function start(folder, urls, write) {
  mkdirSync(folder, { recursive: true });
  // nginx takes sockets over that listen already, so that no port has to be guessed.
  const listening = createServer();
  await new Promise((done) => listening.listen(0, '127.0.0.1', done));
  const { port } = listening.address();
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, write(folder, port, urls));
  const args = ['-p', folder, '-e', join(folder, 'error.log'), '-c', file];
  const child = spawn(PROGRAM, args, { env: { ...process.env, NGINX: '3;' }, stdio: ['ignore', 'ignore', 'ignore', listening._handle.fd] });
  const ended = new Promise((done) => child.once('exit', (code, signal) => done(signal ?? code)));
  let how;
  void ended.then((value) => (how = value));
  // From here on only nginx accepts what comes.
  listening.close();
  const url = new URL(new URL(urls[0]).pathname, `http://127.0.0.1:${port}`).href;
  await eventually('nginx', async () => {
    if (how !== undefined) throw new Error(`nginx ended with ${how}\n${readFileSync(join(folder, 'error.log'), 'utf8')}`);
    return fetch(new URL('/readyz', url)).then(({ ok }) => ok, () => false);
  });
  return {
    url,
    log: () => readFileSync(join(folder, 'error.log'), 'utf8'),
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    }
  };
}
