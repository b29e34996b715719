import type { Lesson } from '../../core/lesson.ts';

/** How useful a lesson proved to be. Only verified outcomes count; being shown does not. */
export interface Usefulness {
  /** When it proved useful; weights are 0 to 1. */
  readonly uses: readonly { readonly at: number; readonly weight: number }[];
  /** It was measured to help, so that age does not hide it. */
  readonly isProven: boolean;
}

export const UNKNOWN_USE: Usefulness = { uses: [], isProven: false };

const DAY_MS = 86_400_000;
/** The exponent of the power law by which a use decays with the days since, as in ACT-R. */
const DECAY = 0.5;
/** The least activation of a lesson, however old. Importance raises it a little. */
const FLOOR = 0.2;
const IMPORTANCE_WEIGHT = 0.2;

/**
 * Memory activation of a lesson, 0 to 1. A new one starts at 1 and halves in its half-life; each proven use adds a trace
 * that raises it and slows its decay. It falls continuously and never below the floor; a pinned one stays at 1.
 */
export function activationOf(lesson: Lesson, { uses }: Usefulness, now: number): number {
  if (lesson.pinned) return 1;
  const { halfLifeDays, importance } = lesson.text.note;
  const trace = uses.reduce((sum, use) => sum + clamp(use.weight) * (1 + daysFrom(use.at, now)) ** -DECAY, 0);
  const halfLives = daysFrom(lesson.changedAt, now) / Math.max(halfLifeDays, 1 / 24) / (1 + trace);
  const forgotten = (1 - 2 ** -halfLives) * Math.exp(-trace);
  const floor = FLOOR + IMPORTANCE_WEIGHT * clamp(importance);
  return floor + (1 - floor) * (1 - forgotten);
}

const daysFrom = (at: number, now: number): number => Math.max(0, now - at) / DAY_MS;
const clamp = (value: number): number => Math.min(1, Math.max(0, value));
