import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A real PostgreSQL of a test or benchmark, on loopback, in a folder of its own. */
export interface PostgresServer {
  readonly port: number;
  readonly dataDir: string;
  /** Of a server with TLS. */
  readonly certificate: string;
  readonly pid: number;
  /** The URL of a new, empty schema. */
  freshUrl(): string;
  url(database: string, user?: string, password?: string): string;
  /** Stops or continues all its processes: it neither answers nor refuses. */
  pause(isPaused: boolean): void;
  /** As `kill -9`, and as after a power cut the next start recovers. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** False when it has ended by itself. */
  isRunning(): boolean;
  stop(): Promise<void>;
}

const USER = 'instar';
const PASSWORD = 'p@ss word';

/** Where the programs of a server are; undefined when this machine has none. */
export function findPostgres(): string | undefined {
  const given = process.env.INSTAR_TEST_POSTGRES_BIN;
  if (given !== undefined) return given;
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root)
    ? readdirSync(root)
        .map(Number)
        .filter((version) => version >= 14)
        .toSorted((a, b) => b - a)
    : [];
  return versions
    .map((version) => join(root, String(version), 'bin'))
    .find((bin) => existsSync(join(bin, 'initdb')));
}

/**
 * `isQuick`: without waiting for the disk, for tests that kill nothing. `withTls`: with a certificate for localhost. `parent`: the
 * folder for its files; it is told to keep its log of changes small then.
 */
export async function startPostgres(
  bin: string,
  isQuick = false,
  withTls = false,
  parent?: string,
): Promise<PostgresServer> {
  const dir = mkdtempSync(join(parent ?? tmpdir(), 'instar-postgres-'));
  const dataDir = join(dir, 'data');
  const as = ownerOf(dir);
  const password = join(dir, 'password');
  execFileSync('sh', ['-c', 'printf %s "$1" > "$2"', 'sh', PASSWORD, password], as);
  const init = ['-D', dataDir, '-U', USER, '--auth=scram-sha-256', `--pwfile=${password}`, '-E', 'UTF8'];
  execFileSync(join(bin, 'initdb'), [...init, '--locale=C', '--no-sync'], { ...as, stdio: 'pipe', cwd: dir });
  const certificate = join(dir, 'server.crt');
  const keyFile = join(dir, 'server.key');
  const tls = withTls ? ['-l', '-c', `ssl_cert_file=${certificate}`, '-c', `ssl_key_file=${keyFile}`] : [];
  if (withTls) {
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    const files = ['-keyout', keyFile, '-out', certificate];
    const kind = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2'];
    execFileSync('openssl', [...kind, ...subject, ...files], { ...as, stdio: 'ignore', cwd: dir });
    chmodSync(keyFile, 0o600);
  }
  const port = await freePort();
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const options = [
      '-D',
      dataDir,
      '-p',
      String(port),
      '-h',
      '127.0.0.1',
      '-k',
      dir,
      ...(isQuick ? ['-F'] : []),
      ...(parent === undefined ? [] : ['-c', 'max_wal_size=32MB', '-c', 'min_wal_size=32MB']),
      ...tls,
    ];
    child = spawn(join(bin, 'postgres'), options, { ...as, stdio: 'ignore', cwd: dir });
    await untilReady(bin, port);
  };
  await start();
  const url = (database: string, user = USER, secret = PASSWORD): string =>
    `postgres://${user}:${encodeURIComponent(secret)}@127.0.0.1:${port}/${database}`;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const last = child;
    child = undefined;
    if (last === undefined || last.exitCode !== null || last.signalCode !== null) return;
    const ended = new Promise((resolve) => last.once('exit', resolve));
    last.kill(signal);
    await ended;
  };
  let schemas = 0;
  return {
    port,
    dataDir,
    certificate,
    get pid() {
      return child?.pid ?? 0;
    },
    url,
    freshUrl: () => `${url('postgres')}?schema=t${++schemas}`,
    pause: (isPaused) => {
      const main = child?.pid ?? 0;
      const workers = execFileSync('ps', ['-o', 'pid=', '--ppid', String(main)], { encoding: 'utf8' });
      for (const pid of [main, ...workers.trim().split(/\s+/).map(Number)])
        process.kill(pid, isPaused ? 'SIGSTOP' : 'SIGCONT');
    },
    kill: () => end('SIGKILL'),
    isRunning: () => child !== undefined && child.exitCode === null && child.signalCode === null,
    start,
    stop: async () => {
      await end('SIGINT');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** A server refuses to run as root. */
function ownerOf(dir: string): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const read = (what: '-u' | '-g'): number =>
    Number(execFileSync('id', [what, 'postgres'], { encoding: 'utf8' }));
  const owner = { uid: read('-u'), gid: read('-g') };
  chownSync(dir, owner.uid, owner.gid);
  return owner;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

async function untilReady(bin: string, port: number): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    try {
      execFileSync(join(bin, 'pg_isready'), ['-q', '-h', '127.0.0.1', '-p', String(port)], {
        stdio: 'ignore',
      });
      return;
    } catch {
      // Not yet.
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  throw new Error('PostgreSQL does not start');
}
