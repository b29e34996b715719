import type { ConversationView, ShowRequest } from './show-request.ts';
import { type RecalledFact, type Thread, withGeneration } from './thread.ts';

/** The changes of the library since a generation. */
export interface ChangedLessons {
  /** New and revised lessons that prompts may contain. */
  readonly ids: ReadonlySet<string>;
  /** Ids of lessons that prompts may no longer contain. */
  readonly withdrawn: readonly string[];
}

/** What has to be done for a request. */
export type Need =
  /** Nothing: the thread's text stays. */
  | { readonly kind: 'keep'; readonly thread: Thread }
  | { readonly kind: 'freeze'; readonly why: RecalledFact['why'] }
  /** A text may have to be appended to the message of a link. */
  | {
      readonly kind: 'add';
      readonly thread: Thread;
      readonly after: string;
      /** Lessons that changed in the library; a new task may get other lessons as well. */
      readonly changed: ReadonlySet<string>;
      readonly isNewTask: boolean;
      /** Ids of lessons that the thread was shown and that are withdrawn. */
      readonly withdrawn: readonly string[];
    };

export interface Situation {
  readonly thread: Thread | undefined;
  /** The time of the thread's last request. */
  readonly lastAt: number;
  readonly generation: number;
  readonly idleMs: number;
  /** The number of lessons that its prompt may contain. */
  readonly lessons: number;
  /** Lessons that are held out from the session. */
  readonly heldOut: ReadonlySet<string>;
  changedSince(generation: number): ChangedLessons;
}

/**
 * A new block after a compaction costs no cache only while the compacted conversation is short. Later its beginning is in
 * the provider's cache, and a new block would invalidate it.
 */
const YOUNG_LINKS = 4;
/** A conversation with this many lessons gets no more for further tasks. */
const MOST_IN_FORCE = 24;

/** Reads the conversation only when texts were added to it, the library has changed, or there are more lessons than shown. */
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
  // One text per message: a repeated request must not grow.
  const isTaken = thread.text.additions.some(({ link }) => link === after);
  if (after === undefined || isTaken) return { kind: 'keep', thread };
  const isCurrent = generation === thread.generation;
  const news = isCurrent ? NO_CHANGES : changedSince(thread.generation);
  const changed = new Set([...news.ids].filter((id) => !heldOut.has(id)));
  const withdrawn = news.withdrawn.filter((id) => thread.inForce.has(id));
  // For a restored thread it is unknown whether this message was sent before: it stays unchanged.
  const isNewTask = hasMore && thread.asked !== undefined && thread.asked !== after;
  if (changed.size === 0 && withdrawn.length === 0 && !isNewTask)
    return { kind: 'keep', thread: { ...withGeneration(thread, generation), asked: after } };
  return { kind: 'add', thread, after, changed, isNewTask, withdrawn };
}

const NO_CHANGES: ChangedLessons = { ids: new Set(), withdrawn: [] };
