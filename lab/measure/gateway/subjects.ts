import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endChild, freePort, startChild } from './child-process.ts';
import type { LoadOrder, LoadResult } from './load-order.ts';
import { type RecordedTurns, startInstar } from './start-instar.ts';
import { createRequest, createText } from './traffic.ts';

const VERSION = '1.15.2';
const ROOT = path.resolve('.cache/peers');
const ENTRY = path.join(ROOT, 'node_modules/@portkey-ai/gateway/build/start-server.js');

interface Portkey {
  readonly ok: true;
  readonly pid: number;
  readonly port: number;
  readonly headers: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** Starts the peer gateway; installs it at the first use. */
async function startPortkey(
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

const SUBJECTS = ['direct', 'pass-through', 'instar', 'instar + block', 'portkey'] as const;
export type SubjectName = (typeof SUBJECTS)[number];

/** A gateway under load, or the upstream itself. */
export interface GatewaySubject {
  readonly name: SubjectName;
  readonly port: number;
  /** Undefined for the upstream itself. */
  readonly pid?: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly isExact: boolean;
  /** Whether it can stream at all. */
  readonly hasStreams: boolean;
  kept?(): Promise<RecordedTurns>;
}

/** The processes of one run. */
export interface GatewayBench {
  readonly main: string;
  readonly upstreamPort: number;
  readonly subjects: readonly GatewaySubject[];
  /** What could not be measured, and why. */
  readonly notes: readonly string[];
  /** Sends one order to the load process. */
  load(order: LoadOrder): Promise<LoadResult>;
  close(): Promise<void>;
}

/** As long as the lesson block of a busy agent. */
export const BLOCK = createText(4)(2048);

export async function openBench(main: string, withPortkey: boolean): Promise<GatewayBench> {
  const notes: string[] = [];
  const upstream = await startChild('upstream');
  const loader = await startChild('load');
  const passThrough = await startChild('pass-through', [`http://127.0.0.1:${upstream.port}`]);
  const upstreamPort = upstream.port;
  const plain = await startInstar({ main, upstreamPort });
  const spliced = await startInstar({ main, upstreamPort, block: BLOCK });
  const portkey = withPortkey
    ? await startPortkey(upstreamPort)
    : ({ ok: false, why: 'portkey was skipped' } as const);
  const usual = { headers: {}, isExact: true, hasStreams: true };
  const subjects: GatewaySubject[] = [
    { name: 'direct', port: upstreamPort, ...usual },
    { name: 'pass-through', port: passThrough.port, pid: passThrough.pid ?? 0, ...usual },
    { name: 'instar', port: plain.port, pid: plain.pid, kept: plain.kept, ...usual, headers: plain.headers },
    {
      ...usual,
      name: 'instar + block',
      port: spliced.port,
      pid: spliced.pid,
      kept: spliced.kept,
      headers: spliced.headers,
    },
  ];
  if (!portkey.ok) notes.push(portkey.why);
  else {
    const { port, pid, headers } = portkey;
    subjects.push({ name: 'portkey', port, pid, headers, isExact: false, hasStreams: false });
  }
  notes.push(...(await findFaults(subjects)));
  const ours: ChildProcess[] = [loader, passThrough, upstream];
  return {
    main,
    upstreamPort,
    subjects,
    notes,
    load: async (order) => {
      loader.send(order);
      const [tally] = (await once(loader, 'message')) as [LoadResult];
      return tally;
    },
    close: async () => {
      await Promise.all([plain.close(), spliced.close(), portkey.ok ? portkey.close() : undefined]);
      await Promise.all(ours.map(endChild));
    },
  };
}

/** Sends one request through each: it must arrive unchanged, or with the block where there is one. */
async function findFaults(subjects: readonly GatewaySubject[]): Promise<string[]> {
  const faults: string[] = [];
  for (const { name, port, headers, isExact } of subjects) {
    const { bytes, bodyLength } = createRequest(port, { model: 'bench-json', size: '1 KB', headers });
    const body = bytes.subarray(bytes.length - bodyLength);
    const known = { 'content-type': 'application/json', 'x-instar-session': 'bench-probe', ...headers };
    const reply = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      headers: known,
      body,
    });
    await reply.arrayBuffer();
    const added = Number(reply.headers.get('x-bench-received') ?? bodyLength) - bodyLength;
    if (reply.status !== 200) faults.push(`${name} answers ${reply.status}`);
    if (name === 'instar + block' && added < BLOCK.length) faults.push(`${name} does not insert the block`);
    if (name !== 'instar + block' && isExact && added !== 0)
      faults.push(`${name} changes requests by ${added} bytes`);
  }
  return faults;
}
