import { byteCost, checkGoals, type GatewayResults } from './gateway-goals.ts';
import { isOfBytes, type LoadCell } from './load-cells.ts';
import type { FirstTurnResults } from './measure-first-turn.ts';
import type { Size } from './traffic.ts';

type Row = readonly string[];

const BYTE_SIZES: readonly Size[] = ['64 KB', '256 KB', '1 MB'];

/** The results as Markdown that can also be read on a terminal. */
export function gatewayReport(results: GatewayResults): string {
  const { date, machine, node, command, minutes, rounds, loadBefore, notes, cells } = results;
  const tasks = [...new Set(cells.map(taskOf))];
  const parts = [
    `${date}, ${machine}, Node ${node}. \`${command}\`: ${rounds} interleaved rounds, ${minutes.toFixed(1)} minutes, load average before ${loadBefore.toFixed(1)}.`,
    ...notes.map((note) => `Note: ${note}.`),
    goalSection(results),
    ...firstTurnSections(results.firstTurn),
    ...(results.before === undefined ? [] : firstTurnSections(results.before.firstTurn, ', before')),
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
    section('A byte of the request (JSON, 4 at once), in nanoseconds of CPU', [
      ['', ...BYTE_SIZES],
      ...[...new Set(cells.filter(({ task }) => isOfBytes(task)).map(({ subject }) => subject))]
        .filter((subject) => subject !== 'direct')
        .map((subject) => [
          subject,
          ...BYTE_SIZES.map((size) => {
            const cell = cells.find(
              (one) => one.subject === subject && isOfBytes(one.task) && one.task.size === size,
            );
            return cell === undefined ? '' : fixed(byteCost(cell), 1);
          }),
        ]),
    ]),
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

function goalSection(results: GatewayResults): string {
  const goals = checkGoals(results);
  const hasBefore = goals.some(({ before }) => before !== undefined);
  return section('Goals', [
    ['', 'goal', 'found', ...(hasBefore ? ['before, in the same run'] : [])],
    ...goals.map(({ claim, found, isMet, before }) => [
      isMet ? 'met' : 'MISSED',
      claim,
      found,
      ...(hasBefore ? [before ?? ''] : []),
    ]),
  ]);
}

const firstTurnSections = ({ turns, cold }: FirstTurnResults, which = ''): readonly string[] => [
  section(`The first turn of a conversation, at a person’s pace${which}`, [
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
  section(`The first turn after a start, while the sentence model is not loaded${which}`, [
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
