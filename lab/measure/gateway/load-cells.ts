import { setTimeout as sleep } from 'node:timers/promises';
import { requireSome } from '../measured.ts';
import { readCpu, readMemory, untilQuiet } from './child-process.ts';
import { halfRange, type LoadOrder, type LoadResult, median, sum } from './load-order.ts';
import type { RecordedTurns } from './start-instar.ts';
import type { GatewayBench, GatewaySubject, SubjectName } from './subjects.ts';
import type { Size } from './traffic.ts';

/** A kind of load: reply format, request size, concurrency, and a rate limit for all connections together. */
interface LoadTask {
  readonly name: string;
  readonly shape: 'JSON' | 'SSE';
  readonly size: Size;
  readonly connections: number;
  readonly rate?: number;
  /** How many requests a round has; without it a round has a time. */
  readonly requests?: number;
}

/** One subject under one load, the median of all rounds. Times in milliseconds, CPU in microseconds per request. */
export interface LoadCell {
  readonly task: LoadTask;
  readonly subject: SubjectName;
  readonly requests: number;
  readonly lost: number;
  /** Turns that were served but not recorded; undefined for subjects without a record. */
  readonly unrecorded: number | undefined;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly addedP50: number;
  readonly addedP99: number;
  readonly cpu: number;
  readonly mainCpu: number;
  /** How much the rounds disagree about the CPU. */
  readonly cpuUnrest: number;
  readonly rssMb: number;
  readonly faults: readonly string[];
}

interface CellPlan {
  readonly rounds: number;
  readonly ms: number;
  /** Time limit of the first warm-up of each task. */
  readonly warmMs: number;
  /** Only 32 connections without a rate limit, and the ladder of sizes. */
  readonly isShort: boolean;
  readonly onRound: (round: number) => void;
}

interface Sample {
  readonly tally: LoadResult;
  readonly cpu: number;
  readonly mainCpu: number;
  readonly unrecorded: number | undefined;
  readonly rssMb: number;
}

const WARM_MS = 200;
/** JIT compilation depends on calls, not on time: a slow subject needs as many warm-up requests as a fast one. */
const WARM_REQUESTS = 10_000;

const MANY = 32;
/** A rate that every subject reaches: a mostly idle process pays more per request, so equal rates are compared too. */
const CALM_RATE = 200;

/** Requests of growing size, few at once: what a byte costs. */
const FEW = 4;

const TASKS: readonly LoadTask[] = [
  ...(['1 KB', '64 KB'] as const).flatMap((size) => [
    ...(['JSON', 'SSE'] as const).flatMap((shape) => [
      { ...named(shape, size, `${MANY} at once`), connections: MANY },
      { ...named(shape, size, '1 at once'), connections: 1 },
    ]),
    { ...named('JSON', size, `${CALM_RATE} a second`), connections: MANY, rate: CALM_RATE },
  ]),
  ...(
    [
      ['64 KB', 320],
      ['256 KB', 160],
      ['1 MB', 80],
    ] as const
  ).map(([size, requests]) => ({
    ...named('JSON', size, `${FEW} at once`),
    connections: FEW,
    requests,
  })),
];

function named(shape: LoadTask['shape'], size: Size, how: string): Pick<LoadTask, 'name' | 'shape' | 'size'> {
  return { name: `${shape === 'SSE' ? 'SSE, 50 events' : shape}, ${size} request, ${how}`, shape, size };
}

/** Many connections without a rate limit. */
export const isFull = ({ connections, rate }: LoadTask): boolean =>
  connections === MANY && rate === undefined;

/** A step of the ladder of sizes. */
export const isOfBytes = ({ connections }: LoadTask): boolean => connections === FEW;

