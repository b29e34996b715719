import { ERROR_BUDGET, evidenceNeeded, levelInSequence } from '../../../src/stats/error-budget.ts';
import { markdownTable } from '../markdown.ts';
import type { HoldoutTimes } from './holdout-alone.ts';
import { ATTEMPT_TOKENS } from './known-effects.ts';
import type { NullLibraries } from './peeking.ts';
import { type ErrorSummary, type KindSummary, shareWithInterval } from './summarise.ts';

interface LibrarySummary {
  readonly kinds: readonly KindSummary[];
  readonly errors: ErrorSummary;
}

export interface TrialFigures {
  readonly mixed: LibrarySummary;
  readonly useless: LibrarySummary;
  readonly same: LibrarySummary;
  readonly peeks: readonly {
    readonly candidates: number;
    readonly pairs: number;
    readonly alpha: number;
    readonly passed: number;
  }[];
  readonly libraries: NullLibraries & { readonly size: number; readonly pairs: number };
  readonly checkpoints: {
    readonly count: number;
    readonly nights: number;
    readonly pairs: number;
    readonly withFalse: number;
  };
  readonly holdout: readonly HoldoutTimes[];
}

const whole = (value: number): string =>
  Number.isFinite(value) ? Math.round(value).toLocaleString('en-US') : 'none';
const percent = (value: number): string => `${(100 * value).toFixed(1)} %`;
/** Scored sessions a week of one person at work. */
const A_WEEK = 10;

const kindTable = (kinds: readonly KindSummary[]): string =>
  markdownTable(
    ['lessons that', 'candidates', 'promoted', 'retired', 'pairs: median, 9 of 10', 'tokens for each'],
    kinds.map(({ kind, candidates, live, retired, pairs, tokens }) => [
      kind,
      whole(candidates),
      shareWithInterval(live, candidates),
      shareWithInterval(retired, candidates),
      pairs.map(whole).join(', '),
      whole(tokens),
    ]),
  );

