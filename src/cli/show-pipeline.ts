import type { PipelineReport } from '../app/bench/run-pipeline.ts';
import type { CommandContext } from './context.ts';

const ROWS = [
  { name: 'completion', title: 'stages completed', isShare: true },
  { name: 'retryRate', title: 'stages retried', isShare: true },
  { name: 'refinesPerStage', title: 'refine cycles a stage', isShare: false },
  { name: 'robustness', title: 'robustness', isShare: false },
] as const;

/** What lessons change in the pipeline, as a table or as JSON. */
export function showPipeline(report: PipelineReport, { printer }: CommandContext): void {
  if (printer.json) {
    printer.document(report);
    return;
  }
  const { policy, seeds, runs, measures } = report;
  printer.line(
    `pipeline · policy ${policy} · ${seeds.length} seeds × ${runs} runs, the first of each not compared`,
  );
  printer.table([
    ['', 'baseline', 'skills', 'difference', '95 %', ''].map((text) => ({ text, style: 'dim' as const })),
    ...ROWS.map(({ name, title, isShare }) => {
      const { baseline, skills, difference } = measures[name];
      const show = (value: number | undefined): string => {
        if (value === undefined || Number.isNaN(value)) return '–';
        return isShare ? `${(value * 100).toFixed(1)} %` : value.toFixed(3);
      };
      const { mean, interval, isShown } = difference;
      const range =
        interval === undefined ? 'no interval' : `${show(interval.low)} to ${show(interval.high)}`;
      return [title, show(baseline), show(skills), show(mean), range, isShown ? '' : 'cannot say'];
    }),
  ]);
}
