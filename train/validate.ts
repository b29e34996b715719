import type { RunCheckpoint, RunLog } from './run-journal.ts';
import type { TrainerEvent, TrainInput, ValidateRule } from './training-run.ts';

/** Whether the newest weights are to be tried on the tasks that choose the best ones. The first weights are, too. */
export function isValidationDue(
  { run }: RunLog,
  { every }: Pick<ValidateRule<never>, 'every'>,
  isLast: boolean,
): boolean {
  const newest = run.lineage.at(-1);
  if (newest === undefined || run.validated.has(newest.version)) return false;
  return isLast || (run.lineage.length - 1) % every === 0;
}

/** One attempt at each task, with the same seeds for all versions. Nothing is written when the signal aborts. */
export async function* validate<Task>(
  { rollouts, batch: { atOnce = 1 }, run: name, signal }: TrainInput<Task>,
  { tasks }: ValidateRule<Task>,
  log: RunLog,
): AsyncGenerator<TrainerEvent, void, undefined> {
  const newest = log.run.lineage.at(-1);
  if (newest === undefined) return;
  const { version, sampler } = newest;
  const scores: number[] = [];
  for (let from = 0; from < tasks.length; from += atOnce) {
    if (signal.aborted) return;
    const chunk = tasks.slice(from, from + atOnce);
    const made = await Promise.all(
      chunk.map((task, at) =>
        rollouts({ version, sampler }, task, 1, { seed: `${name}/validate/${from + at}`, signal }),
      ),
    );
    for (const [rollout] of made)
      if (rollout !== undefined)
        scores.push(rollout.isComplete === undefined ? rollout.reward : Number(rollout.isComplete));
  }
  if (signal.aborted || scores.length === 0) return;
  const reward = scores.reduce((sum, score) => sum + score, 0) / scores.length;
  await log.append({ type: 'validated', version, reward, tasks: scores.length });
  yield { type: 'validated', version, reward, tasks: scores.length };
}

/** The best weights by these tasks, of equal ones the newest; without such tasks the newest. */
export function bestCheckpoint({ run: { lineage, validated } }: RunLog): RunCheckpoint | undefined {
  const scored = lineage.filter(({ version }) => validated.has(version));
  const rewardOf = ({ version }: RunCheckpoint): number => validated.get(version) ?? 0;
  const highest = Math.max(...scored.map(rewardOf));
  return scored.findLast((one) => rewardOf(one) === highest) ?? lineage.at(-1);
}
