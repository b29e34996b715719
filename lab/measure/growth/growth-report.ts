import { markdownTable, milliseconds } from '../markdown.ts';
import { describeEngines } from '../measured.ts';
import type { HistoryTimes } from './fill-history.ts';
import type { LibrarySize } from './fill-lessons.ts';
import type { HomeCost } from './measure-home.ts';
import type { SessionCost } from './measure-sessions.ts';

/** The results of one run. A part that was not run is empty. */
export interface GrowthResults {
  readonly date: string;
  readonly machine: string;
  readonly command: string;
  /** Load average before and after: other work on the machine. */
  readonly load: readonly [before: number, after: number];
  readonly history: readonly {
    readonly turns: number;
    readonly times: HistoryTimes;
    readonly cost: HomeCost;
  }[];
  readonly lessons: readonly (LibrarySize & { readonly cost: HomeCost })[];
  readonly sessions: readonly SessionCost[];
}

export function growthReport({ date, machine, command, load, ...results }: GrowthResults): string {
  return [
    `${date}, ${machine}. \`${command}\`, load average ${load.map((one) => one.toFixed(1)).join(' before, ')} after: CPU times and bytes can be compared, wall times (in brackets) say what a busy machine did.`,
    ...historyTables(results),
    ...lessonTables(results),
    ...sessionTable(results),
  ].join('\n');
}

const COST_HEAD = [
  'CPU ms a turn',
  'main',
  'writer',
  'learning',
  'model',
  'kB written a turn',
  'first turn p50 ms (wall)',
  'start: CPU s until it serves',
  'until nothing is left to do',
  '(wall s)',
  'MB at rest',
  'MB after the turns',
  'MB on disk',
  'tasks compared with lessons',
];

const costCells = (cost: HomeCost): readonly string[] => [
  cost.turnCpu.toFixed(1),
  ...['main', 'writer', 'learning', 'minilm'].map((name) => (cost.threads[name] ?? 0).toFixed(1)),
  cost.turnKb.toFixed(0),
  cost.firstP50.toFixed(0),
  (cost.readyCpu / 1000).toFixed(2),
  (cost.settledCpu / 1000).toFixed(2),
  (cost.settledMs / 1000).toFixed(1),
  cost.startMb.toFixed(0),
  cost.restMb.toFixed(0),
  cost.diskMb.toFixed(cost.diskMb < 10 ? 1 : 0),
  describeEngines(cost.engines),
];

function historyTables({ history }: Pick<GrowthResults, 'history'>): readonly string[] {
  if (history.length === 0) return [];
  return [
    '',
    '### Against history',
    '',
    markdownTable(
      ['turns in the record', ...COST_HEAD],
      history.map(({ turns, cost }) => [count(turns), ...costCells(cost)]),
    ),
    '',
    'The store alone (each turn has two new texts of 800 bytes, and is appraised; sessions of twenty are ended and scored):',
    '',
    markdownTable(
      [
        'turns',
        'facts',
        'recorded a second: first tenth',
        'last tenth',
        'open, ms',
        'list the 50 newest sessions',
        'list 50 of eleven months ago',
        'show a session',
      ],
      history.map(({ turns, times }) => [
        count(turns),
        count(times.facts),
        count(Math.round(times.firstTenth)),
        count(Math.round(times.lastTenth)),
        ...[times.openMs, times.newestMs, times.oldMs, times.showMs].map(milliseconds),
      ]),
    ),
  ];
}

const lessonTables = ({ lessons }: Pick<GrowthResults, 'lessons'>): readonly string[] =>
  lessons.length === 0
    ? []
    : [
        '',
        '### Against lessons',
        '',
        markdownTable(
          ['lessons', 'for the agent that asks', ...COST_HEAD],
          lessons.map(({ lessons: size, inScope, cost }) => [
            count(size),
            count(inScope),
            ...costCells(cost),
          ]),
        ),
      ];

const sessionTable = ({ sessions }: Pick<GrowthResults, 'sessions'>): readonly string[] =>
  sessions.length === 0
    ? []
    : [
        '',
        '### Against the length of a conversation',
        '',
        markdownTable(
          [
            'at turn',
            'subject',
            'request kB',
            'CPU ms a turn',
            'µs a kB',
            'main',
            'writer',
            'learning',
            'kB written a turn',
            'CPU ms of the last turn, with the end of the session',
          ],
          sessions.map((one) => [
            count(one.turns),
            one.subject,
            (one.bytes / 1000).toFixed(0),
            one.turnCpu.toFixed(1),
            ((one.turnCpu * 1e6) / one.bytes).toFixed(1),
            ...['main', 'writer', 'learning'].map((name) => (one.threads[name] ?? 0).toFixed(1)),
            one.turnKb.toFixed(0),
            one.endCpu.toFixed(0),
          ]),
        ),
      ];

const count = (value: number): string => value.toLocaleString('en-US');
