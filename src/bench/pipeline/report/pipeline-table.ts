import { count, duration } from '../../report/numbers.ts';
import { columns, wrapped } from '../../report/table/columns.ts';
import { lessonLines } from '../../report/table/lesson-lines.ts';
import { headSection, sectionsText } from '../../report/table/sections.ts';
import type { TableOptions } from '../../report/to-table.ts';
import { MEASURES, sizeText } from './measures.ts';
import type { PipelineReport } from './pipeline-report.ts';
import { conventionLines } from './table/convention-lines.ts';
import { curveLines, resultLines } from './table/measure-lines.ts';
import { runDifferenceLines } from './table/run-difference-lines.ts';
import { stageLines, stageLossLines } from './table/stage-lines.ts';

const WIDTH = 100;

/** The report for a terminal: no line wider than asked, the last one ended. */
export function pipelineTable(
  report: PipelineReport,
  { width = WIDTH, colour = false }: TableOptions = {},
): string {
  const { seeds, runs, scored } = report.head;
  const sections = [
    headSection(report, `${sizeText(seeds.length, runs)} × ${count(scored)} scored stages`, width),
    {
      name: runs === 1 ? 'Result (95 % intervals)' : 'Result, from the second run on (95 % intervals)',
      lines: resultLines(report, width),
    },
    {
      name: 'Differences: skills − baseline (paired, 95 % intervals)',
      lines: runDifferenceLines(report, width, colour),
    },
    { name: 'Run by run (mean over seeds)', lines: curveLines(report, width) },
    {
      name: 'Conventions: first answers that broke them, over all seeds',
      lines: conventionLines(report, width),
    },
    { name: 'Stages: baseline → skills, from the second run on', lines: stageLines(report, width) },
    { name: 'Losses beside gains', lines: stageLossLines(report, width) },
    { name: 'Lessons', lines: lessonLines(report, width, 'run') },
    { name: 'Cost', lines: costLines(report, width) },
    {
      name: 'What is measured',
      lines: MEASURES.flatMap(({ title: name, meaning }) => wrapped(`${name}: ${meaning}`, width)),
    },
  ];
  return sectionsText(sections, colour);
}

function costLines({ costs }: PipelineReport, width: number): readonly string[] {
  if (costs.length === 0) return [];
  return columns(
    [
      ['condition', 'runs', 'tokens in', 'out', 'time a run', 'outside the policy'],
      ...costs.map(({ condition, runs, inputTokens, outputTokens, ms, overheadMs }) => [
        condition,
        count(runs),
        count(inputTokens),
        count(outputTokens),
        duration(ms / runs),
        duration(overheadMs / runs),
      ]),
    ],
    { width, right: [1, 2, 3, 4, 5] },
  );
}
