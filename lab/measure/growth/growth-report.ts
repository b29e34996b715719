import { type LogPanel, type LogSeries, logPlots } from '../../report/log-plot.ts';
import { toText } from '../../report/markup.ts';
import { markdownTable, milliseconds } from '../markdown.ts';
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
    '',
    '![Cost against history, lessons and the length of a session](growth.svg)',
    '',
    'The dashed line grows in proportion to the size.',
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

/** The same results as curves: a row for each cost, a column for each size. */
export function growthPlot({ history, lessons, sessions }: GrowthResults): string {
  const panels: LogPanel[] = [];
  const own = lessons.filter(({ lessons: all, inScope }) => all === inScope);
  const few = lessons.filter(({ lessons: all, inScope }) => all !== inScope);
  const few100 = few.map(({ lessons: size, cost }) => ({ size, cost }));
  const row = (title: string, read: (cost: HomeCost) => number): void => {
    const series = (name: string, from: readonly { readonly size: number; readonly cost: HomeCost }[]) => ({
      name,
      points: from.map(({ size, cost }) => ({ size, value: read(cost) })),
    });
    panels.push(
      {
        title,
        along: 'turns in the record',
        series: [
          series(
            'instar',
            history.map(({ turns, cost }) => ({ size: turns, cost })),
          ),
        ],
      },
      {
        title,
        along: 'lessons',
        series: [
          series(
            'all in scope',
            own.map(({ lessons: size, cost }) => ({ size, cost })),
          ),
          ...(few100.length > 0 ? [series('1 % in scope', few100)] : []),
        ],
      },
    );
  };
  const ofSession = (title: string, read: (cost: SessionCost) => number): LogPanel => ({
    title,
    along: 'turns of the conversation',
    series: [...new Set(sessions.map(({ subject }) => subject))].map(
      (subject): LogSeries => ({
        name: subject,
        points: sessions
          .filter((one) => one.subject === subject)
          .map((one) => ({ size: one.turns, value: read(one) })),
      }),
    ),
  });
  row('CPU of a turn, ms', ({ turnCpu }) => turnCpu);
  panels.push(ofSession('CPU of a turn, ms', ({ turnCpu }) => turnCpu));
  row('CPU of a start, s', ({ settledCpu }) => settledCpu / 1000);
  panels.push(ofSession('CPU of a kilobyte, µs', ({ turnCpu, bytes }) => (turnCpu * 1e6) / bytes));
  row('Memory at rest, MB', ({ restMb }) => restMb);
  panels.push(ofSession('Written a turn, kB', ({ turnKb }) => turnKb));
  row('Disk, MB', ({ diskMb }) => diskMb);
  panels.push(ofSession('CPU of the session’s end, ms', ({ endCpu }) => endCpu));
  return toText(logPlots(panels, 3, 'Cost against history, lessons and the length of a session'));
}
