import { asObject, type JsonObject } from '../core/json.ts';
import type { Change, Lesson, LessonText } from '../core/lesson.ts';
import type { Library } from '../core/library.ts';
import { identitySubject } from '../core/trial.ts';
import { changedLessonId, type RefusedChange } from './codec.ts';
import { lessonHash } from './compare-blocks.ts';
import { trialOf } from './effect/describe-trial.ts';
import type { TrialRecord, Trials } from './effect/fold-trials.ts';
import { isOwnersAlone, tierOf } from './identity-tier.ts';
import { revisedIds } from './links.ts';

/** What a request to change lessons says about identities. */
interface IdentityRequest {
  /** The owner was asked: `instar identity` does so, at a terminal. */
  readonly isIdentity: boolean;
  /** The owner approves without a measurement. */
  readonly isUnmeasured: boolean;
  /** The hashes of the texts that the owner was shown, by id. */
  readonly shown: JsonObject;
  /** The identities that the same request adds. */
  readonly added: ReadonlySet<string>;
}

/**
 * Why a request with the owner's key may not change the core or a guarded part of an identity in this way; undefined when it may.
 * An approval is for the bytes that were shown, comes by the command that asks the owner, and needs a measurement with and
 * without the text, or the owner's word that there is none. Rejecting and proposing need nothing.
 */
function whyNotApproved(
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
  if (ids.some((one) => request.added.has(one)))
    return `${id} is added by the same request: approve it after you were shown it`;
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
  const other = change.op === 'merge' ? owned.find((one) => one.state === 'proposed') : undefined;
  if (change.op === 'merge' && other !== undefined && !isSameWords(change.text, other.text))
    return `${id}: the text is not that of ${other.id}, which was shown and measured`;
  const isUse =
    change.op === 'merge' || (change.op === 'move' && change.to !== 'rejected' && change.to !== 'proposed');
  const unmeasured = isUse && owned.find((one) => one.state === 'proposed' && !isMeasured(one));
  return unmeasured && !request.isUnmeasured
    ? `${unmeasured.id} was not measured: no practice compared attempts with it and without it. Approve it all the same with --unmeasured`
    : undefined;
}

/** What replaces a part has the words of the proposal; it keeps the name of the part. */
const isSameWords = (a: LessonText, b: LessonText): boolean =>
  lessonHash({ ...a, name: '' }) === lessonHash({ ...b, name: '' });

const isTierChanged = (change: Change): boolean =>
  (change.op === 'revise' || change.op === 'merge') && change.text.note.tier !== 'free';

/**
 * The changes of a request, with a refusal in the place of each that the owner has not approved. A request about an identity is
 * made as a whole or not at all.
 */
export function withoutUnapproved(
  changes: readonly (Change | RefusedChange)[],
  body: JsonObject,
  library: Pick<Library, 'lesson' | 'history'>,
  isMeasured: (lesson: Lesson) => boolean,
): readonly (Change | RefusedChange)[] {
  const added = changes.flatMap((one) =>
    'op' in one && one.op === 'add' && isOwnersAlone(one) ? one.id : [],
  );
  const request: IdentityRequest = {
    isIdentity: body.identity === true,
    isUnmeasured: body.unmeasured === true,
    shown: asObject(body.shown),
    added: new Set(added),
  };
  const judged = changes.map((change): Change | RefusedChange => {
    const why = 'op' in change ? whyNotApproved(change, request, library, isMeasured) : undefined;
    return why === undefined ? change : { status: 'refused', id: changedLessonId(change), why };
  });
  const refused = judged.find((one) => !('op' in one));
  if (!request.isIdentity || refused === undefined || 'op' in refused) return judged;
  return judged.map((one) => ({ status: 'refused', id: changedLessonId(one), why: refused.why }));
}

interface FindsLessons {
  lesson(id: string): Lesson | undefined;
}

/** Whether a change of an identity waits for its owner. */
export const isIdentityProposal = ({ kind, state }: Lesson): boolean =>
  kind === 'identity' && state === 'proposed';

/** The part of the identity that a proposal would replace, while it is in use. */
export function replacedPart({ text }: Lesson, library: FindsLessons): Lesson | undefined {
  const linked = revisedIds(text.note).flatMap((id) => library.lesson(id) ?? []);
  return linked.find(({ kind, state }) => kind === 'identity' && (state === 'live' || state === 'trial'));
}

/** What a measurement of a proposal is about: its exact text, and the text in use that it was compared with. */
export function subjectOfProposal(proposal: Lesson, library: FindsLessons): string {
  const replaced = replacedPart(proposal, library);
  return identitySubject(
    proposal.id,
    [lessonHash(proposal.text), ...(replaced === undefined ? [] : [lessonHash(replaced.text)])].join('-'),
  );
}

/** What was measured of a lesson's text of now; of a proposal for an identity, of these bytes against those in use. */
export const measurementOf = (
  lesson: Lesson,
  library: FindsLessons,
  trials: Pick<Trials, 'of'>,
): TrialRecord | undefined =>
  isIdentityProposal(lesson) ? trials.of(subjectOfProposal(lesson, library)) : trialOf(lesson, trials);

/** Whether it was compared: that it could not be tested is no measurement. */
export const isCompared = (record: TrialRecord | undefined): boolean =>
  record?.end !== undefined && record.end.outcome !== 'untested';
