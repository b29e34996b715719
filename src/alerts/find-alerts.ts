import type { AlertEvent } from '../core/alert.ts';
import type { StoredFact } from '../core/fact.ts';
import { asArray, asNumber, asObject, asString, type JsonObject } from '../core/json.ts';
import { dollars, plural } from '../text/phrases.ts';

/** Something that is so at the moment, and may have been told before. */
export interface AlertCause {
  /** The same as long as it is the same thing. */
  readonly cause: string;
  readonly event: AlertEvent;
  readonly text: string;
  readonly lessons?: readonly string[];
  readonly session?: string;
  readonly turn?: string;
}

/** A budget of the day and what is used of it. */
export interface WatchedBudget {
  readonly name: string;
  /** Who has it: `The key "app"`. */
  readonly whose: string;
  readonly of: 'requests' | 'tokens' | 'usd';
  readonly used: number;
  readonly most: number;
}

/** From this share of a budget on its owner is told. */
const NEARLY = 0.8;

/** Budgets that are nearly used. `day` is part of the cause: each day may be told once. */
export const findBudgetAlerts = (budgets: readonly WatchedBudget[], day: string): readonly AlertCause[] =>
  budgets
    .filter(({ used, most }) => most > 0 && used >= NEARLY * most)
    .map(({ name, whose, of, used, most }) => ({
      cause: `budget/${name}/${of}/${most}/${day}`,
      event: 'budget',
      text: `${whose} has used ${sayAmount(of, used)} of ${sayAmount(of, most)} a day (${Math.floor((100 * used) / most)} %).`,
    }));

const sayAmount = (of: WatchedBudget['of'], amount: number): string =>
  of === 'usd' ? dollars(amount) : plural(Math.round(amount), of.slice(0, -1));

const DECISIONS: ReadonlySet<string> = new Set(['needs-approval', 'not-tested']);
const DEGRADED: ReadonlySet<string> = new Set(['store-degraded', 'database-away']);

/** What the rows of `waiting` in a status say, each lesson a cause of its own; `hasTitles`: with the titles of lessons. */
export function findWaitingAlerts(waiting: readonly JsonObject[], hasTitles: boolean): readonly AlertCause[] {
  const decisions = waiting
    .filter(({ code }) => DECISIONS.has(asString(code) ?? ''))
    .flatMap(({ lesson, what }): readonly AlertCause[] => {
      const id = asString(lesson);
      if (id === undefined) return [];
      const text = hasTitles ? (asString(what) ?? '') : '';
      return [{ cause: `decision/${id}`, event: 'decision', text, lessons: [id] }];
    });
  const degraded = waiting
    .filter(({ code }) => DEGRADED.has(asString(code) ?? ''))
    .map(({ code, what, why }): AlertCause => {
      const text = `${asString(what) ?? ''} ${asString(why) ?? ''}. Requests are served; see: instar doctor.`;
      const cause = `degraded/${asString(code) ?? ''}`;
      return { cause, event: 'degraded', text: text.charAt(0).toUpperCase() + text.slice(1) };
    });
  return [...decisions, ...degraded];
}

/** Decisions that begin to wait together are one alert. */
export function joinDecisions(found: readonly AlertCause[]): readonly AlertCause[] {
  const decisions = found.filter(({ event }) => event === 'decision');
  const rest = found.filter(({ event }) => event !== 'decision');
  const [first] = decisions;
  if (first === undefined) return rest;
  const titles = decisions.flatMap(({ text }) => (text === '' ? [] : [text]));
  const named = titles.length === 0 ? '' : `: ${titles.join(', ')}`;
  const text = `${plural(decisions.length, 'lesson')} ${decisions.length === 1 ? 'waits' : 'wait'} for your decision${named}. See: instar lessons review.`;
  const lessons = decisions.flatMap((one) => one.lessons ?? []);
  return [
    { cause: decisions.map(({ cause }) => cause).join(' '), event: 'decision', text, lessons },
    ...rest,
  ];
}

/** Rules that an answer broke, or that a person had to say again; a cause for a rule and a day. `titleOf`: with words. */
export const findRuleAlerts = (
  facts: readonly StoredFact[],
  dayOf: (at: number) => string,
  titleOf: (lesson: string) => string | undefined,
): readonly AlertCause[] =>
  facts.flatMap(({ at, fact }) => {
    if (fact.type !== 'rules-observed') return [];
    return fact.results.flatMap(({ lesson, revision, outcome, isWaiting }): readonly AlertCause[] => {
      // What a command or a model is asked about first is decided later, by another fact.
      if ((outcome !== 'broken' || isWaiting === true) && outcome !== 'told-again') return [];
      const title = titleOf(lesson);
      const rule = title === undefined ? `The rule ${lesson}` : `The rule “${title}”`;
      const what = outcome === 'broken' ? 'was not kept by an answer' : 'had to be said again';
      return [
        {
          cause: `rule/${lesson}/${revision}/${dayOf(at)}`,
          event: 'rule',
          text: `${rule} ${what}. See: instar lessons show ${lesson}.`,
          lessons: [lesson],
          session: fact.session,
          turn: fact.turn,
        },
      ];
    });
  });

/** The day's budgets of learning that a status and its settings name. */
export function learningBudgets(
  status: JsonObject,
  limits: { readonly usdPerDay: number; readonly tokensPerDay: number },
): readonly WatchedBudget[] {
  const { usdToday, tokensToday } = asObject(asObject(asObject(status.learning).cost).learning);
  const [name, whose] = ['learning', 'Learning'];
  return [
    { name, whose, of: 'usd', used: asNumber(usdToday) ?? 0, most: limits.usdPerDay },
    { name, whose, of: 'tokens', used: asNumber(tokensToday) ?? 0, most: limits.tokensPerDay },
  ];
}

/** The rows of a status that wait. */
export const waitingOf = (status: JsonObject): readonly JsonObject[] => asArray(status.waiting).map(asObject);
