import { markdownTable, writeSection } from '../markdown.ts';
import type { GatewayResults } from './gateway-goals.ts';
import type { LoadCell } from './load-cells.ts';
import { type PaceResults, readResults, SUBJECT_NAMES } from './stored-results.ts';

/** What a turn costs with one gateway. */
interface OverviewRow {
  readonly name: string;
  /** Of all threads, in milliseconds, under full load. */
  readonly cpuMs: number;
  readonly rssMb: number;
  readonly addedMs: number | undefined;
  readonly keeps: string;
  /** At a person's pace, all later work included. */
  readonly pacedMs: number | undefined;
}

const BUSY = 'JSON, 64 KB request, 32 at once';
const ALONE = 'JSON, 64 KB request, 1 at once';

/** One table at the top of the document, from stored results. Says nothing without them. */
export function writeOverview(): void {
  const gateway = readResults('gateway');
  if (gateway === undefined || gateway.cells.length === 0) return;
  const pace = readResults('pace');
  const rows = overviewRows(gateway, pace);
  writeSection('lab/results/performance.md', 'overview', describeOverview(rows, gateway, pace));
}

const whenOf = ({ date, loadBefore }: GatewayResults): string =>
  `A prompt of 64 KB, 32 at once. ${date}, load average before ${loadBefore.toFixed(1)}.`;

function overviewRows(
  { cells, keeps }: GatewayResults,
  pace: PaceResults | undefined,
): readonly OverviewRow[] {
  const find = (task: string, subject: string): LoadCell | undefined =>
    cells.find((cell) => cell.task.name === task && cell.subject === subject);
  return Object.entries(SUBJECT_NAMES).flatMap(([subject, name]) => {
    const busy = find(BUSY, subject);
    if (busy === undefined) return [];
    const rates = pace?.rows.filter((row) => row.subject === subject) ?? [];
    return [
      {
        name,
        cpuMs: busy.cpu / 1000,
        rssMb: busy.rssMb,
        addedMs: find(ALONE, subject)?.addedP50,
        keeps: keeps[subject] ?? '',
        pacedMs: rates.toSorted((a, b) => b.rate - a.rate)[0]?.cpuMs,
      },
    ];
  });
}

function describeOverview(
  rows: readonly OverviewRow[],
  gateway: GatewayResults,
  pace: PaceResults | undefined,
): string {
  const missing = Object.values(SUBJECT_NAMES).filter((known) => !rows.some(({ name }) => name === known));
  return [
    markdownTable(
      [
        '',
        'CPU ms of a turn, full load',
        'at 25 turns a second, all later work included',
        'added ms, one at a time (p50)',
        'memory MB after full load',
        'recorded durably',
      ],
      rows.map(({ name, cpuMs, pacedMs, addedMs, rssMb, keeps }) => [
        name,
        cpuMs.toFixed(2),
        pacedMs?.toFixed(1) ?? '',
        addedMs?.toFixed(2) ?? '',
        rssMb.toFixed(0),
        keeps,
      ]),
    ),
    '',
    `${whenOf(gateway)} \`${gateway.command}\`${pace === undefined ? '' : `; ${pace.date}, load average before ${pace.load.toFixed(1)}, \`${pace.command}\``}. Made from the results in [measured](measured/).${missing.length === 0 ? '' : ` Not measured in this run: ${missing.join(', ')}.`}`,
  ].join('\n');
}
