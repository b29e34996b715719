import { addSpending, NOTHING_SPENT, type Spending } from '../../core/budget.ts';
import type { StoredFact } from '../../core/fact.ts';
import type { Records } from '../../core/store.ts';
import { TRIALS_SUBJECT, type TrialMethod, type TrialOutcome } from '../../core/trial.ts';
import type { OutcomeCounts } from '../../stats/effect-posterior.ts';

/** Differences with − without at each task, counted by what the task comes from: variations are no tasks of their own. */
export type TaskDifferences = ReadonlyMap<string, { readonly pairs: number; readonly sum: number }>;

/** Everything measured in one trial, folded from its facts. Plain data. */
export interface TrialRecord {
  readonly subject: string;
  /** Among all trials of its family, from 1. */
  readonly place: number;
  readonly openedAt: number;
  readonly until: number;
  /** How sessions came out that would have been shown the lesson, had it existed. */
  readonly before?: OutcomeCounts;
  readonly differences: Readonly<Record<TrialMethod, TaskDifferences>>;
  /** The same of how far answers keep the identity; absent where no judge was asked. */
  readonly identity?: TaskDifferences;
  /** Pairs that were begun: the next one has this number. */
  readonly begun: Readonly<Record<TrialMethod, number>>;
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
        const { subject, place, until, before } = fact;
        if (trials.has(subject)) return;
        trials.set(subject, {
          ...opened(subject, place, at, until),
          ...(before === undefined ? {} : { before }),
        });
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
  differences: { tasks: new Map(), replay: new Map() },
  begun: { tasks: 0, replay: 0 },
  used: NOTHING_SPENT,
});

function measured(
  trial: TrialRecord,
  { by, pairs, begun, used }: Extract<StoredFact['fact'], { readonly type: 'trial-measured' }>,
): TrialRecord {
  const sound = pairs.filter((pair) => isGrade(pair.with) && isGrade(pair.without));
  const differences = sound.map((pair) => ({ root: pair.root, difference: pair.with - pair.without }));
  const ofIdentity = sound.flatMap(({ root, identity }) =>
    identity !== undefined && isGrade(identity.with) && isGrade(identity.without)
      ? [{ root, difference: identity.with - identity.without }]
      : [],
  );
  return {
    ...trial,
    differences: { ...trial.differences, [by]: addDifferences(trial.differences[by], differences) },
    ...(ofIdentity.length === 0 ? {} : { identity: addDifferences(trial.identity ?? new Map(), ofIdentity) }),
    begun: { ...trial.begun, [by]: Math.max(trial.begun[by], begun) },
    used: addSpending(trial.used, used),
  };
}

function addDifferences(
  differences: TaskDifferences,
  more: readonly { readonly root: string; readonly difference: number }[],
): TaskDifferences {
  const sums = new Map(differences);
  for (const { root, difference } of more) {
    const { pairs, sum } = sums.get(root) ?? { pairs: 0, sum: 0 };
    sums.set(root, { pairs: pairs + 1, sum: sum + difference });
  }
  return sums;
}

const ended = (
  trial: TrialRecord,
  { outcome, why }: Extract<StoredFact['fact'], { readonly type: 'trial-ended' }>,
  at: number,
): TrialRecord => ({ ...trial, end: { outcome, why, at } });

const isGrade = (value: number): boolean => value >= 0 && value <= 1;

/** All trials of the record. `follow` hears of every fact. */
export async function readTrials(
  records: Pick<Records, 'events'>,
  follow?: (stored: StoredFact) => void,
): Promise<TrialFold> {
  const fold = createTrialFold();
  for (const stored of await records.events(TRIALS_SUBJECT)) {
    fold.add(stored);
    follow?.(stored);
  }
  return fold;
}
