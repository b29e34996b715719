import { createHash } from 'node:crypto';
import type { Change, Lesson, LessonKind } from '../core/lesson.ts';
import { countOutcomes } from '../stats/effect-posterior.ts';
import { trialFigures, trialOf } from './effect/describe-trial.ts';
import type { Trials } from './effect/fold-trials.ts';
import type { LessonEffects } from './effect/lesson-effects.ts';

/** Advice: what helped one agent may help another. An identity is one agent's own, and the other kinds change how requests are served. */
export const MOVABLE_KINDS: ReadonlySet<LessonKind> = new Set(['skill', 'experience', 'fragment']);
const LONGEST_EFFECT = 400;

/** Why a lesson is no lesson for another agent; undefined when it may be one. */
export function whyNotTransferred({ kind, state, text }: Lesson): string | undefined {
  if (kind === 'identity') return 'it is who its agent is: identities are not transferred';
  if (!MOVABLE_KINDS.has(kind)) return `a lesson of the kind ${kind} is not transferred`;
  if (text.note.visibility === 'private') return 'it is private to its agent';
  if (text.scope.agent === undefined || text.note.visibility === 'shared')
    return 'it is for every agent already';
  if (text.scope.agent.includes('*')) return 'it is for several agents already';
  if (text.taint.length > 0) return 'it has text of a tool or a page that nobody approved';
  if (text.evidence.transfer !== undefined) return 'it was transferred itself: its origin is transferred';
  return state === 'live' ? undefined : 'it is not in use without reserve (live)';
}

/** What was measured of a lesson that helps, with its interval; undefined for a lesson that is not proven. */
export function provenEffect(
  lesson: Lesson,
  trials: Pick<Trials, 'of'>,
  effects: Pick<LessonEffects, 'sessionsOf' | 'verdict'>,
): string | undefined {
  const trial = trialOf(lesson, trials);
  if (trial?.end?.outcome === 'helpful') return trialFigures(trial).slice(0, LONGEST_EFFECT);
  if (effects.verdict(lesson.id) !== 'helpful') return undefined;
  const arms = effects.sessionsOf(lesson.id);
  const [shown, without] = [arms.with, arms.without].map((arm) => Math.round(countOutcomes(arm)));
  return `real sessions came out better with it: ${shown} with and ${without} without`;
}

/** The same for the same lesson and agent: what an agent rejected or retired is not proposed to it again. */
export const transferId = (lesson: string, agent: string): string =>
  `tr_${createHash('sha256').update(`${lesson}\n${agent}`).digest('hex').slice(0, 20)}`;

/**
 * The lesson for another agent: the same words, in the same project and domain, with its origin and a trial and hold-out of its own.
 * It rests on the same evidence, and is erased with it.
 */
export function transferredLesson(
  lesson: Lesson,
  agent: string,
  effect: string,
  state: 'trial' | 'proposed',
): Extract<Change, { readonly op: 'add' }> {
  const { text, revision } = lesson;
  const { isAlways: _, ...note } = text.note;
  const from = text.scope.agent ?? '';
  return {
    op: 'add',
    id: transferId(lesson.id, agent),
    kind: lesson.kind,
    state,
    text: {
      ...text,
      name: nameFor(text.name, agent),
      scope: { ...text.scope, agent },
      note: {
        ...note,
        context: `transferred from ${from}, lesson ${lesson.id}: ${effect}`,
        source: 'inferred',
        visibility: 'scoped',
        links: [lesson.id],
      },
      evidence: {
        ...text.evidence,
        learner: TRANSFER_LEARNER,
        transfer: { agent: from, lesson: lesson.id, revision, effect },
      },
    },
  };
}

/** The name of the learner. */
export const TRANSFER_LEARNER = 'transfer';

function nameFor(name: string, agent: string): string {
  const slug = agent
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 16);
  return `${name.slice(0, 40).replace(/-+$/, '')}-for-${slug || 'agent'}`;
}
