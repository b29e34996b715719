import { setImmediate as nextTick } from 'node:timers/promises';
import type { Lesson, LessonKind } from '../../core/lesson.ts';
import type { Domain, RecallQuery } from '../../core/recall.ts';
import type { LessonIndex, Placed } from './lesson-index.ts';
import type { Scan } from './scan.ts';
import { isInScope } from './scope.ts';

/** How a lesson stands to who asks. */
export const STANDING = {
  /** Gone, placed after the scan, or not among those asked for. */
  absent: 0,
  open: 1,
  /** Of the domain that was named: shown without having to fit the words. */
  due: 2,
  /** Of another scope, or expired. */
  shut: 3,
} as const;

/** How to work, as opposed to what once happened. */
const GUIDELINES: ReadonlySet<LessonKind> = new Set(['skill', 'fragment', 'identity']);
const PAUSE_AFTER = 16_384;

/** Belongs to a domain's block of guidelines. */
export const isGuideline = ({ kind, text }: Lesson, domain: Domain): boolean =>
  text.scope.domain === domain.name && GUIDELINES.has(kind);

/** The standing of every slot that was scanned. */
export async function standingsOf(
  index: LessonIndex,
  found: Scan,
  query: RecallQuery,
  domain: Domain,
  now: number,
): Promise<Uint8Array> {
  const isNamed = domain.reason === 'header' || domain.reason === 'pattern';
  const inScope = index.scopes.map((scope) => isInScope(scope, query, isNamed ? domain.name : undefined));
  const standingOf = (placed: Placed | undefined): number => {
    if (placed === undefined || placed.stamp > found.stamp) return STANDING.absent;
    const { lesson, scope } = placed;
    if (query.among !== undefined && !query.among.has(lesson.id)) return STANDING.absent;
    if (inScope[scope] !== true) return STANDING.shut;
    if (lesson.expiresAt !== undefined && lesson.expiresAt <= now) return STANDING.shut;
    return isNamed && isGuideline(lesson, domain) ? STANDING.due : STANDING.open;
  };
  const standings = new Uint8Array(found.words.length);
  for (let slot = 0; slot < standings.length; slot++) {
    if (slot > 0 && slot % PAUSE_AFTER === 0) await nextTick();
    standings[slot] = standingOf(index.at(slot));
  }
  return standings;
}
