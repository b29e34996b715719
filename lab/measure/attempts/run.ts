import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createAttemptFolders } from '../../../src/agent/attempts/attempt-folders.ts';
import { createAttemptQueue } from '../../../src/agent/attempts/attempt-queue.ts';
import { createAttempts } from '../../../src/agent/attempts/attempts.ts';
import { confinementHere } from '../../../src/agent/sandbox/find-confiner.ts';
import { sleep } from '../../../src/base/sleep.ts';
import type { OpenAttemptModel } from '../../../src/core/attempt-model.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { Attempt, AttemptOrder, MakeAttempt, PracticeTask } from '../../../src/core/practice.ts';
import { createTaskVerifier, readAttemptSteps } from '../../../src/evidence/verifiers/verify-task.ts';
import { createExchange } from '../../../src/models/exchange.ts';
import { createHttpModel } from '../../../src/models/http-model.ts';
import { createInProcessAttempts } from '../../../src/models/in-process-client.ts';
import { wires } from '../../../src/wire/wires.ts';
import { type PacedProvider, type ProviderPace, startPacedProvider } from './paced-provider.ts';

/*
 * Many attempts: the share of the ideal concurrency with a paced provider, memory over 2,000 attempts, and the time from an
 * abort to the end of everything. A real provider over HTTP on loopback; real folders, real processes.
 */

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const { values } = parseArgs({
  options: {
    attempts: { type: 'string', default: '2000' },
    only: { type: 'string' },
  },
});
const ATTEMPTS = Number(values.attempts);
const { signal: never } = new AbortController();
const pool = createExchange({
  timeouts: { connectMs: 10_000, headersMs: 60_000, firstByteMs: 60_000, idleMs: 60_000 },
});
const folders = createAttemptFolders();

const SUM: PracticeTask = {
  id: 'sum',
  root: 'sum',
  origin: 'curated',
  prompt: 'What is 6 times 7?',
  domain: 'sums',
  check: { kind: 'number', expected: 42 },
};
const SUM_IN_FOLDER: PracticeTask = {
  ...SUM,
  id: 'sum-in-folder',
  workspace: { kind: 'files', files: { 'sum.txt': '6 * 7\n', 'notes/a.txt': 'a\n' } },
  check: { kind: 'command', command: 'grep 42 answer.txt', shell: 'plain' },
};

const orderOf = (at: number, task: PracticeTask, timeoutMs: number): AttemptOrder => ({
  id: `bench/${task.id}/${at}`,
  task,
  shown: { text: '', lessons: [], generation: 1 },
  seed: `bench/${at}`,
  temperature: 0.7,
  timeoutMs,
});

const modelAt = (url: string): OpenAttemptModel =>
  createInProcessAttempts({
    name: 'paced/model',
    model: 'model',
    chat: createHttpModel({
      exchange: pool.exchange,
      wire: wires['openai-chat'],
      upstream: { origin: url, basePath: '/v1', wire: 'openai-chat' },
      access: { kind: 'open' },
      clock: systemClock,
    }),
  });

const makeWith = (open: OpenAttemptModel, isPlain: boolean): MakeAttempt =>
  createAttempts({
    agents: new Map([['own', { kind: 'model', open }]]),
    folders,
    verify: createTaskVerifier({}),
    readSteps: readAttemptSteps,
    clock: systemClock,
    ...(isPlain ? { confinement: { ok: false as const, why: 'plain commands are measured' } } : {}),
  });

const isGraded = ({ outcome }: Attempt): boolean => outcome.is === 'graded' && outcome.reward === 1;

interface Pace {
  readonly name: string;
  readonly pace: ProviderPace;
  /** Milliseconds that an ideal caller would need. */
  readonly ideal: (provider: PacedProvider) => number;
}

const PACES: readonly Pace[] = [
  {
    name: '32 at a time, 0.8-1.6 s',
    pace: { room: 32, ms: [800, 1600] },
    ideal: (provider) => provider.counts().serviceMs / 32,
  },
  {
    name: '50 a second, 0.2-0.4 s, Retry-After',
    pace: { perSecond: 50, burst: 20, ms: [200, 400] },
    ideal: (provider) => ((provider.counts().served - 20) / 50) * 1000 + 300,
  },
  {
    name: '32 at a time, 3 % resets, 2 % errors, 1 % hang',
    pace: { room: 32, ms: [800, 1600], faults: { reset: 0.03, error: 0.02, hang: 0.01 } },
    ideal: (provider) => provider.counts().serviceMs / 32,
  },
];

async function measureShare({ name, pace, ideal }: Pace): Promise<void> {
  const provider = await startPacedProvider(pace, 'share');
  const queue = createAttemptQueue({
    make: makeWith(modelAt(provider.url), true),
    clock: systemClock,
    provider: () => 'paced',
  });
  const begun = performance.now();
  const all = await Promise.all(
    Array.from({ length: ATTEMPTS }, (_, at) => queue.make(orderOf(at, SUM, 8000), never)),
  );
  const elapsed = performance.now() - begun;
  const { refused, broken } = provider.counts();
  print(
    `| ${name} | ${ATTEMPTS} | ${all.filter(isGraded).length} | ${refused} | ${broken} | ${(elapsed / 1000).toFixed(1)} s | ${(ideal(provider) / 1000).toFixed(1)} s | ${(ideal(provider) / elapsed).toFixed(3)} |`,
  );
  await provider.close();
}

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

