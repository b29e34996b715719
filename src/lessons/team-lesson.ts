import { createHash } from 'node:crypto';
import {
  type Change,
  type ChangeSet,
  isActive,
  type Lesson,
  type LessonKind,
  type Scope,
} from '../core/lesson.ts';
import type { Library } from '../core/library.ts';
import { TEAM } from '../core/principal.ts';

const MOST_EVIDENCE = 64;
/** Advice: what helped one may help another. An identity is one agent's own, and the other kinds change how requests are served. */
const MOVABLE_KINDS: ReadonlySet<LessonKind> = new Set(['skill', 'experience', 'fragment']);

/** The name of the learner. */
export const TEAM_LEARNER = 'team';

/** Why a lesson cannot be the team's; undefined when it may. */
export function whyNotForTeam({ kind, state, text }: Lesson): string | undefined {
  if (text.scope.member === TEAM) return 'it is the team’s already';
  if (!MOVABLE_KINDS.has(kind)) return `a lesson of the kind ${kind} is not moved to the team`;
  if (text.note.visibility === 'private') return 'it is private to its agent and project';
  if (text.taint.length > 0) return 'it has text of a tool or a page that nobody approved';
  return state === 'live' || state === 'trial' ? undefined : 'it is not in use (trial or live)';
}

/** The same for the same words of one lesson: what the team rejected or retired does not come back by itself. */
export const teamLessonId = ({ id, revision }: Pick<Lesson, 'id' | 'revision'>): string =>
  `team_${createHash('sha256').update(`${id}\n${revision}`).digest('hex').slice(0, 20)}`;

/**
 * The team's lesson: the words of one member's lesson, letter by letter, and the evidence of those that say the same. `sources`: lessons
 * of members who let their words go, the one with the words first. It rests on all their conversations, and is erased with them.
 */
export function teamLesson(
  sources: readonly [Lesson, ...Lesson[]],
  state: 'trial' | 'proposed',
): Extract<Change, { readonly op: 'add' }> {
  const [first] = sources;
  const { text } = first;
  const evidence = sources.map((one) => one.text.evidence);
  const { relations: _, ...note } = text.note;
  return {
    op: 'add',
    id: teamLessonId(first),
    kind: first.kind,
    state,
    text: {
      ...text,
      scope: { ...commonScope(sources.map((one) => one.text.scope)), member: TEAM },
      note: { ...note, visibility: 'scoped', links: [] },
      evidence: {
        turns: [...new Set(evidence.flatMap(({ turns }) => turns))].slice(0, MOST_EVIDENCE),
        quotes: evidence.flatMap(({ quotes }) => quotes).slice(0, MOST_EVIDENCE),
        learner: TEAM_LEARNER,
        team: sources.map((one) => ({ member: one.text.scope.member ?? '', lesson: one.id })),
      },
    },
  };
}

/**
 * Retires the lessons of the team that have words or evidence of members who opted out: what others say without them may move again.
 * Undefined when there is none. It is their word, and so passes pins and autonomy.
 */
export function withdrawLessons(
  library: Pick<Library, 'lessons' | 'generation'>,
  optedOut: ReadonlySet<string>,
): { readonly set: ChangeSet; readonly lessons: readonly Lesson[] } | undefined {
  const lessons = library
    .lessons()
    .filter(
      ({ state, text }) =>
        text.scope.member === TEAM &&
        isActive({ state }) &&
        text.evidence.team?.some(({ member }) => optedOut.has(member)) === true,
    );
  if (lessons.length === 0) return undefined;
  const reason = 'a member whose words it has does not share any more';
  // The generation: a lesson that a person brought back is retired again.
  const name = [library.generation, ...lessons.map(({ id, revision }) => `${id}.${revision}`)].join('\n');
  return {
    lessons,
    set: {
      id: `opt-out-${createHash('sha256').update(name).digest('hex').slice(0, 20)}`,
      by: { kind: 'person', name: 'person' },
      reason,
      changes: lessons.map(({ id }) => ({ op: 'retire', id, reason })),
    },
  };
}

/** A field in which two differ is left open. */
function commonScope(scopes: readonly Scope[]): Scope {
  const [first = {}] = scopes;
  const common: { -readonly [Field in keyof Scope]: Scope[Field] } = {};
  for (const field of ['agent', 'project', 'runKind', 'domain'] as const) {
    const value = first[field];
    if (value !== undefined && scopes.every((scope) => scope[field] === value)) common[field] = value;
  }
  return common;
}
