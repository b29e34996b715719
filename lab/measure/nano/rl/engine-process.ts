import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

export interface EngineProcess {
  readonly url: string;
  /** Now and at most so far, in bytes; 0 where the system does not say. */
  memory(): { readonly rss: number; readonly peak: number };
  /** Seconds of processor time so far. */
  cpuSeconds(): number;
  close(): Promise<void>;
}

const TICKS_PER_SECOND = 100;

/** `instar engine up` in a folder of its own. */
export async function startEngineProcess(): Promise<EngineProcess> {
  const home = mkdtempSync(path.join(tmpdir(), 'instar-nano-'));
  const child = spawn(
    process.execPath,
    ['dist/src/cli/main.js', '--home', home, '--json', 'engine', 'up', '--port', '0'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const url = await readUrl(child);
  const of = (file: string): string => readFileSync(`/proc/${child.pid}/${file}`, 'utf8');
  return {
    url,
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
