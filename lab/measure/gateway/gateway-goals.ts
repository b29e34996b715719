import { isFull, isOfBytes, type LoadCell } from './load-cells.ts';
import { sum } from './load-order.ts';
import type { FirstTurnResults } from './measure-first-turn.ts';
import type { Growth, MemorySample } from './measure-growth.ts';
import type { ManyStreams, PacedStreams } from './measure-streams.ts';
import { BYTES, type Size } from './traffic.ts';

/** What is measured with a process of its own. A part that was not run is empty. */
export interface ProcessResults {
  readonly many: readonly ManyStreams[];
  readonly ladder: readonly MemorySample[];
}

/** The results of one run. A part that was not run is empty. */
export interface GatewayResults extends ProcessResults {
  readonly date: string;
  readonly machine: string;
  readonly node: string;
  readonly command: string;
  readonly minutes: number;
  readonly rounds: number;
  /** Load average before the run: other work on the machine. */
  readonly loadBefore: number;
  readonly notes: readonly string[];
  readonly cells: readonly LoadCell[];
  readonly paced: readonly PacedStreams[];
  readonly growth: readonly Growth[];
  /** What each subject records durably, in words. */
  readonly keeps: Readonly<Record<string, string>>;
  /** The newest stored result of `npm run bench:pace` at 5 turns a second. */
  readonly pace?: PaceGoal;
  readonly firstTurn: FirstTurnResults;
  /** The same of the older build; its cells stand among the others. */
  readonly before?: ProcessResults & { readonly firstTurn: FirstTurnResults };
}

/** A goal and the measured value. */
interface Goal {
  readonly claim: string;
  readonly found: string;
  readonly isMet: boolean;
  /** What the older build had, in the same run. */
  readonly before?: string;
}

/** What `npm run bench:pace` found; it is not measured again here. */
export interface PaceGoal {
  readonly date: string;
  readonly cpuMs: number;
  readonly copyCpuMs: number;
  readonly writtenKb: number;
}

const CPU_AT_MOST: Partial<Record<Size, number>> = { '1 KB': 1.5, '64 KB': 3 };
const PORTKEY_AT_LEAST = 5;
const LAG_AT_MOST_MS = 0.3;
const RSS_AT_MOST_MB: Partial<Record<Size, number>> = { '1 KB': 250, '64 KB': 400 };
const BYTE_AT_MOST = 1.2;
/** Copies: times the CPU of a proxy that only copies. */
const PACED_AT_MOST = { copies: 6, writtenKb: 22 } as const;
const FLAT = 1.15;
const FIRST_TURN_P50_MS = 8;
const FIRST_TURN_P99_MS = 20;

/** Goals are ratios within one run where possible: absolute numbers differ between machines. */
export function checkGoals(results: GatewayResults): readonly Goal[] {
  const earlier = goalsOf(earlierResults(results));
  return goalsOf(results).map((goal) => {
    const before = earlier.find(({ claim }) => claim === goal.claim)?.found;
    return before === undefined ? goal : { ...goal, before };
  });
}

/** The older build's results under the names of the present one. */
function earlierResults({ before, pace: _pace, ...results }: GatewayResults): GatewayResults {
  const MARK = 'before: ';
  const rename = <T extends { readonly subject: LoadCell['subject'] }>(rows: readonly T[]): readonly T[] =>
    rows
      .filter(({ subject }) => !subject.startsWith('instar'))
      .map((row) => ({ ...row, subject: row.subject.replace(MARK, '') as T['subject'] }));
  const none = { many: [], ladder: [], firstTurn: { turns: [], cold: [] } };
  return { ...results, ...(before ?? none), cells: rename(results.cells), paced: rename(results.paced) };
}

function goalsOf(results: GatewayResults): readonly Goal[] {
  return [
    ...firstTurnGoals(results),
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
    ...results.many.map(({ streams, size, complete, lost, recorded, peakMb }) => {
      const most = RSS_AT_MOST_MB[size] ?? Number.NaN;
      return {
        claim: `${streams} streams of ${size}: all complete and recorded, at most ${most} MB`,
        found: `${complete} complete, ${lost} lost, ${recorded} recorded, ${peakMb.toFixed(0)} MB`,
        isMet: complete === streams && lost === 0 && recorded === streams && peakMb <= most,
      };
    }),
    ...memoryGoals(results),
    ...byteGoals(results),
    ...paceGoals(results),
  ];
}

