import type { EvidenceCase, Judgement, ProposedChange } from '../../core/learn.ts';
import type { Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import { isPersonsWord } from '../../lessons/told.ts';
import { mayScopesOverlap } from '../draft-lesson.ts';
import { isFromUser } from './weigh-evidence.ts';

/** Lessons that no learner wrote: people, files and imports. */
export const BY_PEOPLE: ReadonlySet<string> = new Set(['person', 'import', 'file', 'starter']);

/** Why a learner may not change a lesson at all; undefined when it may. */
export function whyUntouchable({ id, state, frozen, pinned, text }: Lesson): string | undefined {
  if (frozen) return `${id} is frozen: only a person may change it`;
  if (pinned) return `${id} is pinned: only a person may retire it`;
  if (state === 'retired' || state === 'rejected') return `${id} is ${state} already`;
  return BY_PEOPLE.has(text.evidence.learner)
    ? `${id} was written by a person: only a person may retire it`
    : undefined;
}

/** Why a lesson may not be taken out of use by a measurement or a model; undefined when it may. */
export const whyNotRetired = (lesson: Lesson): string | undefined =>
  whyNotTakenBack(lesson) ??
  (isPersonsWord(lesson)
    ? `${lesson.id} was told by a person: only that person may end it, or change its words`
    : undefined);

/** Why what was said in a chat may not end a lesson: feedback outranks it. */
export const whyNotTakenBack = (lesson: Lesson): string | undefined =>
  whyUntouchable(lesson) ??
  (lesson.text.note.source === 'told'
    ? `${lesson.id} was told by a person: only a person may retire it`
    : undefined);

/**
 * A retirement cites turns of this cycle, and is of a lesson that applies to them. What a person told is retired by what a
 * person told later; a correction in the chat retires lessons of its own agent and project, and no wider ones; what was
 * measured retires any other lesson that a learner wrote.
 */
export function judgeRetirement(
  change: Extract<ProposedChange, { readonly op: 'retire' }>,
  turns: readonly string[],
  cases: readonly EvidenceCase[],
  library: Library,
): Judgement {
  const refuse = (why: string): Judgement => ({ outcome: 'refused', why: [why] });
  const lesson = library.lesson(change.id);
  if (lesson === undefined) return refuse(`lesson ${change.id} does not exist`);
  const cited = cases.filter(({ turn }) => turns.includes(turn));
  const own = new Set(lesson.text.evidence.turns);
  const since = Math.max(...cases.map(({ turn, at }) => (own.has(turn) ? at : Number.NEGATIVE_INFINITY)));
  const isTold = cited.some(
    ({ turn, at, source }) => (source === 'person' || source === 'verifier') && !own.has(turn) && at > since,
  );
  const heard = cited.filter((one) => one.source === 'person' || isFromUser(one));
  const whyNot = isTold ? whyUntouchable : heard.length > 0 ? whyNotTakenBack : whyNotRetired;
  const why = whyNot(lesson);
  if (why !== undefined) return refuse(why);
  if (cited.length === 0) return refuse('it cites no turn of this cycle');
  const here = cited.filter(({ scope }) => mayScopesOverlap(scope, lesson.text.scope));
  if (here.length === 0) return refuse(`${lesson.id} does not apply where this happened`);
  const isChatOnly = here.every(({ source }) => source === 'chat');
  const { agent, project, member } = lesson.text.scope;
  const isOwn = here.some(
    ({ scope }) => scope.agent === agent && scope.project === project && scope.member === member,
  );
  if (isChatOnly && !isOwn)
    return refuse(`${lesson.id} applies beyond the agent and the project of the chat`);
  const takenBack = { ...change, turns: heard.map(({ turn }) => turn) };
  return { outcome: 'trial', why: [], change: isPersonsWord(lesson) ? takenBack : change };
}
