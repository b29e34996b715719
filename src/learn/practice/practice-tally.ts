import type { AttemptGroup } from '../../core/practice.ts';
import type { PracticeCounts } from '../../core/practice-fact.ts';
import type { CycleEnd } from '../cycle.ts';
import type { TaskAttempts } from './attempt-batch.ts';
import { meanOf, type PracticeResult, rewardsOf } from './practice-input.ts';

/** What a run did, counted. */
export interface PracticeTally {
  attempted(made: readonly TaskAttempts[]): void;
  grouped(groups: readonly AttemptGroup[], kept: readonly AttemptGroup[]): void;
  cycled(cycle: CycleEnd): void;
  lost(): void;
  quarantined(): void;
  counts(): PracticeCounts;
  rewards(): PracticeResult['rewards'];
  cycles(): readonly CycleEnd[];
}

const NOTHING: Required<PracticeCounts> = {
  graded: 0,
  ungraded: 0,
  infrastructure: 0,
  groups: 0,
  recorded: 0,
  kept: 0,
  lost: 0,
  quarantined: 0,
  published: 0,
  proposed: 0,
  refused: 0,
};

export function createPracticeTally(): PracticeTally {
  const counts: Record<keyof PracticeCounts, number> = { ...NOTHING };
  const rewards = new Map<AttemptGroup['gradedBy'], number[]>();
  const cycles: CycleEnd[] = [];
  return {
    attempted: (made) => {
      for (const { attempts } of made) for (const { outcome } of attempts) counts[outcome.is]++;
    },
    grouped: (groups, kept) => {
      counts.groups += groups.length;
      counts.recorded += groups.filter(({ attempts }) =>
        attempts.some(({ from }) => from !== undefined),
      ).length;
      counts.kept += kept.length;
      for (const { gradedBy, attempts } of groups) {
        const all = [...(rewards.get(gradedBy) ?? []), ...rewardsOf(attempts)];
        if (all.length > 0) rewards.set(gradedBy, all);
      }
    },
    cycled: (cycle) => {
      cycles.push(cycle);
      for (const { outcome } of cycle.judgements)
        counts[outcome === 'proposed' || outcome === 'refused' ? outcome : 'published']++;
    },
    lost: () => {
      counts.lost++;
    },
    quarantined: () => {
      counts.quarantined++;
    },
    counts: () => ({ ...counts }),
    rewards: () => Object.fromEntries([...rewards].map(([by, all]) => [by, meanOf(all)])),
    cycles: () => cycles,
  };
}
