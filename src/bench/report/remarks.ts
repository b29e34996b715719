import type { RunHead } from '../row.ts';
import { FEWEST_SEEDS } from './explain-difference.ts';
import { count, counted, percent } from './numbers.ts';
import type { ConditionSummary } from './summarise.ts';

/** What a reader must know before the numbers. */
export function remarksOn(
  head: RunHead,
  conditions: readonly ConditionSummary[],
  repeated: number,
): readonly string[] {
  const out: string[] = [...head.notes];
  if (head.options.form === 'short') {
    out.push('Short-context form of the questions: not to be compared with runs of the full form.');
  }
  if (conditions.every(({ asked }) => asked === 0)) return [...out, 'No question has been asked yet.'];
  const expected = head.questions * head.seeds.length;
  for (const { condition, asked, graded, accuracyBounds, seeds } of conditions) {
    if (asked === 0) out.push(`${condition}: nothing was asked under this condition.`);
    else if (asked < expected) {
      out.push(
        `${condition}: ${count(asked)} of ${counted(expected, 'question')} were asked, in ${counted(seeds.length, 'seed')} of ${head.seeds.length}; the run was interrupted or is under way.`,
      );
    }
    if (asked > 0 && graded === 0) out.push(`${condition}: no question could be graded.`);
    else if (graded < asked && accuracyBounds !== undefined) {
      out.push(
        `${condition}: ${counted(asked - graded, 'question')} of ${count(asked)} could not be graded and count neither as right nor as wrong; accuracy over all would lie between ${percent(accuracyBounds.low)} and ${percent(accuracyBounds.high)}.`,
      );
    }
  }
  if (repeated > 0)
    out.push(
      `${counted(repeated, 'line')} of the journal repeat a question that was answered before; each question counts once.`,
    );
  const seeds = new Set(conditions.flatMap((condition) => condition.seeds)).size;
  if (seeds > 0 && seeds < FEWEST_SEEDS) {
    out.push(
      `${counted(seeds, 'seed')}: fewer than ${FEWEST_SEEDS} say little about how the next run will go.`,
    );
  }
  return out;
}
