import { count, duration, fixed, money } from '../numbers.ts';
import type { Report } from '../report.ts';
import { columns } from './columns.ts';

export function costLines({ costs }: Report, width: number): readonly string[] {
  if (costs.length === 0) return [];
  return columns(
    [
      ['condition', 'cost', 'tokens in', 'out', 'steps each', 'time each', 'overhead each: median', '95 %'],
      ...costs.map(({ condition, questions, usd, inputTokens, outputTokens, steps, ms, overheadMs }) => [
        condition,
        money(usd),
        count(inputTokens),
        count(outputTokens),
        fixed(steps / questions, 1),
        duration(ms / questions),
        duration(overheadMs.median),
        duration(overheadMs.p95),
      ]),
    ],
    { width, right: [1, 2, 3, 4, 5, 6, 7] },
  );
}