/** The slope of a straight line through the points, by least squares. */
function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const [meanX, meanY] = [0, 1].map(
    (at) => points.reduce((sum, point) => sum + (point[at] ?? 0), 0) / points.length,
  ) as [number, number];
  const over = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  return over / points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
}

/** Every second attempt works in a folder. */
async function measureMemory(): Promise<void> {
  const provider = await startPacedProvider({ room: 64, ms: [2, 10] }, 'memory');
  const queue = createAttemptQueue({
    make: makeWith(modelAt(provider.url), true),
    clock: systemClock,
    provider: () => 'paced',
    limits: { most: 16 },
  });
  const heap: [number, number][] = [];
  const resident: [number, number][] = [];
  const BATCH = 100;
  let graded = 0;
  for (let from = 0; from < ATTEMPTS; from += BATCH) {
    const tasks = Array.from({ length: BATCH }, (_, at) => (at % 2 === 0 ? SUM : SUM_IN_FOLDER));
    const all = await Promise.all(
      tasks.map((task, at) => queue.make(orderOf(from + at, task, 60_000), never)),
    );
    graded += all.filter(isGraded).length;
    await sleep(20, never);
    collect();
    const { heapUsed, rss } = process.memoryUsage();
    heap.push([from + BATCH, heapUsed]);
    resident.push([from + BATCH, rss]);
  }
  // The first fifth fills caches and compiles.
  const warm = Math.floor(heap.length / 5);
  const megabytes = (bytes: number | undefined): string => ((bytes ?? 0) / 1024 / 1024).toFixed(1);
  print(
    `| ${ATTEMPTS} | ${graded} | ${megabytes(heap[warm]?.[1])} → ${megabytes(heap.at(-1)?.[1])} MB | ${slopeOf(heap.slice(warm)).toFixed(0)} bytes | ${megabytes(resident[warm]?.[1])} → ${megabytes(resident.at(-1)?.[1])} MB | ${leftFolders()} | ${readdirSync('/proc/self/fd').length} |`,
  );
  await provider.close();
}

const leftFolders = (): number =>
  readdirSync(tmpdir()).filter((name) => name.startsWith('instar-workspace-')).length;

const MARK = '97531.25';
const STUBBORN = `trap '' TERM INT HUP; setsid sh -c "trap '' TERM; sleep ${MARK} & sleep ${MARK}" & sh -c "sleep ${MARK}" & sleep ${MARK}`;

const alive = (): number =>
  readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`sleep\0${MARK}`);
    } catch {
      return false;
    }
  }).length;

/** Half of the attempts run commands that ignore signals, the others wait for a provider that never answers. */
async function measureAbort(count: number): Promise<void> {
  const hanging = await startPacedProvider({ ms: [3_600_000, 3_600_000] }, 'abort');
  const waiting = modelAt(hanging.url);
  const stubborn: OpenAttemptModel = async () => ({
    name: 'stubborn',
    model: 'm',
    speak: async () => ({
      text: '',
      lessons: [],
      calls: [
        { type: 'tool-call', id: 'c', name: 'run_command', arguments: JSON.stringify({ command: STUBBORN }) },
      ],
    }),
    close: async () => undefined,
  });
  const make = makeWith((order, signal) => (order.task.workspace ? stubborn : waiting)(order, signal), false);
  const queue = createAttemptQueue({
    make,
    clock: systemClock,
    provider: () => 'p',
    limits: { start: count, most: count },
  });
  const leaving = new AbortController();
  const { check: _, ...folderTask } = SUM_IN_FOLDER;
  const all = Promise.all(
    Array.from({ length: count * 2 }, (_, at) =>
      queue.make(orderOf(at, at % 2 === 0 ? folderTask : SUM, 600_000), leaving.signal),
    ),
  );
  const half = Math.ceil(count / 2);
  while (alive() < half * 4 || hanging.inside() < Math.floor(count / 2)) await sleep(50, never);
  const before = alive();
  const begun = performance.now();
  leaving.abort();
  await all;
  const resolved = performance.now() - begun;
  const left = alive();
  while (hanging.inside() > 0 && performance.now() - begun < 10_000) await sleep(1, never);
  const closed = performance.now() - begun;
  print(
    `| ${count} (and ${count} that wait) | ${before} | ${resolved.toFixed(0)} ms | ${left} | ${closed.toFixed(0)} ms | ${leftFolders()} |`,
  );
  await hanging.close();
}

const wants = (part: string): boolean => values.only === undefined || values.only === part;

if (wants('share')) {
  print('\n| provider | attempts | graded | refused | broken | elapsed | ideal | share of ideal |');
  print('|---|---|---|---|---|---|---|---|');
  for (const pace of PACES) await measureShare(pace);
}
if (wants('memory')) {
  print(
    '\n| attempts | graded | heap after warm-up | slope per attempt | resident | folders left | descriptors |',
  );
  print('|---|---|---|---|---|---|---|');
  await measureMemory();
}
if (wants('abort')) {
  const confinement = await confinementHere();
  if (confinement.ok) {
    print(
      '\n| attempts under way | processes | abort to all ended | processes left | requests closed | folders left |',
    );
    print('|---|---|---|---|---|---|');
    for (const count of [4, 16, 16, 16]) await measureAbort(count);
  } else print(`\nabort: not measured, ${confinement.why}`);
}
await folders.close();
await pool.close();
