import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { MINILM } from '../../../src/embed/minilm-embed.ts';
import { STATIC } from '../../../src/embed/static-embed.ts';
import { readCpu, readMemory } from '../gateway/child-process.ts';
import { spreadOf } from '../gateway/load-order.ts';
import { createEngineCounts, enginesBetween, requireEngine, requireSome } from '../measured.ts';
import { readUsedWork, sumOf, workBetween } from '../pace/paced-process.ts';
import { startPacedInstar } from '../pace/paced-subjects.ts';
import { planDay } from '../pace/person-day.ts';
import { playDay } from '../pace/play-day.ts';

/** What a daemon costs over a home of some size. CPU in milliseconds, of all threads. */
export interface HomeCost {
  /** Until it serves, and until nothing is left to do, as its own counters say. */
  readonly readyMs: number;
  readonly readyCpu: number;
  readonly settledMs: number;
  readonly settledCpu: number;
  /** At rest after the start, and after the turns. */
  readonly startMb: number;
  readonly restMb: number;
  readonly turns: number;
  readonly lost: number;
  readonly turnCpu: number;
  /** By the name of the thread. */
  readonly threads: Readonly<Record<string, number>>;
  readonly turnKb: number;
  readonly firstP50: number;
  readonly laterP50: number;
  readonly diskMb: number;
  /** How many tasks were compared with lessons, by what compared them. */
  readonly engines: Readonly<Record<string, number>>;
}

interface HomePlan {
  readonly main: string;
  readonly upstreamPort: number;
  readonly perSecond: number;
  readonly warmTurns: number;
  readonly turns: number;
  readonly nodeArgs?: readonly string[];
}

/** A start over a large library reads all of it. */
const PATIENCE_MS = 1_800_000;

/**
 * Starts a daemon twice: the first time it may compute what it keeps (files of lessons, vectors of requests that need none), the
 * second start is measured. Then a person's day is played to it.
 */
export async function measureHome(home: string, plan: HomePlan): Promise<HomeCost> {
  const { main, upstreamPort, perSecond, warmTurns, turns, nodeArgs = [] } = plan;
  const start = (args: readonly string[] = []) =>
    startPacedInstar({
      name: 'instar',
      main,
      upstreamPort,
      isRecorded: true,
      home,
      patienceMs: PATIENCE_MS,
      nodeArgs: args,
    });
  const first = await start();
  await first.idle();
  await first.close();
  const startedAt = performance.now();
  const daemon = await start(nodeArgs);
  const { pid, threads } = daemon;
  const [readyMs, readyCpu] = [performance.now() - startedAt, cpuOf(pid)];
  try {
    await daemon.idle();
    const [settledMs, settledCpu] = [performance.now() - startedAt, cpuOf(pid)];
    const startMb = readMemory(pid)?.rssMb ?? Number.NaN;
    await playDay(planDay('warm', 1, warmTurns), daemon, 1000 / perSecond, 0);
    await daemon.idle();
    const before = readUsedWork(pid, threads);
    const comparedBefore = await daemon.engines?.();
    const played = await playDay(planDay('day', 1 + warmTurns, turns), daemon, 1000 / perSecond, 0);
    await daemon.idle();
    const used = workBetween(before, readUsedWork(pid, threads));
    const whole = played.filter(({ isWhole }) => isWhole);
    requireSome('turn that was served', whole.length);
    const none = createEngineCounts();
    const engines = enginesBetween(comparedBefore ?? none, (await daemon.engines?.()) ?? none);
    requireEngine([STATIC, MINILM], engines);
    const p50 = (isFirst: boolean) =>
      spreadOf(whole.filter(({ nth }) => (nth === 0) === isFirst).map(({ firstMs }) => firstMs)).p50;
    return {
      readyMs,
      readyCpu,
      settledMs,
      settledCpu,
      startMb,
      restMb: readMemory(pid)?.rssMb ?? Number.NaN,
      turns: played.length,
      lost: played.length - whole.length,
      turnCpu: sumOf(used.cpu) / played.length,
      threads: Object.fromEntries([...used.cpu].map(([name, ms]) => [name, ms / played.length])),
      turnKb: sumOf(used.written) / 1000 / played.length,
      firstP50: p50(true),
      laterP50: p50(false),
      diskMb: diskBytes(home) / 1e6,
      engines: Object.fromEntries(engines.byEngine),
    };
  } finally {
    await daemon.close();
  }
}

const cpuOf = (pid: number): number => readCpu(pid)?.all ?? Number.NaN;

/** Of all files, as long as they are. */
function diskBytes(dir: string): number {
  return readdirSync(dir, { withFileTypes: true }).reduce((sum, entry) => {
    const full = path.join(dir, entry.name);
    return sum + (entry.isDirectory() ? diskBytes(full) : entry.isFile() ? statSync(full).size : 0);
  }, 0);
}