/** The whole page: the method, and what was measured of it. */
export function renderStatistics(figures: TrialFigures): string {
  const { mixed, useless, same, peeks, libraries, checkpoints, holdout } = figures;
  const { lessons, weights } = ERROR_BUDGET;
  const errorRow = (name: string, { errors }: LibrarySummary): readonly string[] => [
    name,
    whole(errors.libraries),
    whole(errors.promoted),
    whole(errors.falsely),
    `${percent(errors.discoveryRate)} ± ${percent(1.96 * errors.discoveryError)}`,
    shareWithInterval(errors.withFalse, errors.libraries),
  ];
  const compared = holdout.map(({ effect, power, sessions }) => {
    const kind = mixed.kinds.find((one) => one.kind === `helps by ${100 * effect} points`);
    const pairs = kind?.toVerdict ?? Number.NaN;
    return [
      `${100 * effect} points`,
      whole(pairs),
      whole(2 * pairs),
      whole(2 * pairs * ATTEMPT_TOKENS),
      kind === undefined ? '' : percent(kind.live / kind.candidates),
      whole(sessions),
      Number.isFinite(sessions) ? whole(sessions / A_WEEK) : 'more than 500',
      percent(power),
    ];
  });
  return `# Statistics of the gate

How a lesson gets from *trial* to *live*, or is retired; what is promised about it, and what was measured. The tables are written by
\`npm run bench:trials -- --write\`; its seeds are fixed.

## What is promised

1. **Of everything that measurements promote, at most 5 % is useless, on average over the life of a home** (the false discovery rate),
   however often results are looked at, in whatever order lessons come, and however their measurements depend on each other.
   ${percent(lessons)} of it is for lessons, ${percent(weights)} for the weights of policies.
2. **A useless or harmful lesson is promoted with a probability of at most ${percent(lessons)}**, at any time of looking.
3. **A library without a single useful lesson** gets any of them promoted with a probability of at most ${percent(lessons)} (the family-wise
   error). For lessons that are shown with every task, this holds in every library.
4. A lesson that does no harm is retired as harmful by its trial with a probability of at most 5 % each. Retirement can be undone.

Useless means: a mean difference of at most 0 over the tasks that the lesson is shown for.

## One lesson: pairs of attempts

A task is drawn at random from the gate's tasks that production would show the lesson for, each root with the same probability, without
those that the lesson was learned from and their variations. It is attempted with the lesson and without it: same seeds, same other lessons,
same policy. D is the mean grade with it minus the mean grade without it, between −1 and 1. A pair with
an infrastructure error on either side is dropped as a whole.

A bettor stakes a share s of its wealth on each pair: W ← W · (1 + s · D). If the lesson does not help, the game is unfavourable whatever was
seen before, so that W is a nonnegative supermartingale, and by Ville's inequality it ever reaches 1/α with a probability of at most α. The
wealth of thirteen bettors with shares from 0.9 down to 0.007, who begin with 1 together, is one such **e-process** E; no effect has to be
guessed in advance. The same with −D tests for harm: a lesson is retired when that E reaches 20.

E = 0.7 · E(tasks) + 0.2 · E(real sessions) + 0.1 · E(replay). A sum of wealths is a wealth, so E is an e-process against "it helps nowhere".
Grades on fewer than three roots promote nothing: an effect on variations of one task may be luck with this task.

Tests are given up when even a mean that is higher by 1.5 standard errors would not reach the goal within 160 pairs. Giving up can
only refuse; the lesson stays on trial, its owner is asked.

## All lessons: one error budget

The test that is opened as number t has the share γ(t): the first 64 share half of the budget evenly, the next 128 a quarter, and so on; their
sum stays below 1. After every batch of pairs the largest set of lessons is promoted of which each has

> E(t) ≥ 1 / (α · min(1, γ(t) · N)), N = the number of lessons promoted ever, those of this set included.

This is e-BH (Wang and Ramdas 2022) with the weights of e-LOND (Xu and Ramdas 2024), decided again and again. Why it holds: at any later time at
least N lessons have been promoted, so each false one adds at most 1/N ≤ α · γ(t) · E(t) to the false discovery proportion, and the mean of E(t) at
any stopping time is at most 1 for a useless lesson. No independence is used. Alpha-investing on p-values (LORD, SAFFRON) would need it, or an
order in which one test ends before the next begins; here dozens run side by side and share tasks.

${markdownTable(
  ['promoted before', 'wealth needed in places 1 to 64', 'in places 65 to 192', 'always-shown lessons'],
  [0, 4, 9, 24].map((passed) => [
    String(passed),
    whole(Math.exp(evidenceNeeded({ place: 1 }, passed + 1, lessons))),
    whole(Math.exp(evidenceNeeded({ place: 65 }, passed + 1, lessons))),
    whole(Math.exp(evidenceNeeded({ place: 1, isFamilyWise: true }, passed + 1, lessons))),
  ]),
)}

**Order and dependence.** Places are given in the order in which lessons come on trial; which lesson is measured next depends on the results so far
(each gets 16 pairs, then the one nearest to its goal), which changes nothing in the promises. What they do need: a fresh seed for every pair, and a
drawn task. They are about the tasks of the gate: a lesson that helps on these and nowhere else passes rightly here and wrongly in life; real sessions are
the check for that. A lesson is measured beside the other lessons of its time.

**Weights** of policies are tested one after the other by the same paired test, against "no better", at the level
α · (passed + 1) / (t · (t + 1)) (e-LOND): ${[1, 2, 5, 10].map((t) => `${(100 * levelInSequence(t, t - 1, weights)).toFixed(2)} %`).join(', ')} for checkpoint 1, 2, 5 and 10
when all before passed.

## Deadlines and budgets

A test uses at most 160 pairs, and nothing is begun once \`practice.budget\` refuses. A lesson for which there is no task, no recorded
request and no judge says so at once; one whose test was not finished after 14 days says what stood in the way. Both stay on trial,
shown and measured in real sessions, and ask their owner: \`lessons show\`, \`lessons review\`, \`status\` and \`today\` list them with the reason. Everything is folded
from the facts \`trial-opened\`, \`trial-measured\` (every pair with its task and both grades) and \`trial-ended\`; lessons are moved by
\`instar/measurement\`, after the verdict is in the record.

## Where no task exists: replay

Recorded requests that the lesson would be shown for, of sessions that it was not learned from, are answered again with and without it, and the
judge compares the answers twice, in both orders; a preference that changes with the order is a tie. A judge may like a style: the mean
preference has to exceed 0.1 before it counts, and the judge must have agreed with people and verifiers on at least 20 turns. Verdicts that rest on replay alone say that they are weaker evidence.

## In real sessions: hold-out

A session goes without one lesson at most. Lessons take places in the order in which they come up; with \`library.holdout\` 0.1 there are ten places, and a
number drawn for the session names the place that stays empty. Every lesson with a place is held out with a probability of exactly 0.1, whatever
else is shown, so that means of sessions with and without it can be compared without weights. Lessons beyond the last place are shown and not
measured by this session.

## Measured: lessons with a known effect

Libraries of 50 through the code that a daemon runs (store, library, recall with a lesson forced in or out, batches, verdicts). Attempts succeed
with 30 to 60 of 100 without the lesson; the two attempts of a pair share no randomness, as with an API; 2 of 100 attempts fail for reasons of
infrastructure; 8 roots with one variation each for a lesson; at most 160 pairs. Intervals are 95 % (Wilson).

${kindTable(mixed.kinds)}

When the engine repeats its samples for the same seed, the attempts of a pair differ by the lesson alone, and fewer pairs are needed:

${kindTable(same.kinds)}

${markdownTable(
  [
    'libraries of 50',
    'libraries',
    'promoted',
    'of these falsely',
    'false discovery rate',
    'libraries with a false promotion',
  ],
  [
    errorRow('half useful', mixed),
    errorRow('all useless', useless),
    errorRow('half useful, same noise', same),
  ],
)}

## Measured: looking after every pair

Harsher than production: no test is given up, and every single pair is looked at.

${markdownTable(
  ['what', 'number', 'wrongly passed', 'promised'],
  [
    ...peeks.map(({ candidates, pairs, alpha, passed }) => [
      `a useless lesson alone at level ${percent(alpha)}, ${pairs} pairs`,
      whole(candidates),
      shareWithInterval(passed, candidates),
      percent(alpha),
    ]),
    [
      `libraries of ${libraries.size} useless lessons, ${libraries.pairs} pairs each, at least one promoted`,
      whole(libraries.libraries),
      shareWithInterval(libraries.withFalse, libraries.libraries),
      percent(lessons),
    ],
    [
      `homes with ${checkpoints.nights} checkpoints in a row that are no better, at least one passed`,
      whole(checkpoints.count),
      shareWithInterval(checkpoints.withFalse, checkpoints.count),
      percent(weights),
    ],
  ],
)}

## Measured: time to a verdict, against hold-out alone

Trials: the median number of pairs of the lessons that were promoted, in the libraries above, at most 160. Hold-out alone: every session is one that the lesson fits, a tenth goes without it, the
level is that of a first lesson (201 runs, at most 5,000 sessions); weeks at ${A_WEEK} scored sessions a week. Hold-out costs no tokens of its own, and
makes a tenth of the sessions go without a lesson.

${markdownTable(
  [
    'the lesson helps by',
    'trial: pairs',
    'attempts',
    'tokens',
    'promoted',
    'hold-out: sessions',
    'weeks',
    'promoted',
  ],
  compared,
)}

## What is not promised

- A lesson that makes no difference on the gate's tasks, and helps elsewhere, stays on trial: nothing here can see it.
- Small effects need many pairs: see the power above. A lesson without a verdict is no useless lesson.
- The owner's own approvals and the changes of \`library.autonomy: autonomous\` are outside the error budget.
- Lessons that a person restored, pinned or froze are not moved.
`;
}
