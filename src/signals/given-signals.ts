import type { Signal } from '../core/evidence.ts';
import type { RewardSource } from '../core/fact.ts';
import { findOutage } from './find-outage.ts';
import type { TurnReading } from './read-turn.ts';

const NAMES: Readonly<Record<RewardSource, string>> = {
  verifier: 'verified',
  person: 'feedback',
  judge: 'judged',
  signal: 'reported',
};

/** Recorded rewards as signals, each with its source; scores of −1 to 1 become 0 to 1. */
export function readGiven({ evidence }: TurnReading): readonly Signal[] {
  return evidence.given.flatMap(({ source, score }): readonly Signal[] => {
    if (!Number.isFinite(score)) return [];
    const scaled = (Math.min(1, Math.max(-1, score)) + 1) / 2;
    return [{ name: NAMES[source], source, score: scaled, weight: 1, reason: `${source} gave ${score}` }];
  });
}

/** The attempts that an agent reported. Only the last attempt at an action counts; outages do not count. */
export function readAttempts({ evidence }: TurnReading): Signal | undefined {
  const last = new Map<string, boolean>();
  for (const { action, result, ok } of evidence.attempts) {
    if (ok || findOutage(result) === undefined) last.set(action.trim(), ok);
  }
  if (last.size === 0) return undefined;
  const worked = [...last.values()].filter((ok) => ok).length;
  const reason = `${worked} of ${last.size} attempts worked`;
  return { name: 'attempted', source: 'signal', score: worked / last.size, weight: 1.5, reason };
}
