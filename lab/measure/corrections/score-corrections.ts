import { isInUse, type Lesson } from '../../../src/core/lesson.ts';
import { estimateTokens } from '../../../src/text/estimate-tokens.ts';
import { foldPhrase, holdsPhrase } from '../held-phrase.ts';
import { markdownTable, milliseconds, quantile } from '../markdown.ts';
import { createEngineCounts, describeEngines, type EngineCounts } from '../measured.ts';
import { hasPhrase } from './gained-text.ts';
import type { PlayedRow } from './play-corrections.ts';

/** Where a wanted lesson got lost. */
type LossCause = 'not detected' | 'not learned' | 'not in use' | 'not found' | 'other words';

interface ScoredRow {
  readonly id: string;
  readonly client: string;
  readonly isNull: boolean;
  /** A wanted phrase stands in what the prompt gained. */
  readonly isShown: boolean;
  /** A trap whose prompt gained something, right or wrong. */
  readonly isAnythingShown: boolean;
  /** A trap whose prompt gained what it must not: one of its phrases, or anything where it names none. */
  readonly isWronglyShown: boolean;
  /** The phrases of `must_not` that the prompt gained, and does not reject. */
  readonly violated: readonly string[];
  readonly isRight: boolean;
  readonly cause?: LossCause;
  readonly tokens: number;
  readonly delayMs?: number;
  readonly foreign: readonly string[];
  readonly played: PlayedRow;
}

export function scoreRow(played: PlayedRow): ScoredRow {
  const { row, gained, foreign, delayMs } = played;
  const isNull = row.mustShow === null;
  const isShown = row.mustShow?.phrases.some((phrase) => hasPhrase(gained, phrase)) ?? false;
  const violated = row.mustNot.filter((phrase) => holdsPhrase(foldPhrase(gained), foldPhrase(phrase)));
  const isAnythingShown = isNull && gained !== '';
  const isWronglyShown = isAnythingShown && (row.mustNot.length === 0 || violated.length > 0);
  const isMissed = !isNull && !isShown;
  return {
    id: row.id,
    client: row.client,
    isNull,
    isShown,
    isAnythingShown,
    isWronglyShown,
    violated,
    isRight: violated.length === 0 && (isNull ? !isWronglyShown : isShown),
    ...(isMissed ? { cause: causeOf(played) } : {}),
    tokens: gained === '' ? 0 : estimateTokens(gained),
    ...(delayMs === undefined ? {} : { delayMs }),
    foreign,
    played,
  };
}

function causeOf({ row, turns, lessons, gained }: PlayedRow): LossCause {
  const fits = (lesson: Lesson): boolean =>
    row.mustShow?.phrases.some((phrase) =>
      hasPhrase(`${lesson.text.name}\n${lesson.text.description}\n${lesson.text.content}`, phrase),
    ) ?? false;
  if (lessons.some((lesson) => isInUse(lesson) && fits(lesson))) return 'not found';
  if (lessons.some(fits)) return 'not in use';
  if (lessons.some(isInUse) || gained !== '') return 'other words';
  const isDetected = turns.some(({ judgedBy, verdict }) => judgedBy === 'chat' && verdict === 'failure');
  return isDetected ? 'not learned' : 'not detected';
}

