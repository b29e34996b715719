import { createLruMap } from '../../base/lru-map.ts';
import type { Clock } from '../../core/clock.ts';
import type { TurnRole } from '../../core/evidence.ts';
import { compact } from '../../core/json.ts';
import type { Lesson, LessonPlace } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import { placeKey } from '../../core/principal.ts';
import type { Recall } from '../../core/recall.ts';
import type { Recollect } from '../../core/recollection.ts';
import type { Records } from '../../core/store.ts';
import { isRecalled } from '../check-overlay.ts';
import { isErasedText } from '../codec.ts';
import type { DomainPattern } from '../recall/domain.ts';
import { type Asker, type Audience, audienceOf, isInScope, widestReach } from '../scope.ts';
import type { ConversationView, ShowRequest } from './block-update.ts';
import type { SharedSessions } from './left-turns.ts';
import type { ShownText } from './prompt-thread.ts';
import type { SessionRules } from './remind-rules.ts';
import { createFixes, type FixesOptions, type ReadStatements } from './show-fixes.ts';
import { createShownBlocks, type ErasedTexts, type ShownBlocksOptions } from './shown-blocks.ts';

interface ShowLessonsOptions {
  readonly library: Library;
  readonly recall: Recall;
  readonly records: Records;
  readonly clock: Clock;
  readonly domains?: readonly DomainPattern[];
  /** Where lessons stand for a model; the system prompt unless it is given. */
  readonly place?: (model: string) => LessonPlace;
  /** The tokens that lessons may add to a prompt of a model; absent: as recall is limited. */
  readonly room?: (model: string) => number;
  /** The errors in a text, as `Kind @ file:line`, and the hold-out of recall; absent: no fix is shown. */
  readonly errors?: Omit<FixesOptions, 'library'>;
  /** What the user of a session has said; absent: nothing is shown again when a client shortens a history. */
  readonly statements?: ReadStatements;
  /** How the answers of sessions kept to the rules; absent: none is shown again. */
  readonly rules?: SessionRules;
  /** What the asker said in earlier sessions; absent: no message gets it. */
  readonly recollect?: Recollect;
  /** Other gateways serve turns of the same sessions; absent: nobody else does. */
  readonly shared?: SharedSessions;
  /** A decision could not be recorded: after a restart the session's prompt may change once. */
  readonly onFault: (error: unknown, session: string) => void;
}

/** A turn that may be shown lessons. */
export interface PromptTurn {
  readonly id: string;
  readonly session: string;
  /** `side` is a sub-agent's turn, `aux` a client's own call for a title or a summary. */
  readonly role: TurnRole;
  /** The client asks only for the length of the prompt. */
  readonly isCount: boolean;
  /** False: nothing of it may be recorded. */
  readonly isRecorded: boolean;
  readonly model: string;
  /** The model that answers, as its provider calls it. */
  readonly answeredBy: string;
  /** The bytes of the request's body. */
  readonly size: number;
  /** Lessons that the model keeps without being shown them. */
  readonly remembered?: ReadonlySet<string>;
  readonly query: ShowRequest['query'];
  /** Called at most once. */
  readConversation(): ConversationView | undefined;
}

interface ShowLessons {
  show(turn: PromptTurn): Promise<ShownText>;
  /** See `ShownBlocks`. */
  forget(erasedSession?: string): void;
}

