import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { createEngineKey } from '../../../../src/config/engine-key.ts';
import type { Sampler } from '../../../../src/core/training.ts';
import type { TinkerEngine } from '../../../../train/tinker/tinker-engine.ts';

interface EngineProcess {
  readonly url: string;
  readonly key: string;
  /** Current and peak memory in bytes; 0 if unavailable. */
  memory(): { readonly rss: number; readonly peak: number };
  /** Seconds of processor time so far. */
  cpuSeconds(): number;
  close(): Promise<void>;
}

const TICKS_PER_SECOND = 100;

/** Starts `instar engine up` with its own home. */
export async function startEngineProcess(): Promise<EngineProcess> {
  const home = mkdtempSync(path.join(tmpdir(), 'instar-nano-'));
  const key = createEngineKey();
  const child = spawn(
    process.execPath,
    ['dist/src/cli/main.js', '--home', home, '--json', 'engine', 'up', '--port', '0'],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, INSTAR_ENGINE_KEY: key } },
  );
  const url = await readUrl(child);
  const of = (file: string): string => readFileSync(`/proc/${child.pid}/${file}`, 'utf8');
  return {
    url,
    key,
    memory: () => {
      if (process.platform !== 'linux') return { rss: 0, peak: 0 };
      const status = of('status');
      const kilobytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0);
      return { rss: 1024 * kilobytes('VmRSS'), peak: 1024 * kilobytes('VmHWM') };
    },
    cpuSeconds: () => {
      if (process.platform !== 'linux') return 0;
      const fields = of('stat').split(') ')[1]?.split(' ') ?? [];
      return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
    },
    close: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
      rmSync(home, { recursive: true, force: true });
    },
  };
}

async function readUrl(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('the engine says nothing');
  let text = '';
  for await (const line of createInterface(child.stdout)) {
    text += line;
    const url = /"url":\s*"([^"]+)"/.exec(text)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error('the engine ended before it was ready');
}

type Model = Awaited<ReturnType<TinkerEngine['createModel']>>;

interface TimedEngine {
  readonly engine: TinkerEngine;
  /** Milliseconds with at least one request at the engine. */
  busyMs(): number;
}

/** Measures the time with requests at the engine; concurrent requests count once. */
export function withBusyTime(engine: TinkerEngine): TimedEngine {
  let outstanding = 0;
  let since = 0;
  let busy = 0;
  const during = async <T>(work: Promise<T>): Promise<T> => {
    if (outstanding++ === 0) since = performance.now();
    try {
      return await work;
    } finally {
      if (--outstanding === 0) busy += performance.now() - since;
    }
  };
  const watchModel = (model: Model): Model => ({
    ...model,
    forward: (input, signal) => during(model.forward(input, signal)),
    forwardBackward: (input, signal) => {
      const passed = model.forwardBackward(input, signal);
      return { ...passed, done: during(passed.done) };
    },
    optimStep: (adam, signal) => {
      const stepped = model.optimStep(adam, signal);
      return { ...stepped, done: during(stepped.done) };
    },
    saveState: (name) => during(model.saveState(name)),
    saveForSampler: (name) => during(model.saveForSampler(name)),
  });
  const watchSampler = (sampler: Sampler): Sampler => ({
    sample: (request, signal) => during(sampler.sample(request, signal)),
    close: () => sampler.close(),
  });
  return {
    busyMs: () => busy,
    engine: {
      ...engine,
      createModel: async (options) => watchModel(await during(engine.createModel(options))),
      openModel: async (path) => watchModel(await during(engine.openModel(path))),
      openSampler: async (path) => watchSampler(await during(engine.openSampler(path))),
    },
  };
}
