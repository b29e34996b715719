import type { JsonObject } from '../core/json.ts';
import type { Change, Lesson } from '../core/lesson.ts';
import type { Library } from '../core/library.ts';
import { changedLessonId } from './codec.ts';
import { isOwnersAlone, tierOf } from './identity-tier.ts';

/** What a request to change lessons says about identities. */
export interface IdentityRequest {
  /** The owner was asked: `instar identity` does so, at a terminal. */
  readonly isIdentity: boolean;
  /** The owner approves without a measurement. */
  readonly isUnmeasured: boolean;
  /** The hashes of the texts that the owner was shown, by id. */
  readonly shown: JsonObject;
}

/**
 * Why a request with the owner's key may not change the core or a guarded part of an identity in this way; undefined when it may.
 * An approval is for the bytes that were shown, comes by the command that asks the owner, and needs a measurement with and
 * without the text, or the owner's word that there is none. Rejecting and proposing need nothing.
 */
export function whyNotApproved(
  change: Change,
  request: IdentityRequest,
  library: Pick<Library, 'lesson' | 'history'>,
  isMeasured: (lesson: Lesson) => boolean,
): string | undefined {
  const id = changedLessonId(change);
  if (change.op === 'add') {
    if (change.state === 'proposed' || !isOwnersAlone(change)) return undefined;
    return `${id}: an identity is added as a proposal, then approved: instar identity approve`;
  }
  const ids = change.op === 'merge' ? change.ids : [id];
  const touched = ids.flatMap((one) => library.lesson(one) ?? []);
  const owned = touched.filter(isOwnersAlone);
  const first = owned[0] ?? touched.find(({ kind }) => kind === 'identity' && isTierChanged(change));
  if (first === undefined) return undefined;
  if (change.op === 'move' && change.to === 'rejected' && first.state === 'proposed') return undefined;
  if (!request.isIdentity)
    return `${id} is the ${tierOf(first)} part of an identity: change it with instar identity (approve, reject, rollback)`;
  const unseen = owned.find((one) => request.shown[one.id] === undefined);
  if (unseen !== undefined) return `${unseen.id}: the request does not say which text was shown`;
  if (change.op === 'restore') {
    const wasUsed = library
      .history(id)
      .some(({ revision, state }) => revision === change.revision && (state === 'live' || state === 'trial'));
    return wasUsed ? undefined : `${id}: revision ${change.revision} was never in use`;
  }
  const isUse =
    change.op === 'merge' || (change.op === 'move' && change.to !== 'rejected' && change.to !== 'proposed');
  const unmeasured = isUse && owned.find((one) => one.state === 'proposed' && !isMeasured(one));
  return unmeasured && !request.isUnmeasured
    ? `${unmeasured.id} was not measured: no practice compared attempts with it and without it. Approve it all the same with --unmeasured`
    : undefined;
}

const isTierChanged = (change: Change): boolean =>
  (change.op === 'revise' || change.op === 'merge') && change.text.note.tier !== 'free';
