import type { TrialOutcome } from '../../../src/core/trial.ts';
import { changeRangeText } from '../../report/difference.ts';
import { changeText, count, counted, figureText, NO_VALUE, percent } from '../../report/numbers.ts';
import { markdownTable } from '../markdown.ts';
import { type ArmRow, MOST_VOTES, PRACTICE_ARMS, type PracticeArm } from './arms.ts';
import { armFigure, compareArms, countChanges, PRACTICE_MEASURES } from './compare-arms.ts';
import type { SeedResult, SeedSize } from './measure-seed.ts';

interface ReportParts {
  readonly results: readonly SeedResult[];
  readonly size: SeedSize;
  /** When and on what it was measured. */
  readonly place: string;
}

/** The section of the document, in Markdown. */
export function reportPractice({ results, size, place }: ReportParts): string {
  const rows = results.flatMap((result) => result.rows);
  const seeds = results.map(({ seed }) => seed);
  return [
    `Seeds ${seeds.join(', ')}, ${size.report} tasks of the report split each, ${place}.`,
    armTable(rows),
    `Each task of each seed is one block of the bootstrap; that seeds differ as a whole is not part of the intervals: see the seeds below. **Bold**: the interval and a sign-flip test both exclude "no difference".`,
    comparisonTable(rows),
    seedTable(results),
    ruleTable(results),
    nightTable(results),
    bareText(results),
    votesText(rows),
    trialTable(results),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

const armsIn = (rows: readonly ArmRow[]): readonly PracticeArm[] =>
  PRACTICE_ARMS.filter((arm) => rows.some((row) => row.arm === arm));

const of = (rows: readonly ArmRow[], arm: PracticeArm): readonly ArmRow[] =>
  rows.filter((row) => row.arm === arm);

const meanBy = (rows: readonly ArmRow[], value: (row: ArmRow) => number): number =>
  rows.reduce((sum, row) => sum + value(row), 0) / Math.max(1, rows.length);

function armTable(rows: readonly ArmRow[]): string {
  const head = [
    'arm',
    'rules kept (95 %)',
    'tasks complete (95 %)',
    'tasks done',
    'rules against baseline, points',
    'tasks against baseline, points',
    'tasks better / worse',
    'lessons shown',
    'attempts per task',
    'tokens per task',
    's per task',
  ];
  return markdownTable(
    head,
    armsIn(rows).map((arm) => {
      const own = of(rows, arm);
      const { better, worse } = countChanges(rows, arm, 'baseline');
      return [
        arm,
        figureText(PRACTICE_MEASURES.rules, armFigure('rules', own)),
        figureText(PRACTICE_MEASURES.tasks, armFigure('tasks', own)),
        shareOf(own.filter(({ isDone }) => isDone).length, own.length),
        arm === 'baseline' ? NO_VALUE : differenceText(rows, 'rules', arm, 'baseline'),
        arm === 'baseline' ? NO_VALUE : differenceText(rows, 'tasks', arm, 'baseline'),
        arm === 'baseline' ? NO_VALUE : `${better} / ${worse}`,
        meanBy(own, ({ shown }) => shown).toFixed(1),
        meanBy(own, ({ attempts }) => attempts).toFixed(1),
        count(Math.round(meanBy(own, ({ tokens }) => tokens))),
        (meanBy(own, ({ ms }) => ms) / 1000).toFixed(1),
      ];
    }),
  );
}

function differenceText(
  rows: readonly ArmRow[],
  measure: 'rules' | 'tasks',
  treatment: PracticeArm,
  control: PracticeArm,
): string {
  const { mean, interval, verdict } = compareArms(measure, rows, treatment, control);
  const words = PRACTICE_MEASURES[measure];
  const text = `${changeText(words, mean)} (${changeRangeText(words, interval)})`;
  return verdict === 'cannot say' ? text : `**${text}**`;
}

const COMPARED: readonly (readonly [PracticeArm, PracticeArm])[] = [
  ['both', 'semantic'],
  ['both', 'weights'],
  ['semantic', 'tips'],
  ['semantic', 'notes'],
  ['both', 'notes'],
];

function comparisonTable(rows: readonly ArmRow[]): string {
  const arms = new Set(armsIn(rows));
  return markdownTable(
    ['comparison', 'rules kept, points', 'tasks complete, points', 'tasks better / worse'],
    COMPARED.filter((pair) => pair.every((arm) => arms.has(arm))).map(([treatment, control]) => {
      const { better, worse } = countChanges(rows, treatment, control);
      return [
        `${treatment} against ${control}`,
        differenceText(rows, 'rules', treatment, control),
        differenceText(rows, 'tasks', treatment, control),
        `${better} / ${worse}`,
      ];
    }),
  );
}

const shareOf = (part: number, all: number): string => percent(all === 0 ? undefined : part / all);

function seedTable(results: readonly SeedResult[]): string {
  const arms = armsIn(results.flatMap(({ rows }) => rows));
  return markdownTable(
    ['tasks complete', ...arms],
    results.map(({ seed, rows }) => [
      `seed ${seed}`,
      ...arms.map((arm) => {
        const own = of(rows, arm);
        return shareOf(own.filter(({ isComplete }) => isComplete).length, own.length);
      }),
    ]),
  );
}

/** A rule is taught when a text contains what is needed to follow it: for the report alone. */
function ruleTable(results: readonly SeedResult[]): string {
  const arms = armsIn(results.flatMap(({ rows }) => rows));
  return markdownTable(
    ['rule', 'its words are in a lesson', 'tasks', ...arms.map((arm) => `${arm}: kept`)],
    results.flatMap(({ seed, rules, rows, night }) =>
      rules.map((rule) => {
        const texts = night.lessons.map(({ text }) => `${text.name}\n${text.description}\n${text.content}`);
        const isTaught = texts.some((text) => rule.isTaughtBy(text));
        const asked = rows.filter((row) => row.rules.includes(rule.id));
        return [
          `${seed}: ${rule.about} (${rule.form})`,
          isTaught ? 'yes' : 'no',
          String(of(asked, 'baseline').length),
          ...arms.map((arm) => {
            const own = of(asked, arm);
            return shareOf(own.filter(({ kept }) => kept.includes(rule.id)).length, own.length);
          }),
        ];
      }),
    ),
  );
}

function nightTable(results: readonly SeedResult[]): string {
  return markdownTable(
    [
      'night',
      'tasks',
      'attempts',
      'groups that differ',
      'training steps (groups)',
      'mean reward, first and last batch',
      'lessons',
      'refused by the gate',
      'tokens: attempts, learner',
      'minutes',
    ],
    results.map(({ seed, night }) => [
      `seed ${seed}`,
      String(night.groups),
      count(night.attempts),
      `${night.kept} of ${night.groups}`,
      `${night.trained.filter(({ groups }) => groups > 0).length} (${night.trained.reduce((sum, { groups }) => sum + groups, 0)})`,
      `${night.rewards[0]?.toFixed(2) ?? NO_VALUE}, ${night.rewards.at(-1)?.toFixed(2) ?? NO_VALUE}`,
      String(night.lessons.length),
      String(night.refused.length),
      `${count(night.tokens.attempts)}, ${count(night.tokens.learner)}`,
      (night.ms / 60_000).toFixed(1),
    ]),
  );
}

function bareText(results: readonly SeedResult[]): string {
  const groups = results.reduce((sum, { bare }) => sum + bare.groups, 0);
  const differing = results.reduce((sum, { bare }) => sum + bare.differing, 0);
  return groups === 0
    ? ''
    : `Without anything that was said before, ${differing} of ${counted(groups, 'group')} had better and worse attempts.`;
}

function votesText(rows: readonly ArmRow[]): string {
  const own = of(rows, 'same tokens');
  if (own.length === 0) return '';
  const allowed = Math.round(meanBy(own, (row) => row.allowed));
  return `\`same tokens\`: what practice cost would have paid for ${count(allowed)} attempts at each task on average. At most ${MOST_VOTES} were made, and none that could not change the most common state any more.`;
}

/** `undecided`: the attempts were used before its test ended. */
const OUTCOMES: readonly (TrialOutcome | 'undecided')[] = [
  'helpful',
  'no-difference',
  'harmful',
  'untested',
  'undecided',
];

function trialTable(results: readonly SeedResult[]): string {
  return markdownTable(
    ['trials', 'lessons', ...OUTCOMES.map((outcome) => outcome.replace('-', ' ')), 'attempts', 'minutes'],
    results.map(({ seed, night, trials }) => [
      `seed ${seed}`,
      String(night.lessons.length),
      ...OUTCOMES.map((outcome) =>
        String(
          night.lessons.filter(({ id }) => (trials.verdicts.get(id)?.outcome ?? 'undecided') === outcome)
            .length,
        ),
      ),
      count(trials.attempts),
      (trials.ms / 60_000).toFixed(1),
    ]),
  );
}
