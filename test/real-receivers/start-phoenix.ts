import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { vi } from 'vitest';
import { closedPort } from '../support/provider.ts';

const VERSION = '20.26.1';
const root = path.resolve(import.meta.dirname, '../../.cache/phoenix');

export interface Phoenix {
  readonly url: string;
  /** A query of its GraphQL, or of its REST API. */
  get(path: string): Promise<{ readonly data?: unknown }>;
  close(): Promise<void>;
}

/** Arize Phoenix, installed into `.cache/phoenix` if it is not there, with an empty database. */
export async function startPhoenix(): Promise<Phoenix> {
  const bin = path.join(root, 'bin', 'phoenix');
  if (!existsSync(bin)) {
    execFileSync('python3', ['-m', 'venv', root]);
    const pip = path.join(root, 'bin', 'pip');
    execFileSync(pip, ['install', '-q', `arize-phoenix==${VERSION}`], { stdio: 'inherit' });
  }
  const dir = mkdtempSync(path.join(tmpdir(), 'instar-phoenix-'));
  const [port, grpc] = [await closedPort(), await closedPort()];
  const child = spawn(bin, ['serve'], {
    stdio: 'ignore',
    env: {
      PATH: process.env.PATH,
      HOME: dir,
      PHOENIX_WORKING_DIR: dir,
      PHOENIX_HOST: '127.0.0.1',
      PHOENIX_PORT: String(port),
      PHOENIX_GRPC_PORT: String(grpc),
      PHOENIX_TELEMETRY_ENABLED: 'false',
    },
  });
  const exited = new Promise<void>((resolve) => child.on('exit', () => resolve()));
  const url = `http://127.0.0.1:${port}`;
  await vi.waitFor(async () => (await fetch(`${url}/healthz`)).text(), { timeout: 600_000, interval: 1000 });
  return {
    url,
    get: async (where) => (await fetch(`${url}${where}`)).json() as Promise<{ readonly data?: unknown }>,
    close: async () => {
      child.kill('SIGTERM');
      await exited;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
