import { writeFileSync } from 'node:fs';
import { html, type Markup, toText } from '../../report/markup.ts';
import type { GatewayResults } from './gateway-goals.ts';
import type { LoadCell } from './load-cells.ts';
import { markdownTable, writeSection } from '../markdown.ts';
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

/** One table at the top of the document, drawn, from stored results. Says nothing without them. */
export function writeOverview(): void {
  const gateway = readResults('gateway');
  if (gateway === undefined || gateway.cells.length === 0) return;
  const pace = readResults('pace');
  const rows = overviewRows(gateway, pace);
  writeFileSync('docs/cost.svg', drawOverview(rows, whenOf(gateway)));
  writeSection('docs/performance.md', 'overview', describeOverview(rows, gateway, pace));
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
    '![What a turn costs: CPU time, memory and what is recorded](cost.svg)',
    '',
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

const ROW = 34;
const TOP = 58;
/** As narrow as its words allow: a page shows it in a column of 620 pixels. */
const LEFT = 280;
const BARS = { cpu: { at: LEFT, width: 90 }, rss: { at: LEFT + 158, width: 70 } } as const;
const WORDS_AT = 557;
const WIDTH = 872;
const STYLE =
  'svg { font: 15px sans-serif } text { fill: #24292f } .dim { fill: #57606a; font-size: 13px } .head { font-weight: bold } .ours { fill: #0969da } .others { fill: #afb8c1 } @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .dim { fill: #9da7b3 } .ours { fill: #4493f8 } .others { fill: #57606a } }';

/** A line for each gateway, with bars for time and memory. */
function drawOverview(rows: readonly OverviewRow[], when: string): string {
  const height = TOP + rows.length * ROW + 30;
  const most = (of: 'cpuMs' | 'rssMb') => Math.max(...rows.map((row) => row[of]));
  const [mostCpu, mostRss] = [most('cpuMs'), most('rssMb')];
  const bar = (
    place: { readonly at: number; readonly width: number },
    share: number,
    y: number,
    isOurs: boolean,
  ): Markup =>
    html`<rect class="${isOurs ? 'ours' : 'others'}" x="${place.at}" y="${y - 12}" width="${Math.max(2, Math.round(place.width * share))}" height="16" rx="2"/>`;
  return toText(html`<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="What a turn costs">
<style>${STYLE}</style>
<text class="head" x="12" y="22">What a turn costs</text><text class="dim" x="12" y="${height - 10}">${when}</text>
<text class="dim" x="${BARS.cpu.at}" y="22">CPU, ms a turn</text><text class="dim" x="${BARS.rss.at}" y="22">memory, MB</text><text class="dim" x="${WORDS_AT}" y="22">recorded durably</text>
${rows.map(({ name, cpuMs, rssMb, keeps }, at) => {
  const y = TOP + at * ROW;
  const isOurs = name.startsWith('Instar');
  return html`<text x="12" y="${y}">${name}</text>${bar(BARS.cpu, cpuMs / mostCpu, y, isOurs)}<text x="${BARS.cpu.at + BARS.cpu.width * (cpuMs / mostCpu) + 8}" y="${y}">${cpuMs.toFixed(2)}</text>${bar(BARS.rss, rssMb / mostRss, y, isOurs)}<text x="${BARS.rss.at + BARS.rss.width * (rssMb / mostRss) + 8}" y="${y}">${rssMb.toFixed(0)}</text><text class="dim" x="${WORDS_AT}" y="${y}">${keeps}</text>\n`;
})}</svg>\n`);
}
