import type { ConversationView, ShowRequest } from './show-request.ts';
import { type RecalledFact, type Thread, withGeneration } from './thread.ts';

/** What changed in the library since a generation. */
export interface ChangedLessons {
  /** Lessons that prompts may contain now and that are new or say something else. */
  readonly ids: ReadonlySet<string>;
  /** Ids of lessons that prompts may contain no more. */
  readonly withdrawn: readonly string[];
}

/** What a request makes necessary. */
export type Need =
  /** Nothing: this thread's text is what it gets. */
  | { readonly kind: 'keep'; readonly thread: Thread }
  | { readonly kind: 'freeze'; readonly why: RecalledFact['why'] }
  /** Something may have to be said at the end of the message behind a link. */
  | {
      readonly kind: 'add';
      readonly thread: Thread;
      readonly after: string;
      /** What the library changed; a new task may be shown other lessons too. */
      readonly changed: ReadonlySet<string>;
      readonly isNewTask: boolean;
      /** Ids of lessons that the thread was shown and that hold no more. */
      readonly withdrawn: readonly string[];
    };

export interface Situation {
  readonly thread: Thread | undefined;
  /** When the thread was last asked for. */
  readonly lastAt: number;
  readonly generation: number;
  readonly idleMs: number;
  /** How many lessons its prompt may contain. */
  readonly lessons: number;
  /** Lessons that the session is not to be shown. */
  readonly heldOut: ReadonlySet<string>;
  changedSince(generation: number): ChangedLessons;
}

/**
 * A compaction is a free moment only while the conversation is short again. Later its new beginning is in the
 * provider's cache, and a new block would throw that away.
 */
const YOUNG_LINKS = 4;
/** A conversation that has been shown so many is not made longer by what a further task might need. */
const MOST_IN_FORCE = 24;

/** Reads the conversation only when a text hangs on it, the library has changed, or it has more than was shown. */
export function decide(situation: Situation, request: ShowRequest): Need {
  const { thread, generation, lastAt, idleMs, lessons } = situation;
  if (thread === undefined) return { kind: 'freeze', why: 'new' };
  if (request.now - lastAt > idleMs) return { kind: 'freeze', why: 'expired' };
  const { additions } = thread.text;
  const isCurrent = generation === thread.generation;
  const hasMore = lessons > thread.inForce.size && thread.inForce.size < MOST_IN_FORCE;
  if (isCurrent && additions.length === 0 && !hasMore) return { kind: 'keep', thread };
  const conversation = request.conversation();
  if (conversation === undefined || conversation.links.length === 0) return { kind: 'keep', thread };
  const { links } = conversation;
  const known = new Set(links);
  if (additions.some(({ link }) => !known.has(link))) return { kind: 'freeze', why: 'compacted' };
  if (isCurrent && !hasMore) return { kind: 'keep', thread };
  if (!isCurrent && links[0] !== thread.first && links.length <= YOUNG_LINKS)
    return { kind: 'freeze', why: 'compacted' };
  return whatToAdd(situation, thread, conversation, hasMore);
}

function whatToAdd(
  { generation, heldOut, changedSince }: Situation,
  thread: Thread,
  { links, newestIsUser }: ConversationView,
  hasMore: boolean,
): Need {
  const after = newestIsUser ? links.at(-1) : undefined;
  // One message takes one text: the same request once more must not grow.
  const isTaken = thread.text.additions.some(({ link }) => link === after);
  if (after === undefined || isTaken) return { kind: 'keep', thread };
  const isCurrent = generation === thread.generation;
  const news = isCurrent ? NO_CHANGES : changedSince(thread.generation);
  const changed = new Set([...news.ids].filter((id) => !heldOut.has(id)));
  const withdrawn = news.withdrawn.filter((id) => thread.inForce.has(id));
  // Of a thread that was read back it is not known whether this message went out before: it stays as it is.
  const isNewTask = hasMore && thread.asked !== undefined && thread.asked !== after;
  if (changed.size === 0 && withdrawn.length === 0 && !isNewTask)
    return { kind: 'keep', thread: { ...withGeneration(thread, generation), asked: after } };
  return { kind: 'add', thread, after, changed, isNewTask, withdrawn };
}

const NO_CHANGES: ChangedLessons = { ids: new Set(), withdrawn: [] };
