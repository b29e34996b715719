import type { RuleResult } from '../../core/adherence-fact.ts';
import { compact, type JsonObject } from '../../core/json.ts';
import type { Lesson } from '../../core/lesson.ts';
import { plural } from '../../text/phrases.ts';
import { isPersonsWord } from '../told.ts';
import type { Adherence, AdherenceCounts } from './adherence.ts';

/** `shown 7, applied 6, kept 6, told again 0`; where nothing can be checked, what is known instead: how often nobody had to say it again. */
function inWords({ shown, applied, kept, toldAgain }: AdherenceCounts, hasCheck: boolean): string {
  const again = `told again ${toldAgain}`;
  if (shown === 0) return toldAgain === 0 ? 'not shown yet' : `not shown yet, ${again}`;
  if (hasCheck || applied > 0) return `shown ${shown}, applied ${applied}, kept ${kept}, ${again}`;
  return `shown ${shown}, not corrected again ${Math.max(0, shown - toldAgain)}, ${again}`;
}

/** How sessions kept to a lesson. */
export function describeAdherence({ id, check }: Lesson, adherence: Adherence): JsonObject {
  const counts = adherence.of(id);
  const [last] = adherence.breaks(id);
  return compact({
    ...counts,
    lastBroken: last && new Date(last.at).toISOString(),
    words: inWords(counts, check !== undefined),
  });
}

/** The last sessions in which it was broken. */
export const describeBreaks = (lesson: string, adherence: Adherence): readonly JsonObject[] =>
  adherence
    .breaks(lesson)
    .map(({ session, turn, at }) => ({ session, turn, at: new Date(at).toISOString() }));

/** How sessions kept to all rules in force that people told; undefined when there are none. */
export function describeToldRules(lessons: readonly Lesson[], adherence: Adherence): JsonObject | undefined {
  const rules = lessons.filter(
    (lesson) => (lesson.state === 'trial' || lesson.state === 'live') && isPersonsWord(lesson),
  );
  if (rules.length === 0) return undefined;
  const counts = adherence.sum(rules.map(({ id }) => id));
  const { applied, kept, toldAgain } = counts;
  const measured =
    applied === 0
      ? 'none was checked yet'
      : `kept in ${kept} of ${plural(applied, 'conversation')} that they apply to`;
  return {
    rules: rules.length,
    ...counts,
    words: `Rules you told: ${rules.length}, ${measured}; told again ${toldAgain}`,
  };
}

/** How many rules answers kept and broke, and how many a person had to say again. */
export function countRuleOutcomes(
  results: readonly RuleResult[],
): Readonly<Record<'kept' | 'broken' | 'toldAgain', number>> {
  const count = (wanted: RuleResult['outcome']): number =>
    results.filter(({ outcome }) => outcome === wanted).length;
  return { kept: count('kept'), broken: count('broken'), toldAgain: count('told-again') };
}
