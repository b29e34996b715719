import type { Lesson } from '../../core/lesson.ts';
import type { LessonEvent, Library } from '../../core/library.ts';
import { whoOf } from '../../text/who.ts';
import { isErasedText } from '../codec.ts';
import { titleOf } from '../title.ts';

/** Why a lesson is retired or rejected. */
export interface Closing {
  readonly by: 'rollback' | 'harm' | 'merge' | 'erasure' | 'unused' | 'file' | 'person' | 'instar';
  /** `retired by the rollback to generation 0`. */
  readonly words: string;
  readonly at: number;
  /** The command that brings it back. */
  readonly undo: string;
}

type History = Pick<Library, 'history' | 'generations' | 'lesson'>;

const isClosed = (state: string): boolean => state === 'retired' || state === 'rejected';
const ROLLED_BACK = /rolled back to generation (\d+)$/;

/** Undefined for a lesson that is neither retired nor rejected. With `isKnown`: as of these events. */
export function closingOf(
  lesson: Lesson,
  library: History,
  isKnown?: (event: LessonEvent) => boolean,
): Closing | undefined {
  if (isKnown === undefined && !isClosed(lesson.state)) return undefined;
  const events = library.history(lesson.id).filter(isKnown ?? (() => true));
  const last = events.at(-1);
  if (last === undefined || !isClosed(last.state)) return undefined;
  // What was marked or expired after its retirement is still retired by what came first.
  const opened = events.findLastIndex(({ state }) => !isClosed(state));
  const event = events[opened + 1] ?? last;
  return { ...reasonOf(lesson, event, library), at: event.at };
}

function reasonOf(lesson: Lesson, event: LessonEvent, library: History): Omit<Closing, 'at'> {
  const { by, op, reason, state } = event;
  const approve = `instar lessons keep ${lesson.text.name}`;
  const target = ROLLED_BACK.exec(reason)?.[1];
  if (target !== undefined) {
    const before = library.generations().findLast(({ generation }) => generation < event.generation);
    return {
      by: 'rollback',
      words: `${state} by the rollback to generation ${target}`,
      undo: `instar generations rollback ${before?.generation ?? 0}`,
    };
  }
  if (isErasedText(lesson.text))
    return { by: 'erasure', words: `${state}: the session it was learned from was erased`, undo: '' };
  if (op === 'merge') {
    const into = lesson.mergedInto === undefined ? undefined : library.lesson(lesson.mergedInto);
    return {
      by: 'merge',
      words: `merged into ${into === undefined ? (lesson.mergedInto ?? 'another one') : `“${titleOf(into)}”`}`,
      undo: approve,
    };
  }
  if (reason.startsWith('harmful:'))
    return {
      by: 'harm',
      words: `${state} because it did harm: ${reason.slice('harmful:'.length).trim()}`,
      undo: approve,
    };
  if (reason.startsWith('forgotten:'))
    return {
      by: 'unused',
      words: `${state} because it was not used: ${reason.slice('forgotten:'.length).trim()}`,
      undo: approve,
    };
  if (reason.startsWith('archived:'))
    return {
      by: 'unused',
      words: `archived: ${reason.slice('archived:'.length).trim()}`,
      undo: `instar lessons keep ${lesson.text.name}`,
    };
  if (by.kind === 'file')
    return { by: 'file', words: `${state} by a change in the skills folder`, undo: approve };
  const said = IDLE_REASONS.has(reason) ? '' : `: ${reason}`;
  if (by.kind === 'person') return { by: 'person', words: `${state} by you${said}`, undo: approve };
  return { by: 'instar', words: `${state} by ${whoOf(by.name)}${said}`, undo: approve };
}

/** Reasons that commands fill in when the person gave none. */
const IDLE_REASONS: ReadonlySet<string> = new Set(['retired by a person', 'requested by a person']);

/** A rollback that is still in force: nothing was published after it. */
interface RollbackInForce {
  readonly to: number;
  readonly generation: number;
  readonly at: number;
  /** How many lessons it retired. */
  readonly retired: number;
  /** The generation that brings them back. */
  readonly undo: number;
}

const ROLLBACK = /^roll back to generation (\d+)$/;

export function rollbackInForce(library: Pick<Library, 'generations' | 'diff'>): RollbackInForce | undefined {
  const all = library.generations();
  const last = all.at(-1);
  const to = last && ROLLBACK.exec(last.reason)?.[1];
  if (last === undefined || to === undefined) return undefined;
  const undo = all.at(-2)?.generation ?? 0;
  const retired = library.diff(undo, last.generation)?.removed.length ?? 0;
  return { to: Number(to), generation: last.generation, at: last.at, retired, undo };
}
