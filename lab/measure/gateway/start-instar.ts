import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import type { Lesson } from '../../../src/core/lesson.ts';
import { MINILM } from '../../../src/embed/minilm-embed.ts';
import { STATIC } from '../../../src/embed/static-embed.ts';
import { createEngineCounts, type EngineCounts } from '../measured.ts';
import { taughtText } from '../plain-lesson.ts';
import { endChild, endWithUs, untilQuiet } from './child-process.ts';
import { MODELS } from './traffic.ts';

interface InstarOptions {
  /** The built command line: dist/src/cli/main.js. */
  readonly main: string;
  readonly upstreamPort: number;
  /** The text of a skill that every session's prompt then contains. */
  readonly block?: string;
  /** Further arguments for node itself. */
  readonly nodeArgs?: readonly string[];
  /** An existing home. */
  readonly home?: string;
  /** Further variables of its environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A lesson as it is added. */
export type TaughtLesson = Pick<Lesson, 'id' | 'text'>;

/** How many turns were recorded, and how many were dropped. */
export interface RecordedTurns {
  readonly recorded: number;
  readonly lost: number;
}

export interface InstarProcess {
  readonly pid: number;
  readonly port: number;
  readonly home: string;
  /** Identify a known caller: lessons are shown to no other. */
  readonly headers: Readonly<Record<string, string>>;
  kept(): Promise<RecordedTurns>;
  /** GET on the control API. */
  ask(where: string): Promise<unknown>;
  /** Adds live lessons, as the owner. */
  teach(lessons: readonly TaughtLesson[]): Promise<void>;
  /** Retires a lesson, as the owner. */
  forget(id: string): Promise<void>;
  /** Resolves when every lesson has its embeddings. */
  untilIndexed(): Promise<void>;
  /** Resolves when no work is left, as its own counters say: true; false when there is still some after `patienceMs`. */
  untilIdle(patienceMs: number): Promise<boolean>;
  /** How many tasks were compared with lessons since the start, by what compared them. */
  engines(): Promise<EngineCounts>;
  close(): Promise<void>;
}

/** Of `GET /api/status`; an older version lacks some. */
interface StatusCounts {
  readonly requests?: { readonly inFlight?: number };
  /** What waits, and why: failures that wait for the model that reads what was said have this code. */
  readonly waiting?: readonly { readonly code: string }[];
  readonly recording?: Partial<RecordedTurns> & { readonly pending?: number };
  readonly learning?: { readonly pending?: number };
  readonly library?: {
    readonly index?: {
      readonly waiting?: number;
      readonly failure?: string;
      readonly recalls?: { readonly bySentences: number; readonly firstLooks: number };
    };
    readonly isWritingFiles?: boolean;
  };
}

const POLL_MS = 250;
const POLL_REST = 20;

/** Undefined: a version without the counters. */
function isIdle({ recording, learning, library, requests, waiting = [] }: StatusCounts): boolean | undefined {
  if (recording?.pending === undefined || learning?.pending === undefined) return undefined;
  const counts = [requests?.inFlight, recording.pending, learning.pending, library?.index?.waiting];
  if (library?.isWritingFiles === true || waiting.some(({ code }) => code === 'learning-now')) return false;
  return counts.every((count) => (count ?? 0) === 0);
}

/** A new, empty home whose only provider is the upstream. */
export function createHome(upstreamPort: number): string {
  const home = mkdtempSync(path.join(tmpdir(), 'instar-bench-'));
  const provider = {
    wire: ['openai-chat', 'anthropic'],
    baseUrl: `http://127.0.0.1:${upstreamPort}/v1`,
    models: MODELS,
  };
  const library = { tokenBudget: 4000, domains: [{ domain: 'bench', agent: '*' }] };
  writeFileSync(path.join(home, 'config.json'), JSON.stringify({ providers: { bench: provider }, library }));
  return home;
}

/** The product as users run it: a separate process with recording on. */
export async function startInstar(options: InstarOptions): Promise<InstarProcess> {
  const { main, upstreamPort, block, nodeArgs = [] } = options;
  const home = options.home ?? createHome(upstreamPort);
  mkdirSync('.cache/bench', { recursive: true });
  const { PATH } = process.env;
  const child = spawn(
    process.execPath,
    [...nodeArgs, main, 'up', '--port', '0', '--home', home, '--log', 'json'],
    {
      // Without the caller's environment: an API key in it would add a provider.
      env: { PATH, HOME: home, ...options.env },
      stdio: ['ignore', 'pipe', openSync('.cache/bench/instar.log', 'a')],
    },
  );
  endWithUs(child);
  if (child.stdout === null) throw new Error('instar has no standard output');
  const lines = createInterface({ input: child.stdout });
  const port = await new Promise<number>((resolve, reject) => {
    lines.on('line', (line) => {
      const ready = /^instar ready \S+:(\d+)/.exec(line);
      if (ready) resolve(Number(ready[1]));
    });
    child.on('exit', (code) => reject(new Error(`instar exited with ${code}; see .cache/bench/instar.log`)));
  });
  const ask = async (where: string): Promise<unknown> => {
    const authorization = `Bearer ${readKey(home, 'owner-key')}`;
    const reply = await fetch(`http://127.0.0.1:${port}${where}`, { headers: { authorization } });
    if (!reply.ok) throw new Error(`GET ${where}: ${reply.status} ${await reply.text()}`);
    return reply.json();
  };
  const status = async (): Promise<StatusCounts> => (await ask('/api/status')) as StatusCounts;
  const untilIdle = async (patienceMs: number): Promise<boolean> => {
    const until = performance.now() + patienceMs;
    // Twice in a row: what was published is indexed a moment later.
    for (let quiet = 0; quiet < 2; ) {
      if (performance.now() > until) return false;
      const askedAt = performance.now();
      const answer = isIdle(await status());
      const tookMs = performance.now() - askedAt;
      if (answer === undefined) await untilQuiet(child.pid ?? 0);
      if (answer === undefined) return true;
      quiet = answer ? quiet + 1 : 0;
      // A status over a large library takes long: asking must not be most of what is measured.
      await sleep(Math.max(POLL_MS, POLL_REST * tookMs));
    }
    return true;
  };
  const change = async (changes: readonly object[]): Promise<void> => {
    const reply = await fetch(`http://127.0.0.1:${port}/api/lessons`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${readKey(home, 'owner-key')}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ changes }),
    });
    const told = await reply.text();
    if (!told.includes('"applied"')) throw new Error(`the lessons were not changed: ${told.slice(0, 500)}`);
  };
  const teach = (lessons: readonly TaughtLesson[]): Promise<void> =>
    change(lessons.map((lesson) => ({ op: 'add', kind: 'skill', state: 'live', ...lesson })));
  const untilIndexed = async (): Promise<void> => {
    while ((await status()).library?.index?.waiting !== 0) await sleep(50);
  };
  if (block !== undefined) {
    await teach([createBenchSkill(block)]);
    await untilIndexed();
  }
  return {
    pid: child.pid ?? 0,
    port,
    home,
    headers: { 'x-instar-key': readKey(home, 'key') },
    ask,
    teach,
    forget: (id) => change([{ op: 'retire', id, reason: 'the bench is over' }]),
    untilIndexed,
    untilIdle,
    engines: async () => {
      const { failure, recalls } = (await status()).library?.index ?? {};
      if (failure !== undefined) throw new Error(`the sentence model failed: ${failure}`);
      const engines = createEngineCounts();
      engines.add(MINILM, recalls?.bySentences);
      engines.add(STATIC, recalls?.firstLooks);
      return engines;
    },
    kept: async () => {
      const { recording } = await status();
      return { recorded: recording?.recorded ?? 0, lost: recording?.lost ?? 0 };
    },
    close: async () => {
      await endChild(child);
      if (options.home === undefined) rmSync(home, { recursive: true, force: true });
    },
  };
}

const readKey = (home: string, name: 'key' | 'owner-key'): string =>
  readFileSync(path.join(home, name), 'utf8').trim();

/** A live skill that applies to every session of the bench. */
const createBenchSkill = (content: string): TaughtLesson => ({
  id: 'bench',
  text: taughtText(
    { name: 'bench', description: 'When something is measured.', content, scope: { domain: 'bench' } },
    { visibility: 'shared' },
  ),
});

/** Size of the record on disk after a WAL checkpoint. */
export function storeBytes(home: string): number {
  const file = path.join(home, 'instar.sqlite');
  const store = new DatabaseSync(file);
  store.exec('pragma wal_checkpoint(truncate)');
  store.close();
  return statSync(file).size;
}
