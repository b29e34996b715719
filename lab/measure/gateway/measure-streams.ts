import { setTimeout as sleep } from 'node:timers/promises';
import { readMemory } from './child-process.ts';
import { median, sum } from './load-order.ts';
import { type InstarProcess, startInstar } from './start-instar.ts';
import type { GatewayBench, SubjectName } from './subjects.ts';
import type { Size } from './traffic.ts';

/** Delay of events that a model sends one by one, in milliseconds. */
export interface PacedStreams {
  readonly subject: SubjectName;
  readonly streams: number;
  readonly p50: number;
  readonly p99: number;
  readonly addedP50: number;
  readonly addedP99: number;
  readonly lost: number;
}

const EVENT_MS = 10;

/** Streams of 20 events 10 ms apart after a 64 KB request, through every subject in turn. */
export async function runPaced(
  bench: GatewayBench,
  rounds: number,
  ms: number,
): Promise<readonly PacedStreams[]> {
  const streaming = bench.subjects.filter(({ hasStreams }) => hasStreams);
  const places = [4, 64].flatMap((streams) =>
    streaming.map((subject) => ({
      subject,
      streams,
      p50: [] as number[],
      p99: [] as number[],
      lost: [] as number[],
    })),
  );
  for (let round = 0; round < rounds; round++) {
    for (const { subject, streams, p50, p99, lost } of places) {
      const { port, path, headers, isExact } = subject;
      const tally = await bench.load({
        port,
        headers,
        isExact,
        model: 'bench-paced',
        size: '64 KB',
        connections: streams,
        // Real streams do not send their events at the same moment.
        openOverMs: EVENT_MS * 4,
        until: { ms },
        ...(path === undefined ? {} : { path }),
      });
      // A subject that answers in one piece has no events that could be late.
      const hasEvents = tally.lag.p99 > 0;
      p50.push(hasEvents ? tally.lag.p50 : Number.NaN);
      p99.push(hasEvents ? tally.lag.p99 : Number.NaN);
      lost.push(tally.lost);
    }
  }
  return places.map(({ subject, streams, p50, p99, lost }) => {
    const direct = places.find((place) => place.streams === streams && place.subject.name === 'direct');
    const added = (values: readonly number[], base: readonly number[]) =>
      median(values.map((value, round) => value - (base[round] ?? Number.NaN)));
    return {
      subject: subject.name,
      streams,
      p50: median(p50),
      p99: median(p99),
      addedP50: added(p50, direct?.p50 ?? []),
      addedP99: added(p99, direct?.p99 ?? []),
      lost: sum(lost),
    };
  });
}

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
export async function runManyStreams(bench: GatewayBench, streams: number, size: Size): Promise<ManyStreams> {
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
  const tally = await bench.load({ ...order, headers: instar.headers, port: instar.port });
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

async function untilRecorded(instar: InstarProcess, wanted: number): Promise<number> {
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
