import { counted } from './numbers.ts';
import type { Report } from './report.ts';
import { costLines } from './table/cost-lines.ts';
import { dayLines } from './table/day-lines.ts';
import { differenceLines } from './table/difference-lines.ts';
import { lessonLines } from './table/lesson-lines.ts';
import { lossLines } from './table/loss-lines.ts';
import { nightLines } from './table/night-lines.ts';
import { arcLines, resultLines, typeLines } from './table/result-lines.ts';
import { ruleLines } from './table/rule-lines.ts';
import { headSection, sectionsText } from './table/sections.ts';

export interface TableOptions {
  readonly width?: number;
  /** Escape codes that make titles and verdicts stand out. */
  readonly colour?: boolean;
}

const WIDTH = 100;

/** The report for a terminal: no line wider than asked, the last one ended. */
export function toTable(report: Report, { width = WIDTH, colour = false }: TableOptions = {}): string {
  const size = `${counted(report.head.questions, 'question')} × ${counted(report.head.seeds.length, 'seed')}`;
  const sections = [
    headSection(report, size, width),
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
  return sectionsText(sections, colour);
}