/** What `--json` prints for one set. */
interface CorrectionSummary {
  readonly rows: number;
  readonly wanted: number;
  readonly shown: number;
  readonly missed: number;
  readonly nothingWanted: number;
  readonly wronglyShown: number;
  /** Traps whose prompt gained something, right or wrong. */
  readonly anythingShown: number;
  /** Traps that left a lesson in any state, shown or not. */
  readonly taught: readonly string[];
  readonly mustNotRows: number;
  readonly mustNotViolated: number;
  readonly right: number;
  readonly causes: Readonly<Record<string, number>>;
  /** Shown lessons that rest on another row: the rows are not apart. */
  readonly foreign: number;
  /** Shown only to a further fresh session: the first did not wait long enough for the query's vector. */
  readonly late: number;
  /** Questions by the engine that answered them; `none`: no lesson to compare with. */
  readonly engines: Readonly<Record<string, number>>;
  readonly tokensGained: { readonly p50: number; readonly p95: number; readonly mean: number };
  readonly delayMs: { readonly p50: number | null; readonly p95: number | null; readonly of: number };
  readonly clients: Readonly<Record<string, ClientCounts>>;
  readonly failing: Readonly<Record<'missed' | 'wronglyShown' | 'mustNotViolated', readonly string[]>>;
}

interface ClientCounts {
  readonly rows: number;
  readonly wanted: number;
  readonly shown: number;
  readonly nothingWanted: number;
  readonly wronglyShown: number;
  readonly mustNotViolated: number;
}

const count = <T>(items: readonly T[], fits: (item: T) => boolean): number => items.filter(fits).length;
const isMissed = ({ isNull, isShown }: ScoredRow): boolean => !isNull && !isShown;
const isViolated = ({ violated }: ScoredRow): boolean => violated.length > 0;

const countsOf = (rows: readonly ScoredRow[]): ClientCounts => ({
  rows: rows.length,
  wanted: count(rows, ({ isNull }) => !isNull),
  shown: count(rows, ({ isShown }) => isShown),
  nothingWanted: count(rows, ({ isNull }) => isNull),
  wronglyShown: count(rows, ({ isWronglyShown }) => isWronglyShown),
  mustNotViolated: count(rows, isViolated),
});

export function countEngines(rows: readonly ScoredRow[]): EngineCounts {
  const engines = createEngineCounts();
  for (const { played } of rows) engines.add(played.engine);
  return engines;
}

export function summarizeCorrections(rows: readonly ScoredRow[]): CorrectionSummary {
  const tokens = rows.filter((row) => row.tokens > 0).map((row) => row.tokens);
  const delays = rows.flatMap(({ delayMs }) => delayMs ?? []);
  const clients = [...new Set(rows.map(({ client }) => client))].sort();
  const causes = new Map<string, number>();
  for (const { cause } of rows) if (cause !== undefined) causes.set(cause, (causes.get(cause) ?? 0) + 1);
  const ids = (fits: (row: ScoredRow) => boolean): readonly string[] => rows.filter(fits).map(({ id }) => id);
  const orZero = (value: number): number => (Number.isNaN(value) ? 0 : Math.round(value));
  const orNull = (value: number): number | null => (Number.isNaN(value) ? null : Math.round(value));
  return {
    ...countsOf(rows),
    missed: count(rows, isMissed),
    anythingShown: count(rows, ({ isAnythingShown }) => isAnythingShown),
    taught: ids(({ isNull, played }) => isNull && played.lessons.length > 0),
    mustNotRows: count(rows, ({ played }) => played.row.mustNot.length > 0),
    right: count(rows, ({ isRight }) => isRight),
    causes: Object.fromEntries(causes),
    foreign: count(rows, ({ foreign }) => foreign.length > 0),
    late: count(rows, ({ played }) => played.isLate),
    engines: Object.fromEntries(countEngines(rows).byEngine),
    tokensGained: {
      p50: orZero(quantile(tokens, 0.5)),
      p95: orZero(quantile(tokens, 0.95)),
      mean: tokens.length === 0 ? 0 : Math.round(tokens.reduce((sum, one) => sum + one, 0) / tokens.length),
    },
    delayMs: { p50: orNull(quantile(delays, 0.5)), p95: orNull(quantile(delays, 0.95)), of: delays.length },
    clients: Object.fromEntries(
      clients.map((client) => [client, countsOf(rows.filter((row) => row.client === client))]),
    ),
    failing: {
      missed: ids(isMissed),
      wronglyShown: ids(({ isWronglyShown }) => isWronglyShown),
      mustNotViolated: ids(isViolated),
    },
  };
}

