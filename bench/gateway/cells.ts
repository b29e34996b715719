import { setTimeout as sleep } from 'node:timers/promises';
import type { Order, Tally } from './orders.ts';
import { readCpu, readMemory, untilQuiet } from './process-usage.ts';
import type { Size } from './requests.ts';
import type { Kept } from './start-instar.ts';
import { median, sum, unrest } from './stats.ts';
import type { Bench, Subject, SubjectName } from './subjects.ts';

/** What is asked for, by how many at once, and how often: as often as they can, or all together so many times a second. */
export interface Task {
  readonly name: string;
  readonly shape: 'JSON' | 'SSE';
  readonly size: Size;
  readonly connections: number;
  readonly rate?: number;
}

/** One subject at one task, in the middle of all rounds. Times in milliseconds, CPU in microseconds per request. */
export interface Cell {
  readonly task: Task;
  readonly subject: SubjectName;
  readonly requests: number;
  readonly lost: number;
  /** Turns that were served and did not get into the record; undefined for who keeps none. */
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

export interface CellPlan {
  readonly rounds: number;
  readonly ms: number;
  /** How long the first warm-up of each task may take. */
  readonly warmMs: number;
  /** Only 32 at once, as fast as they can. */
  readonly isShort: boolean;
  readonly onRound: (round: number) => void;
}

interface Sample {
  readonly tally: Tally;
  readonly cpu: number;
  readonly mainCpu: number;
  readonly unrecorded: number | undefined;
  readonly rssMb: number;
}

const WARM_MS = 200;
/** The compiler counts calls, not seconds: a slow subject needs as many as a fast one before it is measured. */
const WARM_REQUESTS = 10_000;

const MANY = 32;
/** Within everyone's reach: a process that is rarely awake pays more for each request, so equal rates are compared too. */
const CALM_RATE = 200;

const TASKS: readonly Task[] = (['1 KB', '64 KB'] as const).flatMap((size) => [
  ...(['JSON', 'SSE'] as const).flatMap((shape) => [
    { ...named(shape, size, `${MANY} at once`), connections: MANY },
    { ...named(shape, size, '1 at once'), connections: 1 },
  ]),
  { ...named('JSON', size, `${CALM_RATE} a second`), connections: MANY, rate: CALM_RATE },
]);

function named(shape: Task['shape'], size: Size, how: string): Pick<Task, 'name' | 'shape' | 'size'> {
  return { name: `${shape === 'SSE' ? 'SSE, 50 events' : shape}, ${size} request, ${how}`, shape, size };
}

/** Many at once, as fast as they can. */
export const isFull = ({ connections, rate }: Task): boolean => connections === MANY && rate === undefined;

/** Every subject at every task, in turns: what the machine does beside it falls on all alike. */
export async function runCells(bench: Bench, plan: CellPlan): Promise<readonly Cell[]> {
  const { rounds, ms, warmMs, onRound } = plan;
  const tasks = TASKS.filter((task) => isFull(task) || !plan.isShort);
  const places = tasks.flatMap((task) =>
    bench.subjects
      .filter(({ hasStreams }) => hasStreams || task.shape === 'JSON')
      .map((subject) => ({ task, subject, samples: [] as Sample[] })),
  );
  for (const { task, subject } of places) {
    if (isFull(task)) await send(bench, subject, task, { ms: warmMs, requests: WARM_REQUESTS });
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
  bench: Bench,
  { port, headers, isExact }: Subject,
  task: Task,
  until: Order['until'],
): Promise<Tally> =>
  bench.load({
    port,
    headers,
    isExact,
    model: task.shape === 'JSON' ? 'bench-json' : 'bench-sse',
    size: task.size,
    connections: task.connections,
    openOverMs: task.rate === undefined ? 0 : WARM_MS,
    until,
    ...(task.rate === undefined ? {} : { perSecond: task.rate }),
  });

async function measure(bench: Bench, subject: Subject, task: Task, ms: number): Promise<Sample> {
  const { pid = 0 } = subject;
  await send(bench, subject, task, { ms: WARM_MS });
  await untilQuiet(pid);
  const keptBefore = await subject.kept?.();
  const before = readCpu(pid);
  const tally = await send(bench, subject, task, { ms });
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

/** Waits for a disk that is slow; what was let go will never come. */
async function untilRecorded(
  subject: Subject,
  before: Kept | undefined,
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
  task: Task,
  subject: SubjectName,
  samples: readonly Sample[],
  direct: readonly Sample[],
): Cell {
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
    cpuUnrest: unrest(samples.map(({ cpu }) => cpu)),
    rssMb: middle(({ rssMb }) => rssMb),
    faults: samples.flatMap(({ tally }) => tally.faults).slice(0, 3),
  };
}
