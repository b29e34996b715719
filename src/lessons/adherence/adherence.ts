import { createLruMap } from '../../base/lru-map.ts';
import type { RuleOutcome, RuleResult } from '../../core/adherence-fact.ts';
import type { StoredFact } from '../../core/fact.ts';
import { compact, type JsonObject } from '../../core/json.ts';
import { isInUse, type Lesson } from '../../core/lesson.ts';
import type { Records } from '../../core/store.ts';
import { plural } from '../../text/phrases.ts';
import { eachFactOf } from '../each-fact.ts';
import { isPersonsWord } from '../told.ts';

/** How sessions kept to a rule, or to several. A session counts once for a rule. */
interface AdherenceCounts {
  /** Sessions in which it was shown, also those in which nobody said a word about it. */
  readonly shown: number;
  /** Those of them with an answer that its check applies to. */
  readonly applied: number;
  /** Those of `applied` in which no answer broke it. */
  readonly kept: number;
  /** How often a person said it again although it was in force. */
  readonly toldAgain: number;
}

/** An answer that did not keep to a rule. */
interface RuleBreak {
  readonly session: string;
  readonly turn: string;
  readonly at: number;
}

/** Folded from facts, in their order; a fact that was added before is ignored. */
export interface Adherence {
  add(stored: StoredFact): void;
  of(lesson: string): AdherenceCounts;
  /** Of all of them together. */
  sum(lessons: Iterable<string>): AdherenceCounts;
  /** The last sessions in which it was broken, the newest first. */
  breaks(lesson: string): readonly RuleBreak[];
  /** The rules that a session broke, each with the turn of its last break; of a session that was active lately. */
  brokenIn(session: string): ReadonlyMap<string, string>;
  /** When weights that were to keep it without its words last broke it; undefined: never. */
  forgottenAt(lesson: string): number | undefined;
}

/** Enough to look at, and few enough for a screen. */
const MOST_BREAKS = 5;
/** As many sessions as have their prompts in memory (`shown/shown-blocks`): a rule is shown again in these. */
const MOST_SESSIONS = 5000;

const NOT_SHOWN: AdherenceCounts = { shown: 0, applied: 0, kept: 0, toldAgain: 0 };

export function createAdherence(): Adherence {
  const counts = new Map<string, AdherenceCounts>();
  const breaks = new Map<string, readonly RuleBreak[]>();
  const broken = createLruMap<string, Map<string, string>>(MOST_SESSIONS);
  const forgotten = new Map<string, number>();
  let last = 0;
  const of = (lesson: string): AdherenceCounts => counts.get(lesson) ?? NOT_SHOWN;
  const addBreak = (lesson: string, one: RuleBreak): void => {
    const others = (breaks.get(lesson) ?? []).filter(({ session }) => session !== one.session);
    breaks.set(lesson, [one, ...others].slice(0, MOST_BREAKS));
    const inSession = broken.get(one.session) ?? new Map<string, string>();
    inSession.set(lesson, one.turn);
    broken.set(one.session, inSession);
  };
  return {
    add: ({ seq, at, fact }) => {
      if (fact.type !== 'rules-observed' || seq <= last) return;
      last = seq;
      const { session, turn } = fact;
      for (const result of fact.results) {
        counts.set(result.lesson, countResult(of(result.lesson), result));
        if (result.outcome === 'broken') addBreak(result.lesson, { session, turn, at });
        if (result.isRemembered === true) forgotten.set(result.lesson, at);
      }
    },
    of,
    sum: (lessons) => [...lessons].map(of).reduce(addCounts, NOT_SHOWN),
    breaks: (lesson) => breaks.get(lesson) ?? [],
    brokenIn: (session) => broken.get(session) ?? NOTHING_BROKEN,
    forgottenAt: (lesson) => forgotten.get(lesson),
  };
}

const NOTHING_BROKEN: ReadonlyMap<string, string> = new Map();

const addCounts = (a: AdherenceCounts, b: AdherenceCounts): AdherenceCounts => ({
  shown: a.shown + b.shown,
  applied: a.applied + b.applied,
  kept: a.kept + b.kept,
  toldAgain: a.toldAgain + b.toldAgain,
});

const hasApplied = (outcome: RuleOutcome | undefined): boolean => outcome === 'kept' || outcome === 'broken';

/** The session moves from the outcome that it had to the new one. */
function countResult(before: AdherenceCounts, result: RuleResult): AdherenceCounts {
  const { shown, applied, kept, toldAgain } = before;
  if (result.outcome === 'told-again') return { ...before, toldAgain: toldAgain + 1 };
  return {
    shown: shown + Number(result.before === undefined),
    applied: applied + Number(hasApplied(result.outcome)) - Number(hasApplied(result.before)),
    kept: kept + Number(result.outcome === 'kept') - Number(result.before === 'kept'),
    toldAgain,
  };
}

/** All that the record says. */
export async function readAdherence(records: Pick<Records, 'factsOf'>): Promise<Adherence> {
  const adherence = createAdherence();
  await eachFactOf('rules-observed', records, adherence.add);
  return adherence;
}

/**
 * `kept 6 of 7, told again 1`: of the conversations that its check applies to. Without such ones what is known instead: how often nobody
 * had to say it again.
 */
function inWords({ shown, applied, kept, toldAgain }: AdherenceCounts, hasCheck: boolean): string {
  const again = toldAgain === 0 ? '' : `, told again ${toldAgain}`;
  if (shown === 0) return `not shown yet${again}`;
  if (applied > 0) return `kept ${kept} of ${applied}${again}`;
  const known = hasCheck ? 'nothing to check yet' : `not corrected again ${Math.max(0, shown - toldAgain)}`;
  return `shown ${shown}, ${known}${again}`;
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
  const rules = lessons.filter((lesson) => isInUse(lesson) && isPersonsWord(lesson));
  if (rules.length === 0) return undefined;
  const counts = adherence.sum(rules.map(({ id }) => id));
  return {
    rules: rules.length,
    ...counts,
    words: `${plural(rules.length, 'rule')} you told: ${inWords(counts, false)}`,
  };
}

/** A session that keeps to a rule time and again keeps it once; every break counts. */
export const isNewOutcome = ({ outcome, before, isWaiting }: RuleResult): boolean =>
  isWaiting !== true && (outcome !== 'kept' || before !== 'kept');

/** How many rules answers kept and broke, and how many a person had to say again. */
export function countRuleOutcomes(
  results: readonly RuleResult[],
): Readonly<Record<'kept' | 'broken' | 'toldAgain', number>> {
  const count = (wanted: RuleResult['outcome']): number =>
    results.filter((result) => result.outcome === wanted && isNewOutcome(result)).length;
  return { kept: count('kept'), broken: count('broken'), toldAgain: count('told-again') };
}
