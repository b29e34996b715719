import { count, counted, fixed } from '../../../report/numbers.ts';
import { columns, wrapped } from '../../../report/table/columns.ts';
import { wordsOf } from '../explain-run-difference.ts';
import { changeText } from '../measures.ts';
import type { PipelineReport } from '../pipeline-report.ts';

const MOST_STAGES = 8;

export function stageLines({ stages }: PipelineReport, width: number): readonly string[] {
  if (stages.length === 0) return [];
  const rows = stages.map(({ stage, pairs, baseline, skills, gained, lost }) => [
    stage,
    `${fixed(baseline.refines, 2)} → ${fixed(skills.refines, 2)}`,
    `${count(baseline.retried)} → ${count(skills.retried)}`,
    `${count(baseline.completed)} → ${count(skills.completed)} of ${count(pairs)}`,
    count(gained),
    count(lost),
  ]);
  return columns([['stage', 'refine cycles', 'retried', 'completed', 'better', 'worse'], ...rows], {
    width,
    right: [1, 2, 3, 4, 5],
  });
}

export function stageLossLines({ losses, stages }: PipelineReport, width: number): readonly string[] {
  if (losses === undefined) return [];
  const worse = stages.filter(({ gained, lost }) => lost > gained);
  const robustness = wordsOf({ measure: 'robustness' });
  const listed = losses.stages
    .slice(0, MOST_STAGES)
    .map(({ seed, run, stage }) => `${stage} (seed ${seed}, run ${run})`)
    .join(', ');
  const more = losses.stages.length - MOST_STAGES;
  const lines = [
    `${count(losses.gained)} of ${counted(losses.pairs, 'stage')} went better with lessons, ${count(losses.stages.length)} worse`,
    ...(losses.runs.length === 0
      ? []
      : [
          `runs that were less robust: ${losses.runs.map(({ seed, run, by }) => `seed ${seed} run ${run} (${changeText(robustness, by)})`).join(', ')}`,
        ]),
    ...(worse.length === 0
      ? []
      : [`worse more often than better: ${worse.map(({ stage }) => stage).join(', ')}`]),
    ...(losses.stages.length === 0
      ? []
      : [`lost, largest first: ${listed}${more > 0 ? `, and ${count(more)} more` : ''}`]),
  ];
  return lines.flatMap((line, place) => wrapped(line, width, place === 0 ? '  ' : '    ', '      '));
}
