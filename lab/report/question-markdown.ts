import { markdownTable } from '../measure/markdown.ts';
import { armLabel, type Condition } from '../suites/arms.ts';
import { type QuestionDifference, questionMeasure } from './compare-conditions.ts';
import { changeRangeText } from './difference.ts';
import {
  count,
  dayName,
  type Figure,
  figureText,
  fixed,
  NO_VALUE,
  percent,
  points,
  timeTaken,
} from './numbers.ts';
import type { QuestionReport } from './question-report.ts';
import { QUESTION_MEASURES } from './question-rows.ts';

const SHARE = { unit: 'share' } as const;

/** The first page of a report: what a reader must know, the results, and their paired differences. */
export function questionSummary({
  head,
  conditions,
  arms,
  remarks,
  differences,
  official,
}: QuestionReport): string {
  const options = Object.entries(head.options).map(([name, value]) => `${name} ${value}`);
  return [
    `${head.suite}, run ${head.run}, ${head.startedAt.slice(0, 10)}, instar ${head.version}: policy ${head.policy}, ${count(head.questions)} questions × ${head.seeds.length} seeds × ${conditions.length} arms; ${options.join(', ')}.`,
    remarks.map((remark) => `- ${remark}`).join('\n'),
    heading('Results'),
    table(
      ['arm', 'file tasks complete', 'choices exactly right', 'accuracy', 'rules followed'],
      conditions.map(({ condition, completion, exact, accuracy }) => [
        armLabel(condition),
        ...[completion, exact, accuracy].map((figure) => figureText(SHARE, figure)),
        shareOf(arms.sources.find((one) => one.condition === condition)?.all),
      ]),
    ),
    'Paired by question, in points, with days of runs resampled:',
    differenceTable(differences),
    ...(official.length === 0
      ? []
      : [
          'By the definitions that the suite was published with:',
          table(
            ['arm', 'accuracy', 'by the formula of the paper', 'completion', 'questions'],
            official.map(({ condition, accuracy, paperAccuracy, completion, scored }) => [
              armLabel(condition),
              ...[accuracy, paperAccuracy, completion].map(percent),
              count(scored),
            ]),
          ),
        ]),
  ].join('\n\n');
}

/** The whole report as sections of a Markdown document, made from the journal alone. */
export function questionMarkdown(report: QuestionReport): string {
  const { arms } = report;
  return [
    questionSummary(report),
    heading('Arms'),
    table(
      ['arm', 'gives', 'withholds'],
      arms.arms.map(({ name, label, gives, withholds }) => [
        label === name ? name : `${name}: ${label}`,
        gives,
        withholds,
      ]),
    ),
    heading('Work that needs no lesson (interference)'),
    'With lessons minus without, on questions and tasks to which no rule applies:',
    differenceTable(arms.interference),
    heading('Where a rule was explained'),
    table(
      ['arm', 'nowhere in the prompt', 'in feedback only', 'in a lesson'],
      arms.sources.map(({ condition, nowhere, inFeedback, inLesson }) => [
        armLabel(condition),
        ...[nowhere, inFeedback, inLesson].map(shareOf),
      ]),
    ),
    heading('By form'),
    'The share of questions that followed a rule of the form:',
    byForm(report),
    heading('By rule'),
    'The share of questions that followed the rule, before and after a prompt taught it:',
    byRule(report),
    heading('By day'),
    byDay(report),
    heading('Recall'),
    recall(report),
    heading('Nights'),
    nights(report),
    heading('Cost'),
    costs(report),
  ].join('\n\n');
}

const heading = (title: string): string => `### ${title}`;

/** Titles of rules contain values that Markdown would read as marks. */
const escaped = (cell: string): string =>
  cell.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  rows.length === 0
    ? 'Nothing to show.'
    : markdownTable(
        head,
        rows.map((row) => row.map(escaped)),
      );

const shareOf = (figure: Figure | undefined): string =>
  figure === undefined || figure.n === 0 ? NO_VALUE : `${figureText(SHARE, figure)} of ${count(figure.n)}`;

/** A row for each couple of arms, a column for each measure; bold where a difference is shown. */
export function differenceTable(all: readonly QuestionDifference[]): string {
  const couples = [...new Set(all.map(({ of, against }) => `${of}\n${against}`))];
  const measures = QUESTION_MEASURES.filter(({ measure }) => all.some((one) => one.measure === measure));
  return table(
    ['', ...measures.map(({ title }) => title), 'pairs', 'better/worse'],
    couples.map((couple) => {
      const own = all.filter(({ of, against }) => `${of}\n${against}` === couple);
      const [first] = own;
      const cells = measures.map(({ measure }) => {
        const one = own.find((difference) => difference.measure === measure);
        if (one?.mean === undefined) return NO_VALUE;
        const range = changeRangeText(questionMeasure(measure), one.interval);
        const change = `${points(one.mean)} (${range})`;
        return one.verdict === 'cannot say' ? change : `**${change}**`;
      });
      const whole = own.find(({ measure }) => measure === 'accuracy') ?? first;
      return [
        `${armLabel(first?.of ?? '')} − ${armLabel(first?.against ?? '')}`,
        ...cells,
        count(whole?.pairs ?? 0),
        `${count(whole?.gained ?? 0)}/${count(whole?.lost ?? 0)}`,
      ];
    }),
  );
}

