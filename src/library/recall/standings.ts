import type { Domain, RecallQuery } from '../../core/recall.ts';
import { inSlices } from './in-slices.ts';
import type { LessonIndex } from './lesson-index.ts';
import { isInScope } from './scope.ts';

/** Whether a lesson may be shown for a query. */
export const STANDING = {
  /** Removed, inserted after the scan, or not among the requested lessons. */
  absent: 0,
  open: 1,
  /** A guideline of the named domain, or told to this agent by people: shown whether or not it matches the task. */
  due: 2,
  /** Of another scope, or expired. */
  shut: 3,
} as const;

/** The eligibility of the first `length` slots; lessons inserted after `stamp` are absent. */
export async function standingsOf(
  index: LessonIndex,
  { length, stamp }: { readonly length: number; readonly stamp: number },
  query: RecallQuery,
  domain: Domain,
  now: number,
): Promise<Uint8Array> {
  const { table } = index;
  const isNamed = domain.reason === 'header' || domain.reason === 'pattern';
  const inScope = Uint8Array.from(table.scopes, (scope) =>
    isInScope(scope, query, isNamed ? domain.name : undefined) ? 1 : 0,
  );
  const ofDomain = Uint8Array.from(table.scopes, (scope) =>
    isNamed && scope.domain === domain.name ? 1 : 0,
  );
  const standings = new Uint8Array(length);
  await inSlices(length, (from, to) => {
    const [stamps, scopeIds, expiries, guidelines, told] = [
      table.stamps(),
      table.scopeIds(),
      table.expiries(),
      table.guidelines(),
      table.told(),
    ];
    for (let slot = from; slot < to; slot++) {
      const placed = stamps[slot] ?? 0;
      if (placed === 0 || placed > stamp) continue;
      const scope = scopeIds[slot] ?? 0;
      if (inScope[scope] !== 1 || (expiries[slot] ?? 0) <= now) standings[slot] = STANDING.shut;
      else if (told[slot] === 1) standings[slot] = STANDING.due;
      else if (ofDomain[scope] === 1 && guidelines[slot] === 1) standings[slot] = STANDING.due;
      else standings[slot] = STANDING.open;
    }
  });
  const { among } = query;
  if (among !== undefined)
    for (let slot = 0; slot < length; slot++)
      if (!among.has(index.at(slot)?.lesson.id ?? '')) standings[slot] = STANDING.absent;
  return standings;
}