const firstTurnGoals = ({ firstTurn }: GatewayResults): readonly Goal[] =>
  firstTurn.turns
    .filter(({ kilobytes }) => kilobytes === undefined)
    .flatMap((one) => {
      const goal = (name: string, added: number, most: number): Goal => ({
        claim: `first turn, ${one.lessons} lessons: added ${name} at most ${most} ms over the pass-through`,
        found: `${added.toFixed(1)} ms`,
        isMet: added <= most,
      });
      return [
        goal('p50', one.p50 - one.bareP50, FIRST_TURN_P50_MS),
        goal('p99', one.p99 - one.bareP99, FIRST_TURN_P99_MS),
      ];
    });

const cellOf = (
  results: GatewayResults,
  { task }: LoadCell,
  subject: LoadCell['subject'],
): LoadCell | undefined =>
  results.cells.find((cell) => cell.subject === subject && cell.task.name === task.name);

const busyCells = (results: GatewayResults): readonly LoadCell[] =>
  results.cells.filter(({ subject, task }) => subject === 'instar + block' && isFull(task));

const cpuGoals = (results: GatewayResults): readonly Goal[] =>
  busyCells(results).map((cell) => {
    const { shape, size } = cell.task;
    const ratio = cell.cpu / (cellOf(results, cell, 'pass-through')?.cpu ?? Number.NaN);
    const most = CPU_AT_MOST[size] ?? Number.NaN;
    return {
      claim: `${shape} ${size}: CPU per request at most ${most}x the pass-through's`,
      found: `${ratio.toFixed(2)}x`,
      isMet: ratio <= most,
    };
  });

const portkeyGoals = (results: GatewayResults): readonly Goal[] =>
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

function keptGoals({ cells }: GatewayResults): readonly Goal[] {
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

function memoryGoals({ ladder }: GatewayResults): readonly Goal[] {
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

/** Nanoseconds of CPU for a byte of the request. */
export const byteCost = ({ cpu, task }: LoadCell): number => (cpu * 1000) / BYTES[task.size];

function byteGoals({ cells }: GatewayResults): readonly Goal[] {
  const ours = cells.filter(({ subject, task }) => subject === 'instar' && isOfBytes(task));
  const [small, large] = [
    ours.find(({ task }) => task.size === '64 KB'),
    ours.find(({ task }) => task.size === '1 MB'),
  ];
  if (small === undefined || large === undefined) return [];
  const ratio = byteCost(large) / byteCost(small);
  return [
    {
      claim: `a byte of a prompt of 1 MB costs at most ${BYTE_AT_MOST}x a byte of 64 KB`,
      found: `${ratio.toFixed(2)}x (${byteCost(large).toFixed(1)} and ${byteCost(small).toFixed(1)} ns)`,
      isMet: ratio <= BYTE_AT_MOST,
    },
  ];
}

const paceGoals = ({ pace }: GatewayResults): readonly Goal[] =>
  pace === undefined
    ? []
    : [
        {
          claim: `5 turns a second, learning on: at most ${PACED_AT_MOST.copies}x the pass-through's CPU a turn`,
          found: `${(pace.cpuMs / pace.copyCpuMs).toFixed(1)}x, ${pace.cpuMs.toFixed(1)} ms (bench:pace, ${pace.date})`,
          isMet: pace.cpuMs <= PACED_AT_MOST.copies * pace.copyCpuMs,
        },
        {
          claim: `5 turns a second, learning on: at most ${PACED_AT_MOST.writtenKb} kB written a turn`,
          found: `${pace.writtenKb.toFixed(1)} kB (bench:pace, ${pace.date})`,
          isMet: pace.writtenKb <= PACED_AT_MOST.writtenKb,
        },
      ];
