import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { endChild, freePort } from './child-process.ts';

/** Other gateways that the bench can measure beside ours. None is a dependency; a run without them says so. */
export const PEERS = ['portkey', 'bifrost', 'litellm'] as const;
export type PeerName = (typeof PEERS)[number];

export const isPeer = (name: string): name is PeerName => PEERS.some((one) => one === name);

/** A peer that runs, in front of the bench's upstream. */
export interface Peer {
  readonly ok: true;
  readonly name: PeerName;
  readonly pid: number;
  readonly port: number;
  /** Where it takes chat requests. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly hasStreams: boolean;
  /** What it has recorded of a request when the reply has ended, in words. */
  readonly keeps: string;
  close(): Promise<void>;
}

interface NotStarted {
  readonly ok: false;
  readonly why: string;
}

const ROOT = path.resolve('.cache/peers');
const CHAT = '/v1/chat/completions';

/** The models that the bench asks for. */
const MODELS = ['bench-json', 'bench-sse', 'bench-paced', 'bench-slow'];

interface Recipe {
  readonly keeps: string;
  readonly path?: string;
  readonly hasStreams: boolean;
  /** Undefined when the program is here now, else why it is not. */
  install(): string | undefined;
  command(port: number, upstreamPort: number, home: string): readonly [program: string, ...args: string[]];
  headers?(upstreamPort: number): Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

const PORTKEY = '1.15.2';
const PORTKEY_ENTRY = path.join(ROOT, 'node_modules/@portkey-ai/gateway/build/start-server.js');
const LITELLM = path.join(ROOT, 'litellm/bin/litellm');
const BIFROST = path.join(ROOT, 'bifrost-http');

const RECIPES: Readonly<Record<PeerName, Recipe>> = {
  portkey: {
    keeps: 'nothing',
    // Its open-source build answers 500 to requests that stream from a custom host.
    hasStreams: false,
    install: () => {
      if (existsSync(PORTKEY_ENTRY)) return undefined;
      writeFileSync(path.join(ROOT, 'package.json'), '{ "private": true }\n');
      const flags = ['--no-audit', '--no-fund', '--ignore-scripts'];
      return tryTo(`install @portkey-ai/gateway ${PORTKEY}`, () =>
        execFileSync('npm', ['install', ...flags, `@portkey-ai/gateway@${PORTKEY}`], quietly(180)),
      );
    },
    command: (port) => [process.execPath, PORTKEY_ENTRY, `--port=${port}`, '--headless'],
    headers: (upstreamPort) => ({
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `http://127.0.0.1:${upstreamPort}/v1`,
    }),
  },
  bifrost: {
    keeps: 'a log in SQLite, written later and without fsync',
    path: '/openai/v1/chat/completions',
    hasStreams: true,
    install: () =>
      existsSync(BIFROST)
        ? undefined
        : `bifrost is built by hand: see lab/measure/gateway/README.md, then run again`,
    command: (port, upstreamPort, home) => {
      const key = { name: 'bench', value: 'sk-bench', models: ['*'], weight: 1 };
      const network_config = { base_url: `http://127.0.0.1:${upstreamPort}` };
      // Without them it fetches lists of prices and models from its maker at the start, and ends where it cannot.
      const empty = path.join(home, 'empty.json');
      writeFileSync(empty, '{}');
      const list = pathToFileURL(empty).href;
      const pricing = { pricing_url: list, model_parameters_url: list, mcp_library_sync_interval: 0 };
      writeFileSync(
        path.join(home, 'config.json'),
        JSON.stringify({
          client: { enable_logging: true, initial_pool_size: 100 },
          providers: { openai: { keys: [key], network_config } },
          framework: { pricing: { ...pricing, live_models_sync_interval: 0 } },
          config_store: { enabled: false },
          logs_store: { enabled: true, type: 'sqlite', config: { path: path.join(home, 'logs.db') } },
        }),
      );
      return [BIFROST, '-app-dir', home, '-port', String(port), '-host', '127.0.0.1', '-log-level', 'error'];
    },
  },
  litellm: {
    keeps: 'nothing (no database is configured)',
    // It serves only this machine here; without a key for its own callers it would not start.
    env: { LITELLM_LOG: 'ERROR', LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY: 'true' },
    hasStreams: true,
    install: () => {
      if (existsSync(LITELLM)) return undefined;
      return tryTo('install litellm[proxy] into a virtual environment', () => {
        execFileSync('python3', ['-m', 'venv', path.dirname(path.dirname(LITELLM))], quietly(60));
        const pip = path.join(path.dirname(LITELLM), 'pip');
        execFileSync(pip, ['install', '--quiet', 'litellm[proxy]'], quietly(600));
      });
    },
    command: (port, upstreamPort, home) => {
      const file = path.join(home, 'config.yaml');
      const api_base = `http://127.0.0.1:${upstreamPort}/v1`;
      const model_list = MODELS.map((name) => ({
        model_name: name,
        litellm_params: { model: `openai/${name}`, api_base, api_key: 'sk-bench' },
      }));
      // JSON is YAML.
      writeFileSync(file, JSON.stringify({ model_list, litellm_settings: { telemetry: false } }));
      return [LITELLM, '--config', file, '--port', String(port), '--host', '127.0.0.1', '--num_workers', '1'];
    },
  },
};

/** LiteLLM loads for a minute where the machine is busy. */
const START_MS = 240_000;

/** Starts a peer; installs it at the first use where a package registry has it. */
export async function startPeer(name: PeerName, upstreamPort: number): Promise<Peer | NotStarted> {
  const recipe = RECIPES[name];
  mkdirSync(ROOT, { recursive: true });
  const why = recipe.install();
  if (why !== undefined) return { ok: false, why };
  const home = mkdtempSync(path.join(ROOT, `${name}-home-`));
  const port = await freePort();
  const [program, ...args] = recipe.command(port, upstreamPort, home);
  const child = spawn(program, args, {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, NODE_ENV: 'production', ...recipe.env },
    stdio: 'ignore',
  });
  const close = async (): Promise<void> => {
    await endChild(child);
    rmSync(home, { recursive: true, force: true });
  };
  const headers = recipe.headers?.(upstreamPort) ?? {};
  const chat = recipe.path ?? CHAT;
  for (const until = performance.now() + START_MS; performance.now() < until && child.exitCode === null; ) {
    await sleep(200);
    if (!(await answers(`http://127.0.0.1:${port}${chat}`, headers))) continue;
    const { keeps, hasStreams } = recipe;
    return { ok: true, name, pid: child.pid ?? 0, port, path: chat, headers, hasStreams, keeps, close };
  }
  const { exitCode } = child;
  await close();
  const end =
    exitCode === null ? `did not answer within ${START_MS / 1000} s` : `ended with code ${exitCode}`;
  return { ok: false, why: `${name} is installed, but ${end}` };
}

const answers = (url: string, headers: Readonly<Record<string, string>>): Promise<boolean> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer sk-bench', ...headers },
    body: JSON.stringify({ model: 'bench-json', messages: [{ role: 'user', content: 'ready?' }] }),
  }).then(
    async (reply) => {
      await reply.arrayBuffer();
      return reply.status === 200;
    },
    () => false,
  );

const quietly = (seconds: number) =>
  ({ cwd: ROOT, stdio: 'ignore', timeout: seconds * 1000 }) as const satisfies object;

function tryTo(what: string, work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return `could not ${what}: ${String(error).split('\n', 1)[0]}`;
  }
}
