import { type Author, IDENTITY_TIERS, type IdentityTier, type Lesson } from '../core/lesson.ts';

type Ranked = Pick<Lesson, 'kind' | 'text'>;

/** The tier of an identity; undefined for lessons of other kinds. */
export const tierOf = ({ kind, text }: Ranked): IdentityTier | undefined =>
  kind === 'identity' ? (text.note.tier ?? 'guarded') : undefined;

/** Whether only a person may bring a change of this lesson into use. */
export const isOwnersAlone = (lesson: Ranked): boolean => {
  const tier = tierOf(lesson);
  return tier === 'core' || tier === 'guarded';
};

/**
 * Why an author may not change an identity in this way; undefined when they may, and for lessons of other kinds. The autonomy
 * setting has no part in it. An erasure withdraws what it must.
 */
export function whyNotOfTier(by: Author, before: Lesson | undefined, after: Lesson): string | undefined {
  const tier = strictest(before, after);
  if (tier === undefined || by.kind === 'person') return undefined;
  const { id } = after;
  const isLess = before !== undefined && (after.state === before.state || after.state === 'retired');
  if (by.kind === 'instar' && by.name === ERASURE_AUTHOR && isLess) return undefined;
  if (before !== undefined && tierOf(before) !== tierOf(after))
    return `${id}: only a person may change the tier of an identity`;
  // It waits, and has never been in use under this id.
  const isProposal = after.state === 'proposed' && (before === undefined || before.state === 'proposed');
  const isMarked = before !== undefined && (before.pinned !== after.pinned || before.frozen !== after.frozen);
  if (by.kind === 'file')
    return isProposal && !isMarked ? undefined : `${id} is an identity: a file may only propose a change`;
  if (tier === 'core') return `${id} is the core of an identity: only a person may change it`;
  if (tier === 'guarded')
    return isProposal && !isMarked
      ? undefined
      : `${id} is a guarded part of an identity: only a person may approve or withdraw a change`;
  return by.kind === 'learner' && after.state === 'live' && before?.state !== 'live'
    ? `${id} is an identity: a learner may put it on trial, and a measurement or a person makes it live`
    : undefined;
}

/** The name under which an erasure withdraws lessons. */
export const ERASURE_AUTHOR = 'erasure';

function strictest(...lessons: readonly (Lesson | undefined)[]): IdentityTier | undefined {
  const tiers = lessons.map((lesson) => lesson && tierOf(lesson));
  return IDENTITY_TIERS.find((tier) => tiers.includes(tier));
}

/** Identities come first, the core before the rest; then by id. */
export const byPlaceInBlock = (a: Lesson, b: Lesson): number =>
  placeOf(a) - placeOf(b) || (a.id < b.id ? -1 : 1);

const placeOf = (lesson: Lesson): number => {
  const tier = tierOf(lesson);
  return tier === undefined ? IDENTITY_TIERS.length : IDENTITY_TIERS.indexOf(tier);
};
