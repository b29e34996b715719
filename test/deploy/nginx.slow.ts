import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type PostgresServer, startPostgres } from '../../lab/measure/postgres-server.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { needPostgres } from '../support/need-postgres.ts';
import { closedPort, type Provider, startProvider } from '../support/provider.ts';
import { wholeReply } from '../support/samples.ts';

/** `deploy/nginx.conf` before three real gateways over one PostgreSQL: only its ports, paths and certificate are replaced. */
const NGINX = '/usr/sbin/nginx';
const CONFIG = path.resolve(import.meta.dirname, '../../deploy/nginx.conf');

let server: PostgresServer;
let provider: Provider;
let proxy: ChildProcess;
let port = 0;
let reply: (respond: Parameters<Parameters<typeof startProvider>[0]>[1]) => void;
const dir = mkdtempSync(path.join(tmpdir(), 'instar-nginx-'));
const homes: ReturnType<typeof makeHome>[] = [];
const daemons: RunningDaemon[] = [];
const key = (): string => daemons[0]?.key ?? '';
const plain = () => {
  reply = (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(wholeReply('openai-chat'));
  };
};

beforeAll(async () => {
  if (!existsSync(NGINX)) throw new Error('These tests need nginx (Debian: apt-get install nginx-light).');
  plain();
  server = await startPostgres(needPostgres(), true);
  provider = await startProvider((_, response) => reply(response));
  const store = server.freshUrl();
  for (const _ of [1, 2, 3]) {
    const home = makeHome({
      gateway: { allowedHosts: ['instar.example'] },
      providers: { local: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` } },
      models: { default: 'local/m', evolver: 'off', judge: 'off' },
      store: { url: store },
    });
    homes.push(home);
    // One key for all three, as a client behind the proxy has it.
    if (key() !== '') writeFileSync(path.join(home.dir, 'key'), key(), { mode: 0o600 });
    daemons.push(await startDaemon(home.dir));
  }
  port = await closedPort();
  const files = ['-keyout', path.join(dir, 'key.pem'), '-out', path.join(dir, 'fullchain.pem')];
  const kind = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=instar.example'];
  execFileSync('openssl', [...kind, '-addext', 'subjectAltName=DNS:instar.example', ...files], {
    stdio: 'ignore',
  });
  const text = daemons
    .reduce(
      (now, daemon, nth) => now.replace(`127.0.0.1:460${nth + 1}`, `127.0.0.1:${daemon.port}`),
      readFileSync(CONFIG, 'utf8'),
    )
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replaceAll('/etc/instar/tls', dir);
  const whole = `pid ${dir}/pid; error_log ${dir}/error.log; daemon off; events {} http { access_log off; ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${dir}/${name};`).join(' ')}\n${text}\n}`;
  writeFileSync(path.join(dir, 'nginx.conf'), whole);
  execFileSync(NGINX, ['-t', '-c', path.join(dir, 'nginx.conf'), '-p', dir], { stdio: 'pipe' });
  proxy = spawn(NGINX, ['-c', path.join(dir, 'nginx.conf'), '-p', dir], { stdio: 'ignore' });
  await vi.waitFor(async () => expect((await ask('/healthz', 'GET')).status).toBe(200), {
    timeout: 30_000,
    interval: 200,
  });
});
afterAll(async () => {
  proxy?.kill('SIGTERM');
  for (const { child, exited } of daemons) {
    child.kill('SIGTERM');
    await exited;
  }
  for (const home of homes) home.remove();
  await provider?.close();
  await server?.stop();
  rmSync(dir, { recursive: true, force: true });
});

interface ProxyAnswer {
  readonly status: number;
  readonly text: string;
  /** When each piece of the body came. */
  readonly pieces: readonly string[];
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

function ask(of: string, method = 'POST', body = '', session = 's', onPiece?: (piece: string) => void) {
  return new Promise<ProxyAnswer>((resolve, reject) => {
    const request = https.request(
      {
        host: '127.0.0.1',
        port,
        path: of,
        method,
        agent: false,
        servername: 'instar.example',
        ca: readFileSync(path.join(dir, 'fullchain.pem')),
        headers: {
          host: 'instar.example',
          'content-type': 'application/json',
          'x-instar-key': key(),
          'x-instar-session': session,
        },
      },
      (response) => {
        const pieces: string[] = [];
        response.on('data', (chunk: Buffer) => {
          pieces.push(chunk.toString());
          onPiece?.(chunk.toString());
        });
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            text: pieces.join(''),
            pieces,
            headers: response.headers,
          }),
        );
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}
const chat = (content: string, stream = false): string =>
  JSON.stringify({ model: 'default', stream, messages: [{ role: 'user', content }] });

describe('deploy/nginx.conf', () => {
  it('reaches a gateway over TLS, and the turn is recorded', async () => {
    plain();
    const { status, headers } = await ask('/v1/chat/completions', 'POST', chat('hello'));
    expect(status).toBe(200);
    expect(headers['x-instar-turn']).toMatch(/^t_/);
  });

  it('passes each event of a stream on as it comes (not all of them at the end)', async () => {
    let go: () => void = () => undefined;
    reply = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const event = (content: string) =>
        `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;
      response.write(event('first'));
      go = () => response.end(`${event('second')}data: [DONE]\n\n`);
    };
    let first: () => void = () => undefined;
    const began = new Promise<void>((resolve) => {
      first = resolve;
    });
    const asked = ask('/v1/chat/completions', 'POST', chat('stream', true), 'stream', (piece) => {
      if (piece.includes('first')) first();
    });
    // The provider sends the rest only after the client has the first event: with a buffer this would never end.
    await began;
    go();
    expect((await asked).text).toContain('[DONE]');
    plain();
  });

  it('takes a body of 20 MB', async () => {
    const { status } = await ask('/v1/chat/completions', 'POST', chat('x'.repeat(20_000_000)), 'large');
    expect(status).toBe(200);
  });

  it('serves while one of the three gateways is killed, and answers every request once', async () => {
    const before = provider.seen.length;
    daemons[1]?.child.kill('SIGKILL');
    await daemons[1]?.exited;
    for (let nth = 0; nth < 30; nth++) {
      const { status } = await ask('/v1/chat/completions', 'POST', chat(`number ${nth}`), `killed-${nth}`);
      expect(status).toBe(200);
    }
    expect(provider.seen.length - before).toBe(30);
  });

  it('does not show the counters to clients', async () => {
    expect((await ask('/metrics', 'GET')).status).toBe(404);
  });
});

describe('the unit files', () => {
  it.each(['instar.service', 'instar-worker.service'])('%s is accepted by systemd', (name) => {
    const file = path.resolve(import.meta.dirname, '../../deploy', name);
    const said = execFileSync('sh', ['-c', `systemd-analyze verify "$1" 2>&1 || true`, 'sh', file], {
      encoding: 'utf8',
    });
    // A machine without a user `instar` may say so.
    const complaints = said.split('\n').filter((line) => line.includes(name) && !/user|group/i.test(line));
    expect(complaints).toEqual([]);
  });
});
