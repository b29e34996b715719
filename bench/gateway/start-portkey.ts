import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endChild, freePort } from './child.ts';

const VERSION = '1.15.2';
const ROOT = path.resolve('.cache/peers');
const ENTRY = path.join(ROOT, 'node_modules/@portkey-ai/gateway/build/start-server.js');

export interface Portkey {
  readonly ok: true;
  readonly pid: number;
  readonly port: number;
  readonly headers: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** Starts the peer gateway; installs it at the first use. */
export async function startPortkey(
  upstreamPort: number,
): Promise<Portkey | { readonly ok: false; readonly why: string }> {
  const why = install();
  if (why !== undefined) return { ok: false, why };
  const port = await freePort();
  const child = spawn(process.execPath, [ENTRY, `--port=${port}`, '--headless'], {
    env: { PATH: process.env.PATH, NODE_ENV: 'production' },
    stdio: 'ignore',
  });
  for (let tries = 0; tries < 100; tries++) {
    await sleep(100);
    const isUp = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
    if (!isUp) continue;
    return {
      ok: true,
      pid: child.pid ?? 0,
      port,
      headers: {
        'x-portkey-provider': 'openai',
        'x-portkey-custom-host': `http://127.0.0.1:${upstreamPort}/v1`,
      },
      close: () => endChild(child),
    };
  }
  await endChild(child);
  return { ok: false, why: `@portkey-ai/gateway ${VERSION} did not start` };
}

/** Undefined when it is installed; otherwise why it is not. */
function install(): string | undefined {
  if (existsSync(ENTRY)) return undefined;
  mkdirSync(ROOT, { recursive: true });
  writeFileSync(path.join(ROOT, 'package.json'), '{ "private": true }\n');
  try {
    const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', `@portkey-ai/gateway@${VERSION}`];
    execFileSync('npm', args, { cwd: ROOT, stdio: 'ignore', timeout: 180_000 });
    return undefined;
  } catch (error) {
    return `@portkey-ai/gateway ${VERSION} could not be installed: ${String(error).split('\n', 1)[0]}`;
  }
}
