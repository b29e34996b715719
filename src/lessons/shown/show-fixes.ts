import type { Lesson, LessonPlace } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import { errorKeyOf } from '../../text/error-key.ts';
import { bothEnds } from '../../text/lines.ts';
import type { Holdout } from '../effect/hold-out.ts';
import { fixedErrorOf } from '../overlay-lessons.ts';
import { renderDelta } from '../render-block.ts';
import { renderSaid } from '../render-said.ts';
import { admit, audienceOf } from '../visibility.ts';
import type { ComposedUpdate, ShowRequest } from './block-update.ts';
import { extendThread, hashShownText, type PromptThread, type RecallChoice } from './prompt-thread.ts';

/** The fixes of a library: repairs that are shown when their error comes up again. */
export interface Fixes {
  /** Whether one is in the scope of a query. Without any, a conversation is not read for errors. */
  isAny(query: ShowRequest['query'], now: number): boolean;
  /** Those in the scope of a query whose error is in a text, each with its error. */
  find(query: ShowRequest['query'], texts: readonly string[], now: number): readonly FoundFix[];
  readonly lotOf: Holdout['lotOf'];
}

interface FoundFix {
  readonly lesson: Lesson;
  readonly error: string;
}

export interface FixesOptions {
  readonly library: Pick<Library, 'shown'>;
  /** The errors in a text, as `Kind @ file:line`. */
  readonly digestsOf: (text: string) => readonly string[];
  readonly lotOf: Holdout['lotOf'];
  /** A text could not be read: the request goes on without a fix. */
  readonly onFault: (error: unknown) => void;
}

export function createFixes({ library, digestsOf, lotOf, onFault }: FixesOptions): Fixes {
  let followed: readonly Lesson[] | undefined;
  let all: readonly FoundFix[] = [];
  const inScope = (query: ShowRequest['query'], now: number): readonly FoundFix[] => {
    const shown = library.shown(now);
    if (shown !== followed) {
      all = shown.flatMap((lesson) => {
        const error = fixedErrorOf(lesson);
        return error === undefined || error === '' ? [] : [{ lesson, error }];
      });
      followed = shown;
    }
    return all.length === 0 ? all : all.filter(({ lesson }) => isFor(lesson, query));
  };
  return {
    lotOf,
    isAny: (query, now) => inScope(query, now).length > 0,
    find: (query, texts, now) => {
      const fixes = inScope(query, now);
      if (fixes.length === 0) return fixes;
      try {
        const parts = texts.slice(-MOST_TEXTS).map((text) => bothEnds(text, MOST_SEARCHED));
        const errors = new Set(parts.flatMap(digestsOf).map(errorKeyOf));
        return fixes.filter(({ error }) => errors.has(error));
      } catch (error) {
        onFault(error);
        return [];
      }
    },
  };
}

/** A request waits for it: of a long output only its ends are searched, where errors stand. */
const MOST_SEARCHED = 30_000;
const MOST_TEXTS = 8;

/** Where a private one was learned is read from the record elsewhere: here it is for the agent that its scope names. */
function isFor(lesson: Lesson, query: ShowRequest['query']): boolean {
  const admittance = admit(audienceOf(lesson, undefined), query, query.domain);
  return admittance === 'yes' || admittance === 'shared';
}

/** Of one message. More than that would be a list to search in, no answer. */
const MOST_FIXES = 2;

interface FixSituation {
  readonly fixes: Fixes;
  readonly thread: PromptThread;
  /** Of the session. */
  readonly shown: ReadonlySet<string>;
  readonly heldOut: ReadonlySet<string>;
  readonly place: LessonPlace;
  readonly generation: number;
}

/**
 * Adds the fixes for errors in what came since the model's last message, behind the newest message. Each is added once to a thread,
 * and stays where it is. Undefined when there is none to add.
 */
export function addFixes(
  { fixes, thread, shown, heldOut, place, generation }: FixSituation,
  { session, turn, thread: name, query, now, conversation }: ShowRequest,
): ComposedUpdate | undefined {
  const newest = conversation()?.newest;
  if (newest === undefined) return undefined;
  const drawn = { shown: [...shown], heldOut: [...heldOut] };
  const found = fixes
    .find(query, newest.texts, now)
    .filter(({ lesson: { id } }) => !thread.inForce.has(id) && !heldOut.has(id))
    .slice(0, MOST_FIXES)
    .map((one) => ({ ...one, lot: fixes.lotOf({ session, drawn }, one.lesson.id) }));
  if (found.length === 0) return undefined;
  const taken = found.filter(({ lot }) => lot !== 'held-out');
  const lessons = taken.map(({ lesson }) => lesson);
  const lead = `Seen before: ${[...new Set(taken.map(({ error }) => error))].join('; ')}. This repaired it then; use it where it fits.`;
  const isFirst = thread.text.hash === undefined;
  const text =
    lessons.length === 0
      ? undefined
      : place === 'message'
        ? `${lead}\n\n${renderSaid(lessons)}`
        : renderDelta({ lessons, withdrawn: [], isFirst, lead });
  const unmeasured = taken.filter(({ lot }) => lot === 'unmeasured').map(({ lesson }) => lesson.id);
  const choice: RecallChoice = {
    text,
    fact: {
      ...{ type: 'lessons-recalled', session, turn, thread: name, generation, why: 'error' },
      after: newest.link,
      ...(text === undefined ? {} : { block: hashShownText([text]) }),
      lessons: lessons.map(({ id }) => id),
      heldOut: found.filter(({ lot }) => lot === 'held-out').map(({ lesson }) => lesson.id),
      ...(unmeasured.length === 0 ? {} : { unmeasured }),
      domain: { name: query.domain ?? 'general', reason: query.domain === undefined ? 'default' : 'header' },
      considered: found.map(({ lesson: { id, revision, text: words }, error, lot }) => ({
        ...{ id, revision, name: words.name, relevance: 1, activation: 1, error },
        verdict: lot === 'held-out' ? 'held-out' : 'shown',
      })),
      engine: 'none',
    },
  };
  return { thread: extendThread(thread, choice, newest.link), choice };
}
