import { asArray, asNumber, asString, isObject } from '../../core/json.ts';
import type { Tally } from '../../stats/tally.ts';
import type { ProvenUses } from './proven-uses.ts';
import type { SeenSnapshot } from './seen-sessions.ts';

const VERSION = 1;

/** What is known of one lesson. */
export interface LessonRecord {
  readonly id: string;
  /** The number of the fact that gave it its words; sessions scored before say nothing about these. */
  readonly since: number;
  readonly with: Tally;
  readonly without: Tally;
  readonly uses: ProvenUses;
}

/** A whole measurement as plain JSON: kept beside the log, it saves folding every score again. */
export interface EffectsSnapshot {
  readonly version: number;
  /** The number of the last score that is in it. */
  readonly seq: number;
  readonly lessons: readonly LessonRecord[];
  readonly seen: SeenSnapshot;
}

export const createSnapshot = (parts: Omit<EffectsSnapshot, 'version'>): EffectsSnapshot => ({
  version: VERSION,
  ...parts,
});

/** A snapshot that was read back from somewhere; undefined when it is damaged or of another version: then fold again. */
export function readSnapshot(value: unknown): EffectsSnapshot | undefined {
  if (!isObject(value) || value.version !== VERSION || !isCount(value.seq)) return undefined;
  const { lessons, seen } = value;
  const isWhole = Array.isArray(lessons) && lessons.every(isRecord) && isSeen(seen);
  return isWhole ? (value as unknown as EffectsSnapshot) : undefined;
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isAmount = (value: unknown): boolean => (asNumber(value) ?? -1) >= 0;

const isRecord = (value: unknown): boolean =>
  isObject(value) &&
  asString(value.id) !== undefined &&
  isCount(value.since) &&
  isTally(value.with) &&
  isTally(value.without) &&
  isUses(value.uses);

const isTally = (value: unknown): boolean =>
  isObject(value) &&
  isCount(value.n) &&
  isAmount(value.sum) &&
  isAmount(value.squares) &&
  isAmount(value.cubes);

const isUses = (value: unknown): boolean =>
  isObject(value) &&
  isCount(value.count) &&
  Array.isArray(value.recent) &&
  value.recent.every((use) => isObject(use) && isAmount(use.at) && isAmount(use.weight));

const isSeen = (value: unknown): boolean =>
  isObject(value) &&
  asString(value.older) !== undefined &&
  Array.isArray(value.recent) &&
  value.recent.every((entry) => {
    const [key, lessons] = asArray(entry);
    return isCount(key) && Array.isArray(lessons) && lessons.every((id) => typeof id === 'string');
  });
