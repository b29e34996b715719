import { markdownTable } from '../markdown.ts';
import type { DaemonSample } from './watch-daemon.ts';

export interface SoakResult {
  readonly minutes: number;
  readonly perSecond: number;
  readonly calmFrom: number;
  readonly samples: readonly DaemonSample[];
  readonly kills: number;
  readonly copies: { readonly made: number; readonly failed: number };
  readonly acknowledged: number;
  /** Acknowledged turns that are not in the record: within GRACE_MS before a kill, and others. */
  readonly lost: { readonly atKill: number; readonly other: number };
  readonly feedback: { readonly confirmed: number; readonly lost: number };
  readonly ends: ReadonlyMap<string, number>;
  readonly faults: ReadonlyMap<string, number>;
  readonly findings: readonly string[];
  readonly turns: number;
  readonly exitCode: number | null;
}

/** A turn is in the record within this time of its last byte; a kill inside of it may lose it. */
export const GRACE_MS = 250;

const COLUMNS: readonly (readonly [title: string, read: (sample: DaemonSample) => number, digits: number])[] =
  [
    ['RSS MB', ({ rssMb }) => rssMb, 0],
    ['heap MB', ({ heapMb }) => heapMb, 0],
    ['descriptors', ({ fds }) => fds, 0],
    ['handles', ({ handles }) => handles, 0],
    ['threads', ({ threads }) => threads, 0],
    ['loop lag p99 ms', ({ lagP99 }) => lagP99, 1],
    ['loop lag max ms', ({ lagMax }) => lagMax, 0],
    ['store MB', ({ storeMb }) => storeMb, 1],
    ['log MB', ({ logMb }) => logMb, 1],
    ['lessons', ({ lessons }) => lessons, 0],
  ];

export function describeSoak(result: SoakResult): string {
  const { samples, minutes, calmFrom } = result;
  const points = [0, 0.25, 0.5, 0.75, 1].map((share) => nearest(samples, share * minutes));
  const names = ['start', 'quarter', 'half', 'three quarters', 'end'];
  const rows = points.map((sample, index) => [
    names[index] ?? '',
    ...(sample === undefined
      ? COLUMNS.map(() => '–')
      : [
          `${sample.minute.toFixed(1)} (${sample.uptime.toFixed(1)})`,
          ...COLUMNS.map(([, read, digits]) => read(sample).toFixed(digits)),
        ]),
  ]);
  // A young process still fills its caches.
  const calm = samples.filter(({ minute, uptime }) => minute >= calmFrom && uptime >= 1);
  const slopes = COLUMNS.map(([, read, digits]) => slopePerHour(calm, read).toFixed(digits));
  const table = markdownTable(
    ['', 'minute (uptime)', ...COLUMNS.map(([title]) => title)],
    [...rows, ['per hour, calm part', '', ...slopes]],
  );
  const worst = Math.max(...samples.map(({ lagMax }) => lagMax));
  return [table, '', ...summary(result, worst).map((line) => `- ${line}`)].join('\n');
}

function summary(result: SoakResult, worstLag: number): readonly string[] {
  const { lost, feedback, copies, findings } = result;
  return [
    `${result.minutes} min at ${result.perSecond} turns/s; ${result.kills} SIGKILLs with restart until minute ${result.calmFrom.toFixed(0)}, none after; ended with exit code ${result.exitCode}.`,
    `Turns: ${result.acknowledged} acknowledged with a whole reply, ${lost.other} of them lost; ${lost.atKill} lost of those that ended less than ${GRACE_MS} ms before a kill. The record has ${result.turns} turns; ${findings.length} damaged rows.`,
    `Feedback: ${feedback.confirmed} confirmed, ${feedback.lost} lost. Copies made while it ran: ${copies.made}, failed: ${copies.failed}. Worst event-loop lag: ${worstLag.toFixed(0)} ms.`,
    `Clients: ${list(result.ends)}. Provider: ${list(result.faults)}.`,
  ];
}

const list = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');

const nearest = (samples: readonly DaemonSample[], minute: number): DaemonSample | undefined =>
  [...samples].sort((a, b) => Math.abs(a.minute - minute) - Math.abs(b.minute - minute))[0];

/** The least-squares line through the samples; NaN with fewer than three. */
export function slopePerHour(
  samples: readonly DaemonSample[],
  read: (sample: DaemonSample) => number,
): number {
  if (samples.length < 3) return Number.NaN;
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const x = samples.map(({ minute }) => minute / 60);
  const y = samples.map(read);
  const [middleX, middleY] = [mean(x), mean(y)];
  const over = x.reduce((sum, value, index) => sum + (value - middleX) * ((y[index] ?? 0) - middleY), 0);
  const under = x.reduce((sum, value) => sum + (value - middleX) ** 2, 0);
  return over / under;
}
