import { median, sum } from './stats.ts';
import type { Bench, SubjectName } from './subjects.ts';

/** Delay of events that a model sends one by one, in milliseconds. */
export interface Paced {
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
export async function runPaced(bench: Bench, rounds: number, ms: number): Promise<readonly Paced[]> {
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
      const { port, headers, isExact } = subject;
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
      });
      p50.push(tally.lag.p50);
      p99.push(tally.lag.p99);
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
