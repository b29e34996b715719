import { type Cell, isFull } from './cells.ts';
import type { Results } from './results.ts';
import { sum } from './stats.ts';

/** A goal and the measured value. */
export interface Goal {
  readonly claim: string;
  readonly found: string;
  readonly isMet: boolean;
}

const CPU_AT_MOST = { '1 KB': 1.5, '64 KB': 3 } as const;
const PORTKEY_AT_LEAST = 5;
const LAG_AT_MOST_MS = 0.3;
const RSS_AT_MOST_MB = 250;
const FLAT = 1.15;

/** Goals are ratios within one run where possible: absolute numbers differ between machines. */
export function judge(results: Results): readonly Goal[] {
  return [
    ...cpuGoals(results),
    ...portkeyGoals(results),
    ...keptGoals(results),
    ...results.paced
      .filter(({ subject }) => subject === 'instar + block')
      .map(({ streams, addedP50 }) => {
        const bare = results.paced.find((one) => one.subject === 'pass-through' && one.streams === streams);
        return {
          claim: `paced SSE, ${streams} streams: at most ${LAG_AT_MOST_MS} ms added p50 per event`,
          found: `${addedP50.toFixed(2)} ms (pass-through ${bare?.addedP50.toFixed(2)} ms)`,
          isMet: addedP50 <= LAG_AT_MOST_MS,
        };
      }),
    ...results.many.map(({ streams, size, complete, lost, recorded, peakMb }) => ({
      claim: `${streams} streams of ${size}: all complete and recorded, at most ${RSS_AT_MOST_MB} MB`,
      found: `${complete} complete, ${lost} lost, ${recorded} recorded, ${peakMb.toFixed(0)} MB`,
      isMet: complete === streams && lost === 0 && recorded === streams && peakMb <= RSS_AT_MOST_MB,
    })),
    ...memoryGoals(results),
  ];
}

const cellOf = (results: Results, { task }: Cell, subject: Cell['subject']): Cell | undefined =>
  results.cells.find((cell) => cell.subject === subject && cell.task.name === task.name);

const busyCells = (results: Results): readonly Cell[] =>
  results.cells.filter(({ subject, task }) => subject === 'instar + block' && isFull(task));

const cpuGoals = (results: Results): readonly Goal[] =>
  busyCells(results).map((cell) => {
    const { shape, size } = cell.task;
    const ratio = cell.cpu / (cellOf(results, cell, 'pass-through')?.cpu ?? Number.NaN);
    return {
      claim: `${shape} ${size}: CPU per request at most ${CPU_AT_MOST[size]}x the pass-through's`,
      found: `${ratio.toFixed(2)}x`,
      isMet: ratio <= CPU_AT_MOST[size],
    };
  });

const portkeyGoals = (results: Results): readonly Goal[] =>
  busyCells(results).flatMap((cell) => {
    const { shape, size } = cell.task;
    const portkey = cellOf(results, cell, 'portkey');
    if (portkey === undefined) return [];
    const ratio = cell.perSecond / portkey.perSecond;
    return [
      {
        claim: `${shape} ${size}: at least ${PORTKEY_AT_LEAST}x Portkey's requests per second`,
        found: `${ratio.toFixed(1)}x`,
        isMet: ratio >= PORTKEY_AT_LEAST,
      },
    ];
  });

function keptGoals({ cells }: Results): readonly Goal[] {
  const ours = cells.filter(({ subject }) => subject.startsWith('instar'));
  if (ours.length === 0) return [];
  const lost = sum(ours.map((cell) => cell.lost));
  const unrecorded = sum(ours.map((cell) => cell.unrecorded ?? 0));
  return [
    {
      claim: 'at full load every reply is complete and every turn is recorded',
      found: `${lost} lost, ${unrecorded} not recorded of ${sum(ours.map((cell) => cell.requests))}`,
      isMet: lost === 0 && unrecorded === 0,
    },
  ];
}

function memoryGoals({ ladder }: Results): readonly Goal[] {
  const [, first] = ladder;
  const last = ladder.at(-1);
  if (first === undefined || last === undefined) return [];
  return [
    {
      claim: `memory is flat from ${first.requests} to ${last.requests} requests (at most ${FLAT}x)`,
      found: `${first.rssMb.toFixed(0)} to ${last.rssMb.toFixed(0)} MB`,
      isMet: last.rssMb <= first.rssMb * FLAT,
    },
  ];
}
