import { setTimeout as sleep } from 'node:timers/promises';
import { readMemory } from './process-usage.ts';
import type { Size } from './requests.ts';
import { type Instar, startInstar } from './start-instar.ts';
import type { Bench } from './subjects.ts';

/** A thousand conversations at once through a fresh process. */
export interface ManyStreams {
  readonly size: Size;
  readonly streams: number;
  readonly complete: number;
  readonly lost: number;
  /** Sessions in the record with exactly the one complete turn that was sent. */
  readonly recorded: number;
  readonly idleMb: number;
  readonly peakMb: number;
  readonly lagP50: number;
  readonly lagP99: number;
  readonly directLagP99: number;
  readonly faults: readonly string[];
}

const OPEN_OVER_MS = 2000;
const PATIENCE_MS = 20_000;

/** Streams of 40 events, ten per second each. */
export async function runManyStreams(bench: Bench, streams: number, size: Size): Promise<ManyStreams> {
  const order = {
    model: 'bench-slow',
    size,
    connections: streams,
    openOverMs: OPEN_OVER_MS,
    until: { requests: streams },
    headers: {},
    isExact: true,
  } as const;
  const direct = await bench.load({ ...order, port: bench.upstreamPort });
  const instar = await startInstar({ main: bench.main, upstreamPort: bench.upstreamPort });
  const idleMb = readMemory(instar.pid)?.rssMb ?? Number.NaN;
  const tally = await bench.load({ ...order, port: instar.port });
  const recorded = await untilRecorded(instar, streams);
  const peakMb = readMemory(instar.pid)?.peakMb ?? Number.NaN;
  await instar.close();
  return {
    size,
    streams,
    complete: tally.requests,
    lost: tally.lost,
    recorded,
    idleMb,
    peakMb,
    lagP50: tally.lag.p50,
    lagP99: tally.lag.p99,
    directLagP99: direct.lag.p99,
    faults: tally.faults,
  };
}

async function untilRecorded(instar: Instar, wanted: number): Promise<number> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const sessions = (await instar.ask(`/api/sessions?limit=${wanted}`)) as readonly { turns?: number }[];
    const { recorded } = await instar.kept();
    const found = sessions.filter(({ turns }) => turns === 1).length;
    if ((found >= wanted && recorded >= wanted) || performance.now() > deadline)
      return Math.min(found, recorded);
    await sleep(200);
  }
}