/** The lessons of each turn. Auxiliary calls get none; a prompt that is only counted gets the text it would be sent with. */
export function createShowLessons(options: ShowLessonsOptions): ShowLessons {
  const { library, recall, records, clock, onFault } = options;
  const common: Omit<ShownBlocksOptions, 'record' | 'restore'> = {
    recall,
    generation: () => library.generation,
    lessonCount: createLessonCounter(library),
    lesson: library.lesson,
    ...(options.domains === undefined ? {} : { domains: options.domains }),
    ...(options.errors === undefined ? {} : { fixes: createFixes({ library, ...options.errors }) }),
    changedSince: (generation) => {
      const diff = library.diff(generation, library.generation);
      return {
        ids: new Set([...(diff?.added ?? []), ...(diff?.revised ?? [])].map(({ id }) => id)),
        withdrawn: (diff?.removed ?? []).map(({ id }) => id),
      };
    },
  };
  const shown = createShownBlocks({
    ...common,
    ...(options.statements === undefined ? {} : { statements: options.statements }),
    ...(options.rules === undefined ? {} : { rules: options.rules }),
    ...(options.recollect === undefined ? {} : { recollect: options.recollect }),
    ...(options.shared === undefined ? {} : { shared: options.shared }),
    record: ({ fact, text, sources = [] }) => {
      const { session, block: hash } = fact;
      const blocks = hash === undefined || text === undefined ? [] : [{ hash, text, session }];
      const quoted = sources.map((source) => ({
        at: clock.now(),
        fact: { type: 'message-quoted', session: source, by: session, block: hash ?? '' } as const,
      }));
      records
        .append([{ at: clock.now(), fact }, ...quoted], blocks, true)
        .catch((error: unknown) => onFault(error, session));
    },
    restore: async (session) => {
      const facts = (await records.recalls(session)).map(({ fact }) => fact);
      const choices = facts.flatMap((fact) => (fact.type === 'lessons-recalled' ? [fact] : []));
      return Promise.all(
        choices.map(async (fact) => ({
          fact,
          text: fact.block === undefined ? undefined : await records.block(fact.block),
        })),
      );
    },
  });
  /** For callers who want nothing recorded: their threads live in memory only. */
  const unrecorded = createShownBlocks({ ...common, record: () => undefined, restore: async () => [] });

  const show: ShowLessons['show'] = async (turn) => {
    const { role, isCount } = turn;
    if (role === 'aux' && !isCount) return { generation: library.generation, lessons: [], additions: [] };
    let read: ConversationView | undefined;
    let isRead = false;
    const conversation = (): ConversationView | undefined => {
      if (!isRead) read = turn.readConversation();
      isRead = true;
      return read;
    };
    const part = role === 'side' ? `side ${conversation()?.links[0] ?? ''}` : 'main';
    return (turn.isRecorded ? shown : unrecorded).show({
      turn: turn.id,
      session: turn.session,
      thread: `${part} ${turn.model}`,
      now: clock.now(),
      query: compact({ ...turn.query, room: options.room?.(turn.answeredBy) }),
      ...(turn.remembered === undefined ? {} : { remembered: turn.remembered }),
      conversation,
      peek: isCount,
      place: options.place?.(turn.answeredBy) ?? 'system',
      // A sub-agent was told its task alone.
      ...(role === 'side' ? {} : { size: turn.size }),
    });
  };
  return {
    show,
    forget: (session) => {
      const erased = session === undefined ? undefined : { session, isErased: createIsErased(library) };
      shown.forget(erased);
      unrecorded.forget(erased);
    },
  };
}

/** Whether a text of a lesson is no longer in the library. */
function createIsErased(library: Pick<Library, 'history'>): ErasedTexts['isErased'] {
  /** By lesson: the revisions that have their text. */
  const kept = new Map<string, ReadonlySet<number>>();
  const erased = new Set<string>();
  const look = (lesson: string): ReadonlySet<number> => {
    const events = library.history(lesson);
    if (events.some(({ text }) => isErasedText(text))) erased.add(lesson);
    const found = new Set(events.flatMap(({ text, revision }) => (isErasedText(text) ? [] : [revision])));
    kept.set(lesson, found);
    return found;
  };
  return ({ lesson, revision }) => {
    const revisions = kept.get(lesson) ?? look(lesson);
    return revision === undefined ? erased.has(lesson) || revisions.size === 0 : !revisions.has(revision);
  };
}

type LessonCounter = (query: Asker, now: number) => number;

const MOST_ASKERS = 1000;

interface ScopeCount {
  readonly audience: Audience;
  readonly count: number;
}

/**
 * The number of lessons in the scope of a query that recall may choose. Cheap, since it is called for every turn: turns without lessons in scope
 * skip recall.
 */
export function createLessonCounter(library: Pick<Library, 'shown'>): LessonCounter {
  const known = createLruMap<string, number>(MOST_ASKERS);
  let counted: readonly Lesson[] | undefined;
  let counts: readonly ScopeCount[] = [];
  return (query, now) => {
    const shown = library.shown(now);
    if (shown !== counted) {
      counts = countScopes(shown);
      counted = shown;
      known.clear();
    }
    if (counts.length === 0) return 0;
    // Names have no line breaks, and patterns treat a missing value as empty.
    const asker = [placeKey(query), query.runKind, query.sharesAgents].join('\n');
    const before = known.get(asker);
    if (before !== undefined) return before;
    const own = counts.filter(({ audience }) => isInScope(widestReach(audience, query), query, undefined));
    const sum = own.reduce((all, { count }) => all + count, 0);
    known.set(asker, sum);
    return sum;
  };
}

function countScopes(lessons: readonly Lesson[]): readonly ScopeCount[] {
  const counts = new Map<string, ScopeCount>();
  for (const lesson of lessons.filter(isRecalled)) {
    // A private one is counted for all in its scope: recall looks closer.
    const { learnedIn: _, ...audience } = audienceOf(lesson, []);
    const { reach, acrossAgents, isForAllAgents } = audience;
    const key = JSON.stringify([placeKey(reach), reach.runKind, acrossAgents !== undefined, isForAllAgents]);
    counts.set(key, { audience, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts.values()];
}
