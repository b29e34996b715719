import { addSpending, NOTHING_SPENT, type Spending } from '../../core/budget.ts';
import type { StoredFact } from '../../core/fact.ts';
import type { Records } from '../../core/store.ts';
import { TRIALS_SUBJECT, type TrialMethod, type TrialOutcome } from '../../core/trial.ts';
import { addToMoments, EMPTY_MOMENTS, type MomentSums } from '../../stats/moments.ts';

/** Everything measured in one trial, folded from its facts. Plain data. */
export interface TrialRecord {
  readonly subject: string;
  /** Among all trials of its family, from 1. */
  readonly place: number;
  readonly openedAt: number;
  readonly until: number;
  /** Differences with − without, by method. */
  readonly differences: Readonly<Record<TrialMethod, MomentSums>>;
  /** The same of how far answers keep the identity; absent where no judge was asked. */
  readonly identity?: MomentSums;
  /** Pairs that were begun: the next one has this number. */
  readonly begun: Readonly<Record<TrialMethod, number>>;
  /** What the measured tasks come from: each counts once, with its variations. */
  readonly roots: ReadonlySet<string>;
  readonly used: Spending;
  /** The last end; an end without a verdict may be followed by more measurements. */
  readonly end?: { readonly outcome: TrialOutcome; readonly why: string; readonly at: number };
}

export interface Trials {
  of(subject: string): TrialRecord | undefined;
  /** In the order in which they were opened. */
  all(): readonly TrialRecord[];
  /** How many of a family (`lesson`, `policy`) passed, ever: also those that were withdrawn later. */
  passed(family: string): number;
  /** The place of the next trial of a family. */
  nextPlace(family: string): number;
}

const familyOf = (subject: string): string => subject.slice(0, Math.max(0, subject.indexOf('/')));

/** The fold itself: facts are added in the order of the record. */
export interface TrialFold extends Trials {
  add(stored: Pick<StoredFact, 'at' | 'fact'>): void;
}

function createTrialFold(): TrialFold {
  const trials = new Map<string, TrialRecord>();
  const passed = new Map<string, Set<string>>();
  const last = new Map<string, number>();
  return {
    add: ({ at, fact }) => {
      if (fact.type === 'trial-opened') {
        const { subject, place, until } = fact;
        if (trials.has(subject)) return;
        trials.set(subject, opened(subject, place, at, until));
        last.set(familyOf(subject), Math.max(place, last.get(familyOf(subject)) ?? 0));
      }
      if (fact.type !== 'trial-measured' && fact.type !== 'trial-ended') return;
      const trial = trials.get(fact.subject);
      if (trial === undefined) return;
      const isMeasured = fact.type === 'trial-measured';
      trials.set(fact.subject, isMeasured ? measured(trial, fact) : ended(trial, fact, at));
      if (isMeasured || fact.outcome !== 'helpful') return;
      const family = familyOf(fact.subject);
      passed.set(family, (passed.get(family) ?? new Set()).add(fact.subject));
    },
    of: (subject) => trials.get(subject),
    all: () => [...trials.values()],
    passed: (family) => passed.get(family)?.size ?? 0,
    nextPlace: (family) => 1 + (last.get(family) ?? 0),
  };
}

const opened = (subject: string, place: number, openedAt: number, until: number): TrialRecord => ({
  subject,
  place,
  openedAt,
  until,
  differences: { tasks: EMPTY_MOMENTS, replay: EMPTY_MOMENTS },
  begun: { tasks: 0, replay: 0 },
  roots: new Set(),
  used: NOTHING_SPENT,
});

function measured(
  trial: TrialRecord,
  { by, pairs, begun, used }: Extract<StoredFact['fact'], { readonly type: 'trial-measured' }>,
): TrialRecord {
  const sound = pairs.filter((pair) => isGrade(pair.with) && isGrade(pair.without));
  const sums = sound.reduce(
    (all, pair) => addToMoments(all, pair.with - pair.without),
    trial.differences[by],
  );
  const kept = sound.flatMap(({ identity }) =>
    identity !== undefined && isGrade(identity.with) && isGrade(identity.without)
      ? [identity.with - identity.without]
      : [],
  );
  return {
    ...trial,
    differences: { ...trial.differences, [by]: sums },
    ...(kept.length === 0 ? {} : { identity: kept.reduce(addToMoments, trial.identity ?? EMPTY_MOMENTS) }),
    begun: { ...trial.begun, [by]: Math.max(trial.begun[by], begun) },
    roots: new Set([...trial.roots, ...sound.map(({ root }) => root)]),
    used: addSpending(trial.used, used),
  };
}

const ended = (
  trial: TrialRecord,
  { outcome, why }: Extract<StoredFact['fact'], { readonly type: 'trial-ended' }>,
  at: number,
): TrialRecord => ({ ...trial, end: { outcome, why, at } });

const isGrade = (value: number): boolean => value >= 0 && value <= 1;

/** All trials of the record. */
export async function readTrials(records: Pick<Records, 'events'>): Promise<TrialFold> {
  const fold = createTrialFold();
  for (const stored of await records.events(TRIALS_SUBJECT)) fold.add(stored);
  return fold;
}
