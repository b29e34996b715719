import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { StoreError } from '../core/store.ts';

/** Where a store is, as `store.url` says it, and how to connect. */
export interface PgPlace {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** False: the connection is not encrypted. */
  readonly tls: TlsOptions | false;
  /** The tables are in a schema of their own. */
  readonly schema: string;
}

interface TlsOptions {
  readonly rejectUnauthorized: boolean;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** Skips the comparison of the host's name, for `verify-ca`. */
  readonly checkServerIdentity?: () => undefined;
}

const DEFAULT_PORT = 5432;
const DEFAULT_SCHEMA = 'instar';
const OPTIONS = new Set(['host', 'schema', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey']);
const MODES = ['disable', 'require', 'verify-ca', 'verify-full'];

/**
 * Reads `postgres://user:password@host:port/database?sslmode=…&schema=…`. A server on another machine needs TLS with a
 * certificate that is verified, unless the URL says otherwise. Throws `StoreError` that names the fix, never the password.
 */
export function readPgUrl(text: string, env: NodeJS.ProcessEnv = process.env): PgPlace {
  const url = parseUrl(text);
  for (const name of url.searchParams.keys())
    if (!OPTIONS.has(name)) throw wrong(`it has the unknown option "${name}" (${[...OPTIONS].join(', ')})`);
  const option = (name: string): string | undefined => url.searchParams.get(name) ?? undefined;
  const host = option('host') ?? (decodeURIComponent(url.hostname).replace(/^\[|\]$/g, '') || 'localhost');
  const database = decodeURIComponent(url.pathname.slice(1));
  if (database === '') throw wrong('it names no database: postgres://HOST/DATABASE');
  const schema = option('schema') ?? DEFAULT_SCHEMA;
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema))
    throw wrong(`"${schema}" is no name of a schema: small letters, digits and _`);
  return {
    host,
    port: url.port === '' ? DEFAULT_PORT : Number(url.port),
    database,
    user: decodeURIComponent(url.username) || env.PGUSER || undefined,
    password: decodeURIComponent(url.password) || env.PGPASSWORD || undefined,
    tls: tlsOf(host, option),
    schema,
  };
}

export const isPgUrl = (text: string): boolean => /^postgres(?:ql)?:\/\//.test(text);

/** For messages: without the password. */
export const describePlace = ({ host, port, database }: PgPlace): string =>
  host.startsWith('/') ? `${database} at ${host}` : `${database} at ${host}:${port}`;

function parseUrl(text: string): URL {
  if (!isPgUrl(text)) throw wrong('it does not begin with postgres://');
  try {
    // The parser of URLs wants a host; without one the server is on this machine.
    return new URL(text.replace(/^postgres(?:ql)?:\/\/(?=\/)/, 'postgres://localhost'));
  } catch {
    throw wrong('it is no URL: a password with special characters is percent-encoded, @ as %40');
  }
}

function tlsOf(host: string, option: (name: string) => string | undefined): TlsOptions | false {
  const mode = option('sslmode') ?? (isLocal(host) ? 'disable' : 'verify-full');
  if (!MODES.includes(mode)) throw wrong(`sslmode=${mode} is none of ${MODES.join(', ')}`);
  if (mode === 'disable') return false;
  const files = {
    ...read('ca', option('sslrootcert')),
    ...read('cert', option('sslcert')),
    ...read('key', option('sslkey')),
  };
  if (mode === 'require') return { ...files, rejectUnauthorized: false };
  if (mode === 'verify-full') return { ...files, rejectUnauthorized: true };
  return { ...files, rejectUnauthorized: true, checkServerIdentity: () => undefined };
}

const isLocal = (host: string): boolean =>
  host.startsWith('/') ||
  host === 'localhost' ||
  host === '::1' ||
  (isIP(host) === 4 && host.startsWith('127.'));

function read(name: 'ca' | 'cert' | 'key', file: string | undefined): Partial<TlsOptions> {
  if (file === undefined) return {};
  try {
    return { [name]: readFileSync(file, 'utf8') };
  } catch (error) {
    throw wrong(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const wrong = (why: string): StoreError => new StoreError('io', `store.url is wrong: ${why}`);