const share = (hits: number, of: number): string =>
  of === 0 ? '–' : `${hits} of ${of} (${((100 * hits) / of).toFixed(0)} %)`;

export function reportCorrections(title: string, rows: readonly ScoredRow[]): string {
  const sum = summarizeCorrections(rows);
  const { p50, p95, of } = sum.delayMs;
  const causes = Object.entries(sum.causes).map(([cause, n]) => `${n} ${cause}`);
  const lines = [
    `### ${title}`,
    markdownTable(
      ['what', 'rows'],
      [
        ['as wanted in everything', share(sum.right, sum.rows)],
        ['wanted words shown', share(sum.shown, sum.wanted)],
        ['nothing wanted, something wrong shown', share(sum.wronglyShown, sum.nothingWanted)],
        ['nothing wanted, anything shown', share(sum.anythingShown, sum.nothingWanted)],
        ['unwanted words shown as holding', share(sum.mustNotViolated, sum.mustNotRows)],
        ['tokens gained, where any were', `p50 ${sum.tokensGained.p50}, p95 ${sum.tokensGained.p95}`],
        [
          "from the user's words to the lesson, beside other rows' sessions",
          p50 === null || p95 === null
            ? '–'
            : `p50 ${milliseconds(p50)} ms, p95 ${milliseconds(p95)} ms (${of})`,
        ],
      ],
    ),
    markdownTable(
      ['client', 'rows', 'shown', 'wrongly shown', 'unwanted words'],
      Object.entries(sum.clients).map(([client, one]) => [
        client,
        String(one.rows),
        share(one.shown, one.wanted),
        share(one.wronglyShown, one.nothingWanted),
        String(one.mustNotViolated),
      ]),
    ),
    `Questions ${describeEngines(sum.engines)}. A trap is wrong where its prompt gains a phrase of \`must_not\` that it does not reject, and where it names none, where it gains anything.`,
    ...(causes.length === 0 ? [] : [`Missed: ${causes.join(', ')}.`]),
    ...(sum.late === 0
      ? []
      : [
          `${sum.late} rows were shown it by a further question only: the first query's vector came too late.`,
        ]),
    ...(sum.foreign === 0 ? [] : [`${sum.foreign} rows were shown lessons of other rows.`]),
  ];
  return lines.join('\n\n');
}

/** For whoever improves the product: each row that went wrong, with what it wanted and what was there. */
export const explainRow = (row: ScoredRow): string => {
  const { mustShow, query } = row.played.row;
  const lessons = row.played.lessons.map(({ id, state, reason, text }) => {
    const because = reason === undefined ? '' : `: ${reason}`;
    const why = row.played.why.get(id);
    return `  lesson (${state}${because}) ${text.name}: ${text.description} | ${text.content.replace(/\s+/g, ' ')}${why === undefined ? '' : ` | ${why}`}`;
  });
  const turns = row.played.turns
    .filter(({ reasons }) => reasons.length > 0)
    .map(
      ({ verdict, judgedBy, reasons }) => `  turn: ${verdict} by ${judgedBy ?? '-'}: ${reasons.join('; ')}`,
    );
  return [
    `- ${row.id} (${row.client}): ${row.isNull ? 'wrongly shown' : (row.cause ?? 'shown')}${row.violated.length > 0 ? `, has "${row.violated.join('", "')}"` : ''}`,
    `  query: ${query.replace(/\s+/g, ' ').slice(0, 200)}`,
    ...(mustShow === null ? [] : [`  wanted: ${mustShow.phrases.join(' | ')}`]),
    ...turns,
    ...lessons,
    ...(row.played.gained === ''
      ? []
      : [`  gained: ${row.played.gained.replace(/\s+/g, ' ').slice(0, 600)}`]),
  ].join('\n');
};