const namesOf = ({ conditions }: QuestionReport): readonly Condition[] =>
  conditions.map(({ condition }) => condition);

function byForm(report: QuestionReport): string {
  const names = namesOf(report);
  return table(
    ['form', 'origin', 'rules', ...names],
    report.arms.forms.map(({ form, origin = '', rules, conditions }) => [
      form,
      origin,
      count(rules.length),
      ...names.map((name) => {
        const obeyed = conditions.find(({ condition }) => condition === name)?.obeyed;
        return obeyed === undefined || obeyed.n === 0 ? NO_VALUE : figureText(SHARE, obeyed);
      }),
    ]),
  );
}

function byRule(report: QuestionReport): string {
  const names = namesOf(report);
  return table(
    ['rule', '', 'since', ...names],
    report.rules.map(({ id, title, since, conditions }) => [
      id,
      title,
      since === undefined ? '' : dayName(since),
      ...names.map((name) => {
        const under = conditions.find(({ condition }) => condition === name);
        if (under === undefined || under.obeyed.n === 0) return NO_VALUE;
        const [before, after] = [under.before, under.after].map(({ value }) => percent(value));
        return `${percent(under.obeyed.value)} (${before}, ${after})`;
      }),
    ]),
  );
}

function byDay({ conditions }: QuestionReport): string {
  const days = [...new Set(conditions.flatMap((one) => one.days.map(({ day }) => day)))].sort(
    (a, b) => a - b,
  );
  return table(
    ['file tasks complete, %, on day', ...days.map((day) => String(day + 1))],
    conditions.map(({ condition, days: own }) => [
      armLabel(condition),
      ...days.map((day) => {
        const value = own.find((one) => one.day === day)?.completion.value;
        return value === undefined ? NO_VALUE : fixed(value * 100, 0);
      }),
    ]),
  );
}

const recall = ({ arms }: QuestionReport): string =>
  table(
    ['arm', 'needed', 'whole text shown', 'index line only', 'missing'],
    arms.recall.map(({ condition, needed, body, line, missing }) => [
      armLabel(condition),
      count(needed),
      ...[body, line, missing].map((part) => (needed === 0 ? NO_VALUE : percent(part / needed))),
    ]),
  );

/** One row for each arm that trains: what its nights did, and why they did nothing. */
function nights({ nights: all }: QuestionReport): string {
  const names = [...new Set(all.map(({ condition }) => condition))];
  return table(
    ['arm', 'nights with work', 'that trained', 'new weights served', 'why not'],
    names.map((name) => {
      const own = all.filter(({ condition }) => condition === name);
      const trained = own.filter(({ steps }) => steps > 0);
      const idle = own
        .filter(({ steps }) => steps === 0)
        .flatMap(({ moves }) => (moves.length > 0 ? moves : ['the attempts at each task did not differ']));
      return [
        armLabel(name),
        count(own.length),
        count(trained.length),
        count(own.filter(({ isNew }) => isNew).length),
        alikeReasons(idle),
      ];
    }),
  );
}

/** Reasons that differ in their numbers alone are one, with the first of them and how often it was given. Advice is left out. */
function alikeReasons(reasons: readonly string[]): string {
  const first = reasons.map((reason) => reason.split(/\. (?=[A-Z])/)[0] ?? '');
  const shapes = [...new Set(first.map((reason) => reason.replace(/\d+/g, '#')))];
  return shapes
    .map((shape) => {
      const alike = first.filter((reason) => reason.replace(/\d+/g, '#') === shape);
      return `${alike[0]}${alike.length > 1 ? ` (${count(alike.length)} nights, with other numbers)` : ''}`;
    })
    .join('; ');
}

const costs = ({ costs: all }: QuestionReport): string =>
  table(
    [
      'arm',
      'prompt tokens',
      'completion tokens',
      'training time',
      'trained tokens',
      'calls of learning models',
      'time',
    ],
    all.map((cost) => [
      armLabel(cost.condition),
      count(cost.inputTokens),
      count(cost.outputTokens),
      cost.trainingMs === 0 ? NO_VALUE : timeTaken(cost.trainingMs),
      count(cost.trainingTokens),
      count(cost.learningCalls),
      timeTaken(cost.ms),
    ]),
  );
