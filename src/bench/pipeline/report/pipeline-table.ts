import { count, duration } from '../../report/numbers.ts';
import { columns, plainLine, wrapped } from '../../report/table/columns.ts';
import { lessonLines } from '../../report/table/lesson-lines.ts';
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
  const title = (text: string): string => (colour ? `\u001b[1m${text}\u001b[0m` : text);
  const isRunOnce = report.head.runs === 1;
  const sections = [
    {
      name: isRunOnce ? 'Result (95 % intervals)' : 'Result, from the second run on (95 % intervals)',
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
  return [
    headLines(report, width, title),
    ...sections.filter(({ lines }) => lines.length > 0).map(({ name, lines }) => [title(name), ...lines]),
  ]
    .map((lines) => `${lines.join('\n')}\n`)
    .join('\n');
}

function headLines(
  { head, remarks }: PipelineReport,
  width: number,
  title: (text: string) => string,
): readonly string[] {
  const made = Object.entries(head.options).map(([name, value]) => `${name} ${value}`);
  const size = `${sizeText(head.seeds.length, head.runs)} × ${count(head.scored)} scored stages`;
  const facts = [`run ${head.run}`, size, ...made, `instar ${head.version}`, head.startedAt];
  const [first = ''] = columns([[`${head.suite} · policy ${head.policy}`]], { width, indent: '' });
  return [
    title(plainLine(first)),
    ...wrapped(facts.join(' · '), width),
    ...remarks.flatMap((remark) => wrapped(`! ${remark}`, width)),
  ];
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
