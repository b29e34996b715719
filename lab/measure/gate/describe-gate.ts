import { levelInSequence, WEIGHTS_ERROR_BUDGET } from '../../../src/stats/error-budget.ts';
import { DEFAULT_PROMOTION } from '../../../train/promotion.ts';
import { planTrial } from '../../../train/trial-plan.ts';
import { RATED_A_WEEK, REPLAYED_A_WEEK, WEEKS } from './simulate-gate.ts';

const percent = (value: number, digits = 1): string => `${(100 * value).toFixed(digits)} %`;
const points = (value: number): string => String(Math.round(100 * value));

/** What the gate of weights promises, and how it is measured. */
export function describeGate(runs: number): string {
  const { alpha, effect, power, regressionMargin, canaryMargin, mostPairs, mostRepeats } = DEFAULT_PROMOTION;
  const level = levelInSequence(1, 0, WEIGHTS_ERROR_BUDGET);
  const needed = (more: number): number =>
    planTrial(120, level, { ...DEFAULT_PROMOTION, effect: more }).needed;
  return `## Weights: the gate

New weights serve when three things were shown, in this order; the numbers of this section are written by \`npm run bench:gate -- --write\`.

1. **Better on the user's held-out tasks**: betting against "the mean difference is at most 0", at the level of the checkpoint's place in the error
   budget (${percent(level)} for the first one). Not "no worse": equal weights do not pass.
2. **Less than ${points(regressionMargin)} points worse on general questions**, at ${percent(alpha, 0)}. Both versions answer every question greedily, so that this is an
   ordinary one-sided test at the end of the suite; its variance is at least that of a version which loses the margin and gains nothing. A suite that
   the live version answers not at all cannot show a loss: the verdict says so.
3. **Less than ${points(canaryMargin)} points worse as a canary**: in rated sessions, one in ten of which it serves, or on recorded requests that both versions answer again
   (a request that part 1 has used does not count again). Each of the two tests has ${percent(alpha / 2)}. Requests are replayed while fewer than 60 sessions a week are rated.

**Observations are tasks, not attempts.** A task and its variations (the same \`root\`) are one cluster; the mean difference of its pairs is one observation,
made once, after up to ${mostRepeats} pairs (${mostPairs} in a trial). A task that comes again with new seeds makes its own mean surer and adds nothing to n.

**Power before a trial, and before training.** A trial is opened only if its clusters can show an improvement of ${points(effect)} points (\`train.effect\`) with a probability of ${percent(power, 0)}: about
${needed(effect)} clusters for the first checkpoint of a home, ${needed(0.3)} for 30 points, ${needed(0.5)} for 50, in the worst case. The same is asked before the first step of training: weights that could not be tried are not made, and nothing
is sampled or paid for: "About ${needed(effect)} tasks needed to show an improvement of ${points(effect)} points, 40 there: not trained". The variance of a pair of attempts is, by the first of these that is known:

1. that of the last trial with 20 clusters or more;
2. what practice lets expect: at a task at which the policy succeeds with the rate p, a pair has a variance of at most p (1 − p) + q (1 − q), q = p + \`train.effect\`, because a reward of 0 to 1 with the mean p has one of at most p (1 − p).
   The mean over the tasks that the policy practised, in their newest groups of two attempts or more; each task has half a success and half a failure added, and ten tasks of the worst case are added to all of them;
3. the worst case, two independent attempts that succeed as often as they fail: 0.5.

It is never taken to be less than a quarter of the worst case, and three tenths of it are shared by the pairs of a cluster. What is expected decides only whether a trial is opened: the test itself holds at its level whatever was expected.
Practice prefers tasks that succeed sometimes, and its attempts are made by the newest weights of a run: the first makes the variance larger than that of all tasks, the second may differ from the live version's. A trial that is not opened uses up nothing of the error budget.

**One after the other.** While a canary waits, the next checkpoint is measured; if it passes, it replaces the canary, and nothing that was measured of
one counts for the other. If the canary goes live first, the candidate's trial ends: it was compared with weights that serve no more.

### Measured: false promotion and power of the whole gate

${runs.toLocaleString('en-US')} checkpoints a cell, through the fold that a daemon runs (\`train/promotion\`), seeds 0 to ${(runs - 1).toLocaleString('en-US')}. Grades are 0 or 1, and the two attempts of a pair share no randomness; success rates of the live
version are uniform over what the effect allows. Correlation 0: the effect is the same for every task. 0.5: it is 55 points higher on half of the tasks and 55 lower on the others.
Of general questions 8 % are answered differently by chance. Thin traffic: ${RATED_A_WEEK.thin} rated sessions a week, and ${REPLAYED_A_WEEK} recorded requests that can be graded, after the tasks that part 1 did not need; thick: ${RATED_A_WEEK.thick} rated
sessions and no replay. A canary is given ${WEEKS} weeks. Intervals are 95 % (Wilson).`;
}
