import { counted } from './numbers.ts';
import type { Report } from './report.ts';
import { columns, plainLine, wrapped } from './table/columns.ts';
import { costLines } from './table/cost-lines.ts';
import { dayLines } from './table/day-lines.ts';
import { differenceLines } from './table/difference-lines.ts';
import { lessonLines } from './table/lesson-lines.ts';
import { lossLines } from './table/loss-lines.ts';
import { nightLines } from './table/night-lines.ts';
import { arcLines, resultLines, typeLines } from './table/result-lines.ts';
import { ruleLines } from './table/rule-lines.ts';

export interface TableOptions {
  readonly width?: number;
  /** Escape codes that make titles and verdicts stand out. */
  readonly colour?: boolean;
}

const WIDTH = 100;

/** The report for a terminal: no line wider than asked, the last one ended. */
export function toTable(report: Report, { width = WIDTH, colour = false }: TableOptions = {}): string {
  const title = (text: string): string => (colour ? `\u001b[1m${text}\u001b[0m` : text);
  const sections = [
    { name: 'Result (95 % intervals)', lines: resultLines(report, width) },
    { name: 'By day', lines: dayLines(report, width) },
    { name: 'By type', lines: typeLines(report, width) },
    { name: 'By arc', lines: arcLines(report, width) },
    {
      name: 'Differences (paired, 95 % intervals, percentage points)',
      lines: differenceLines(report, width, colour),
    },
    { name: 'Rules: how often they were obeyed', lines: ruleLines(report, width) },
    { name: 'Losses beside gains', lines: lossLines(report, width) },
    { name: 'Lessons', lines: lessonLines(report, width) },
    { name: 'Nights: weights trained and weighed after a day', lines: nightLines(report, width) },
    { name: 'Cost', lines: costLines(report, width) },
  ];
  return [
    headLines(report, width, title),
    ...sections.filter(({ lines }) => lines.length > 0).map(({ name, lines }) => [title(name), ...lines]),
  ]
    .map((lines) => `${lines.join('\n')}\n`)
    .join('\n');
}

function headLines(
  { head, remarks }: Report,
  width: number,
  title: (text: string) => string,
): readonly string[] {
  const made = Object.entries(head.options).map(([name, value]) => `${name} ${value}`);
  const size = `${counted(head.questions, 'question')} × ${counted(head.seeds.length, 'seed')}`;
  const facts = [`run ${head.run}`, size, ...made, `instar ${head.version}`, head.startedAt];
  const [first = ''] = columns([[`${head.suite} · policy ${head.policy}`]], { width, indent: '' });
  return [
    title(plainLine(first)),
    ...wrapped(facts.join(' · '), width),
    ...remarks.flatMap((remark) => wrapped(`! ${remark}`, width)),
  ];
}
