import { isInUse, type Lesson } from '../../../../src/core/lesson.ts';
import { markdownTable } from '../../markdown.ts';
import { hasPhrase } from '../gained-text.ts';
import type { PlayedRow } from '../play-corrections.ts';
import type { RetoldUser } from './retold-set.ts';

/** What the library holds of one user's rules in the end. */
interface RetoldScore {
  readonly rules: number;
  /** Rules with a lesson in use that says what is needed. */
  readonly learned: number;
  /** Lessons in use that rest on tellings of rules. */
  readonly lessons: number;
  /** Those that rest on tellings of more than one rule. */
  readonly mixed: number;
  /** Rules with more than one lesson in use. */
  readonly scattered: number;
  /** Lessons in use that rest on nothing but words that teach nothing. */
  readonly junk: number;
  /** Rules that were taken back, and those of them whose old words still lead a lesson. */
  readonly replaced: number;
  readonly stale: number;
  /** What went wrong, for a person. */
  readonly faults: readonly string[];
}

export function scoreRetold(user: RetoldUser, { lessons, bySession }: PlayedRow): RetoldScore {
  const ruleOf = new Map(
    bySession.flatMap((turns, nth) => turns.map((turn) => [turn, user.told[nth]?.rule ?? null] as const)),
  );
  const inUse = lessons.filter(isInUse).map((lesson) => {
    const about = lesson.text.evidence.turns.map((turn) => ruleOf.get(turn) ?? null);
    return { lesson, rules: new Set(about.filter((rule) => rule !== null)) };
  });
  const of = (rule: string) => inUse.filter(({ rules }) => rules.has(rule));
  const says = ({ text }: Lesson, phrases: readonly string[]): boolean =>
    phrases.some((phrase) => hasPhrase(`${text.description}\n${text.content}`, phrase));
  const learned = user.rules.filter(({ rule, needed }) =>
    of(rule).some(({ lesson }) => says(lesson, needed)),
  );
  const scattered = user.rules.filter(({ rule }) => of(rule).length > 1);
  const mixed = inUse.filter(({ rules }) => rules.size > 1);
  const junk = inUse.filter(({ rules }) => rules.size === 0);
  const replaced = user.rules.filter(({ gone }) => gone !== undefined);
  const stale = replaced.filter(({ rule, gone = [], needed }) =>
    of(rule).some(
      ({ lesson: { text } }) =>
        gone.some((phrase) => hasPhrase(text.description, phrase)) &&
        !needed.some((phrase) => hasPhrase(text.description, phrase)),
    ),
  );
  const lines = (some: readonly { readonly lesson: Lesson }[]): string =>
    some.map(({ lesson }) => lesson.text.description).join(' | ');
  return {
    rules: user.rules.length,
    learned: learned.length,
    lessons: inUse.length - junk.length,
    mixed: mixed.length,
    scattered: scattered.length,
    junk: junk.length,
    replaced: replaced.length,
    stale: stale.length,
    faults: [
      ...user.rules
        .filter((rule) => !learned.includes(rule))
        .map(({ rule, about }) => `not learned: ${rule} ${about}`),
      ...scattered.map(({ rule, about }) => `in ${of(rule).length}: ${about}: ${lines(of(rule))}`),
      ...mixed.map((one) => `of ${[...one.rules].join(' and ')}: ${lines([one])}`),
      ...junk.map((one) => `teaches nothing: ${lines([one])}`),
      ...stale.map(({ about }) => `taken back, and still there: ${about}`),
    ].map((fault) => `${user.id}: ${fault}`),
  };
}

const total = (scores: readonly RetoldScore[], key: Exclude<keyof RetoldScore, 'faults'>): number =>
  scores.reduce((sum, score) => sum + score[key], 0);

export function reportRetold(title: string, scores: readonly RetoldScore[]): string {
  const of = (key: Exclude<keyof RetoldScore, 'faults'>): number => total(scores, key);
  const rows = [
    ['rules learned', `${of('learned')} of ${of('rules')}`],
    ['lessons for a rule that was learned', (of('lessons') / Math.max(1, of('learned'))).toFixed(2)],
    ['rules with more than one lesson', `${of('scattered')} of ${of('rules')}`],
    ['lessons of more than one rule', `${of('mixed')} of ${of('lessons')}`],
    ['lessons of words that teach nothing', String(of('junk'))],
    ['rules that were taken back and whose old words still lead', `${of('stale')} of ${of('replaced')}`],
  ];
  return `${title}\n\n${markdownTable(['', ''], rows)}`;
}
