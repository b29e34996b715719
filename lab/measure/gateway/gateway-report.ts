import { isFull, type LoadCell } from './load-cells.ts';
import { sum } from './load-order.ts';
import type { FirstTurnResults } from './measure-first-turn.ts';
import type { Growth, MemorySample } from './measure-growth.ts';
import type { ManyStreams, PacedStreams } from './measure-streams.ts';

/** The results of one run. A part that was not run is empty. */
export interface GatewayResults {
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
  readonly many: readonly ManyStreams[];
  readonly ladder: readonly MemorySample[];
  readonly growth: readonly Growth[];
  readonly firstTurn: FirstTurnResults;
}

/** A goal and the measured value. */
interface Goal {
  readonly claim: string;
  readonly found: string;
  readonly isMet: boolean;
}

const CPU_AT_MOST = { '1 KB': 1.5, '64 KB': 3 } as const;
const PORTKEY_AT_LEAST = 5;
const LAG_AT_MOST_MS = 0.3;
const RSS_AT_MOST_MB = 250;
const FLAT = 1.15;
const FIRST_TURN_P50_MS = 10;
const FIRST_TURN_P99_MS = 30;

/** Goals are ratios within one run where possible: absolute numbers differ between machines. */
function checkGoals(results: GatewayResults): readonly Goal[] {
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
    ...results.many.map(({ streams, size, complete, lost, recorded, peakMb }) => ({
      claim: `${streams} streams of ${size}: all complete and recorded, at most ${RSS_AT_MOST_MB} MB`,
      found: `${complete} complete, ${lost} lost, ${recorded} recorded, ${peakMb.toFixed(0)} MB`,
      isMet: complete === streams && lost === 0 && recorded === streams && peakMb <= RSS_AT_MOST_MB,
    })),
    ...memoryGoals(results),
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
    return {
      claim: `${shape} ${size}: CPU per request at most ${CPU_AT_MOST[size]}x the pass-through's`,
      found: `${ratio.toFixed(2)}x`,
      isMet: ratio <= CPU_AT_MOST[size],
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

type Row = readonly string[];

/** The results as Markdown that can also be read on a terminal. */
export function gatewayReport(results: GatewayResults): string {
  const { date, machine, node, command, minutes, rounds, loadBefore, notes, cells } = results;
  const tasks = [...new Set(cells.map(taskOf))];
  const parts = [
    `${date}, ${machine}, Node ${node}. \`${command}\`: ${rounds} interleaved rounds, ${minutes.toFixed(1)} minutes, load average before ${loadBefore.toFixed(1)}.`,
    ...notes.map((note) => `Note: ${note}.`),
    section('Goals', [
      ['', 'goal', 'found'],
      ...checkGoals(results).map(({ claim, found, isMet }) => [isMet ? 'met' : 'MISSED', claim, found]),
    ]),
    ...firstTurnSections(results),
    ...tasks.map((task) =>
      section(task, [
        [
          '',
          'req/s',
          'p50 ms',
          'p99 ms',
          'added p50',
          'added p99',
          'CPU µs/req',
          'main thread',
          '×',
          'RSS MB',
          'lost',
        ],
        ...cells.filter((cell) => taskOf(cell) === task).map((cell) => cellRow(cell, cells)),
      ]),
    ),
    section('Paced SSE (20 events, 10 ms apart, 64 KB request): how late an event arrives', [
      ['', 'streams', 'p50 ms', 'p99 ms', 'added p50', 'added p99', 'lost'],
      ...results.paced.map((one) => [
        one.subject,
        String(one.streams),
        ...[one.p50, one.p99, one.addedP50, one.addedP99].map((ms) => fixed(ms, 2)),
        String(one.lost),
      ]),
    ]),
    section('Many streams (40 events, 10 a second each, opened over 2 s)', [
      [
        'request',
        'streams',
        'complete',
        'recorded',
        'idle MB',
        'peak MB',
        'lag p50 ms',
        'lag p99 ms',
        'direct p99',
      ],
      ...results.many.map((one) => [
        one.size,
        ...[one.streams, one.complete, one.recorded].map(String),
        ...[one.idleMb, one.peakMb].map((mb) => fixed(mb, 0)),
        ...[one.lagP50, one.lagP99, one.directLagP99].map((ms) => fixed(ms, 2)),
      ]),
    ]),
    section('Memory at rest', [
      ['requests served', 'RSS MB'],
      ...results.ladder.map(({ requests, rssMb }) => [String(requests), fixed(rssMb, 0)]),
    ]),
    section('A conversation on disk', [
      [
        'turns',
        'system and tools',
        'messages at the end',
        'sent in all',
        'stored',
        'stored per turn',
        'share',
      ],
      ...results.growth.map((one) => [
        String(one.turns),
        ...[one.fixedBytes, one.messageBytes, one.sentBytes, one.storedBytes, one.storedPerTurn].map(
          kilobytes,
        ),
        `${fixed(one.storedShare * 100, 1)} %`,
      ]),
    ]),
  ];
  return `${parts.filter(Boolean).join('\n\n')}\n`;
}

const firstTurnSections = ({ firstTurn: { turns, cold } }: GatewayResults): readonly string[] => [
  section('The first turn of a conversation, at a person’s pace', [
    [
      'lessons',
      'request',
      'turns',
      'p50 ms',
      'p99 ms',
      'added p50',
      'added p99',
      'right one in a body',
      'in a body or line',
      'in a body at the 2nd turn',
      '2nd turn p50',
      'CPU ms: all threads',
      'main',
      'busiest other',
    ],
    ...turns.map((one) => [
      String(one.lessons),
      one.kilobytes === undefined ? 'all' : `${one.kilobytes} KB`,
      String(one.requests),
      ...[one.p50, one.p99].map((ms) => fixed(ms, 1)),
      ...[one.p50 - one.bareP50, one.p99 - one.bareP99].map((ms) => `+${fixed(ms, 1)}`),
      ...[one.inBody, one.inBlock, one.inBodyByNext].map((share) => fixed(share, 2)),
      fixed(one.nextP50, 1),
      ...(one.cpu === undefined
        ? ['', '', '']
        : [one.cpu.all, one.cpu.main, one.cpu.busiest].map((ms) => fixed(ms, 1))),
    ]),
  ]),
  section('The first turn after a start, while the sentence model is not loaded', [
    ['lessons', 'ms', 'pass-through ms'],
    ...cold.map(({ lessons, ms, bareMs }) => [String(lessons), fixed(ms, 1), fixed(bareMs, 1)]),
  ]),
];

const taskOf = ({ task }: LoadCell): string => task.name;

function cellRow(cell: LoadCell, cells: readonly LoadCell[]): Row {
  const bare = cells.find((other) => other.subject === 'pass-through' && taskOf(other) === taskOf(cell));
  const isMeasured = Number.isFinite(cell.cpu);
  const lost = cell.unrecorded ? `${cell.lost}, ${cell.unrecorded} unrecorded` : String(cell.lost);
  return [
    cell.subject,
    fixed(cell.perSecond, 0),
    ...[cell.p50, cell.p99].map((ms) => fixed(ms, 2)),
    ...[cell.addedP50, cell.addedP99].map((ms) => (cell.subject === 'direct' ? '' : `+${fixed(ms, 2)}`)),
    isMeasured ? `${fixed(cell.cpu, 0)} ±${fixed(cell.cpuUnrest * 100, 0)} %` : '',
    isMeasured ? fixed(cell.mainCpu, 0) : '',
    isMeasured && bare ? fixed(cell.cpu / bare.cpu, 2) : '',
    Number.isFinite(cell.rssMb) ? fixed(cell.rssMb, 0) : '',
    lost,
  ];
}

const fixed = (value: number, places: number): string =>
  Number.isFinite(value) ? value.toFixed(places) : '-';
const kilobytes = (bytes: number): string => `${fixed(bytes / 1000, 1)} kB`;

/** A titled table with aligned columns; empty when it has no rows. */
function section(title: string, [head = [], ...rows]: readonly Row[]): string {
  if (rows.length === 0) return '';
  const widths = head.map((_, at) => Math.max(3, ...[head, ...rows].map((row) => row[at]?.length ?? 0)));
  const line = (row: Row) => `| ${widths.map((width, at) => (row[at] ?? '').padEnd(width)).join(' | ')} |`;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [`### ${title}`, '', line(head), rule, ...rows.map(line)].join('\n');
}