/** Every subject under every load, interleaved, so that other work on the machine affects all of them alike. */
export async function runCells(bench: GatewayBench, plan: CellPlan): Promise<readonly LoadCell[]> {
  const { rounds, ms, warmMs, onRound } = plan;
  const shorter = (task: LoadTask): LoadTask =>
    task.requests === undefined ? task : { ...task, requests: Math.ceil(task.requests / 8) };
  const tasks = plan.isShort ? TASKS.filter((task) => isFull(task) || isOfBytes(task)).map(shorter) : TASKS;
  const places = tasks.flatMap((task) =>
    bench.subjects
      .filter(({ hasStreams }) => hasStreams || task.shape === 'JSON')
      .map((subject) => ({ task, subject, samples: [] as Sample[] })),
  );
  for (const { task, subject } of places) {
    if (isFull(task)) await send(bench, subject, task, { ms: warmMs, requests: WARM_REQUESTS });
    if (isOfBytes(task)) await send(bench, subject, task, { requests: task.requests ?? WARM_REQUESTS });
  }
  for (let round = 0; round < rounds; round++) {
    onRound(round);
    for (const task of tasks) {
      const here = places.filter((place) => place.task === task);
      const shift = round % here.length;
      for (const { subject, samples } of [...here.slice(shift), ...here.slice(0, shift)]) {
        samples.push(await measure(bench, subject, task, task.rate === undefined ? ms : 2 * ms));
      }
    }
  }
  return places.map(({ task, subject, samples }) => {
    const direct = places.find((place) => place.task === task && place.subject.name === 'direct');
    return summarize(task, subject.name, samples, direct?.samples ?? samples);
  });
}

const send = (
  bench: GatewayBench,
  { port, path, headers, isExact }: GatewaySubject,
  task: LoadTask,
  until: LoadOrder['until'],
): Promise<LoadResult> =>
  bench.load({
    port,
    headers,
    isExact,
    model: task.shape === 'JSON' ? 'bench-json' : 'bench-sse',
    size: task.size,
    connections: task.connections,
    openOverMs: task.rate === undefined ? 0 : WARM_MS,
    ...(path === undefined ? {} : { path }),
    until,
    ...(task.rate === undefined ? {} : { perSecond: task.rate }),
  });

async function measure(
  bench: GatewayBench,
  subject: GatewaySubject,
  task: LoadTask,
  ms: number,
): Promise<Sample> {
  const { pid = 0 } = subject;
  if (task.requests === undefined) await send(bench, subject, task, { ms: WARM_MS });
  await untilQuiet(pid);
  const keptBefore = await subject.kept?.();
  const before = readCpu(pid);
  const tally = await send(
    bench,
    subject,
    task,
    task.requests === undefined ? { ms } : { requests: task.requests },
  );
  requireSome(`request to ${subject.name}`, tally.requests);
  await untilQuiet(pid);
  const unrecorded = await untilRecorded(subject, keptBefore, tally.requests);
  const after = readCpu(pid);
  const perRequest = (kind: 'all' | 'main') =>
    before && after ? ((after[kind] - before[kind]) * 1000) / tally.requests : Number.NaN;
  return {
    tally,
    cpu: perRequest('all'),
    mainCpu: perRequest('main'),
    unrecorded,
    rssMb: readMemory(pid)?.rssMb ?? Number.NaN,
  };
}

/** Waits for a slow disk, but not for turns that were dropped. */
async function untilRecorded(
  subject: GatewaySubject,
  before: RecordedTurns | undefined,
  served: number,
): Promise<number | undefined> {
  if (before === undefined || subject.kept === undefined) return undefined;
  for (let patience = 20; ; patience--) {
    const after = await subject.kept();
    const missing = served - (after.recorded - before.recorded);
    const isLost = missing === after.lost - before.lost;
    if (missing <= 0 || isLost || patience === 0) return Math.max(0, missing);
    await sleep(250);
  }
}

function summarize(
  task: LoadTask,
  subject: SubjectName,
  samples: readonly Sample[],
  direct: readonly Sample[],
): LoadCell {
  const middle = (read: (sample: Sample, round: number) => number) => median(samples.map(read));
  const added = (which: 'p50' | 'p99') =>
    middle(({ tally }, round) => tally.latency[which] - (direct[round]?.tally.latency[which] ?? Number.NaN));
  const unrecorded = samples.map((sample) => sample.unrecorded);
  return {
    task,
    subject,
    requests: sum(samples.map(({ tally }) => tally.requests)),
    lost: sum(samples.map(({ tally }) => tally.lost)),
    unrecorded: unrecorded.includes(undefined) ? undefined : sum(unrecorded.map((count) => count ?? 0)),
    perSecond: middle(({ tally }) => (tally.requests / tally.ms) * 1000),
    p50: middle(({ tally }) => tally.latency.p50),
    p99: middle(({ tally }) => tally.latency.p99),
    addedP50: added('p50'),
    addedP99: added('p99'),
    cpu: middle(({ cpu }) => cpu),
    mainCpu: middle(({ mainCpu }) => mainCpu),
    cpuUnrest: halfRange(samples.map(({ cpu }) => cpu)),
    rssMb: middle(({ rssMb }) => rssMb),
    faults: samples.flatMap(({ tally }) => tally.faults).slice(0, 3),
  };
}
