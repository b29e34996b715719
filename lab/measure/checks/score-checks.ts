import type { CheckedWork, CheckResult, RuleCheck } from '../../../src/core/check.ts';
import { MOST_OUTSIDE_ANSWERS } from '../../../src/lessons/checks/accept-check.ts';
import { type AskSlowTest, runWholeCheck } from '../../../src/lessons/checks/run-check.ts';
import { wilsonInterval } from '../../../src/stats/interval.ts';
import type { CheckSetRule, ItemKind } from './check-set.ts';

export interface ScoredRule {
  readonly id: string;
  readonly rule: string;
  readonly check?: RuleCheck;
  /** Why there is none. */
  readonly why?: string;
  readonly verdicts: readonly {
    readonly kind: ItemKind;
    readonly result: CheckResult;
    readonly work: CheckedWork;
  }[];
}

export interface IntervalShare {
  readonly count: number;
  readonly of: number;
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

/** Of one way and one choice of rules: those with an accepted check, or also those with a provisional one. */
export interface CheckScore {
  readonly rules: IntervalShare;
  /** Right verdicts among "kept" and "broken". "Kept" of an innocent answer is harmless and left out here. */
  readonly precision: IntervalShare;
  /** The same with "kept" of innocent answers counted as wrong. */
  readonly strictPrecision: IntervalShare;
  readonly brokenRecall: IntervalShare;
  readonly keptRecall: IntervalShare;
  readonly keptInnocent: IntervalShare;
}

/** The answers of the other rules, as one user's history. */
export const historyOf = (rule: CheckSetRule, all: readonly CheckSetRule[]): readonly CheckedWork[] =>
  all
    .filter(({ id }) => id !== rule.id)
    .flatMap(({ items, corrected, revised }) => [
      ...(corrected === undefined ? [] : [corrected]),
      ...(revised === undefined ? [] : [revised]),
      ...items.map(({ work }) => work),
    ])
    .slice(-MOST_OUTSIDE_ANSWERS * 5);

export async function scoreRule(
  { id, rule, items }: CheckSetRule,
  check: RuleCheck,
  ask: AskSlowTest,
): Promise<ScoredRule> {
  const verdicts = items.map(async ({ kind, work }) => ({
    kind,
    result: await runWholeCheck(check, work, ask),
    work,
  }));
  return { id, rule, check, verdicts: await Promise.all(verdicts) };
}

export function summarizeChecks(scored: readonly ScoredRule[], standings: readonly string[]): CheckScore {
  const checked = scored.filter(({ check }) => check !== undefined && standings.includes(check.standing));
  const verdicts = checked.flatMap((rule) => rule.verdicts);
  const count = (kind: ItemKind, outcome?: CheckResult['outcome']): number =>
    verdicts.filter((one) => one.kind === kind && (outcome ?? one.result.outcome) === one.result.outcome)
      .length;
  const right = count('violating', 'broken') + count('keeping', 'kept');
  const wrong = count('violating', 'kept') + count('keeping', 'broken') + count('innocent', 'broken');
  const harmless = count('innocent', 'kept');
  return {
    rules: share(checked.length, scored.length),
    precision: share(right, right + wrong),
    strictPrecision: share(right, right + wrong + harmless),
    brokenRecall: share(count('violating', 'broken'), count('violating')),
    keptRecall: share(count('keeping', 'kept'), count('keeping')),
    keptInnocent: share(harmless, count('innocent')),
  };
}

function share(count: number, of: number): IntervalShare {
  const { low, high } = wilsonInterval(count, of);
  return { count, of, share: of === 0 ? Number.NaN : count / of, low, high };
}
