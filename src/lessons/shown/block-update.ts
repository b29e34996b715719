import type { Lesson } from '../../core/lesson.ts';
import type { RecallQuery, RecallResult } from '../../core/recall.ts';
import { renderBlock, renderDelta } from '../render-block.ts';
import {
  extendThread,
  freezeThread,
  hashShownText,
  type PromptThread,
  type RecallChoice,
  type RecalledFact,
  withGeneration,
} from './prompt-thread.ts';

/** A request that may be shown lessons. */
export interface ShowRequest {
  readonly turn: string;
  readonly session: string;
  /** Names a part of a session with its own prompt: one per model and one per sub-agent. */
  readonly thread: string;
  readonly now: number;
  readonly query: Omit<RecallQuery, 'text' | 'session' | 'among'>;
  /** Called only when the messages matter, possibly more than once; undefined when they cannot be read. */
  conversation(): ConversationView | undefined;
  /** The prompt is only counted: it gets the text that it would be sent with, and no decision is stored. */
  readonly peek?: boolean;
}

/** The messages of a request. */
export interface ConversationView {
  /** One hash per message, each over all messages up to it; empty when the history is not in the request. */
  readonly links: readonly string[];
  /** Whether the last message is a user's, so that text can be added to it. */
  readonly newestIsUser: boolean;
  /** The user's newest request. */
  readonly task: string;
}

/** The changes of the library since a generation. */
export interface ChangedLessons {
  /** New and revised lessons that prompts may contain. */
  readonly ids: ReadonlySet<string>;
  /** Ids of lessons that prompts may no longer contain. */
  readonly withdrawn: readonly string[];
}

/** What has to be done for a request. */
type BlockUpdate =
  /** Nothing: the thread's text stays. */
  | { readonly kind: 'keep'; readonly thread: PromptThread }
  | { readonly kind: 'freeze'; readonly why: RecalledFact['why'] }
  /** A text may have to be appended to the message of a link. */
  | {
      readonly kind: 'add';
      readonly thread: PromptThread;
      readonly after: string;
      /** Lessons that changed in the library; a new task may get other lessons as well. */
      readonly changed: ReadonlySet<string>;
      readonly isNewTask: boolean;
      /** Ids of lessons that the thread was shown and that are withdrawn. */
      readonly withdrawn: readonly string[];
    };

interface ThreadSituation {
  readonly thread: PromptThread | undefined;
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
export function decideBlockUpdate(situation: ThreadSituation, request: ShowRequest): BlockUpdate {
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
  { generation, heldOut, changedSince }: ThreadSituation,
  thread: PromptThread,
  { links, newestIsUser }: ConversationView,
  hasMore: boolean,
): BlockUpdate {
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

export type OpenBlockUpdate = BlockUpdate & { readonly kind: 'freeze' | 'add' };

/** The thread after the update, and the decision to record, if there was one. */
export interface ComposedUpdate {
  readonly thread: PromptThread;
  readonly choice?: RecallChoice;
}

/** `generation` was in force at the recall; `heldOut` are the lessons that are held out from the session. */
export function composeBlockUpdate(
  need: OpenBlockUpdate,
  recalled: RecallResult,
  request: ShowRequest,
  generation: number,
  heldOut: ReadonlySet<string>,
): ComposedUpdate {
  const { session, turn, thread, conversation } = request;
  const { domain, considered, engine } = recalled;
  const refused = recalled.lessons.filter(({ id }) => heldOut.has(id));
  const allowed = recalled.lessons.filter(({ id }) => !heldOut.has(id));
  const withheld = [...new Set([...recalled.heldOut, ...idsOf(refused)])];
  const who = { type: 'lessons-recalled', session, turn, thread, generation } as const;
  const how = { heldOut: withheld, domain, considered, engine } as const;

  if (need.kind === 'freeze') {
    const first = conversation()?.links[0];
    const place = { why: need.why, ...(first === undefined ? {} : { first }) };
    const choice = withText({ ...who, ...place, lessons: idsOf(allowed), ...how }, renderBlock(allowed));
    const asked = conversation()?.links.at(-1);
    return { thread: { ...freezeThread(choice), ...(asked === undefined ? {} : { asked }) }, choice };
  }
  const { after } = need;
  const news = allowed.filter(({ id, revision }) => need.thread.inForce.get(id)?.revision !== revision);
  const text = renderDelta(news, outdatedNames(need.withdrawn, news, need.thread));
  if (text === '') return { thread: { ...withGeneration(need.thread, generation), asked: after } };
  const why = news.some(({ id }) => need.changed.has(id)) || need.withdrawn.length > 0 ? 'changed' : 'task';
  const choice = withText({ ...who, why, after, lessons: idsOf(news), ...how }, text);
  return { thread: { ...extendThread(need.thread, choice, after), asked: after }, choice };
}

/** Outdated names: those of withdrawn lessons, and previous names of renamed lessons. */
function outdatedNames(
  withdrawn: readonly string[],
  news: readonly Lesson[],
  thread: PromptThread,
): readonly string[] {
  const current = new Set(news.map(({ text }) => text.name));
  const names = [...withdrawn, ...idsOf(news)].map((id) => thread.inForce.get(id)?.name);
  return names.filter((name) => name !== undefined && !current.has(name)).map(String);
}

const withText = (fact: RecallChoice['fact'], text: string): RecallChoice =>
  text === '' ? { fact, text: undefined } : { fact: { ...fact, block: hashShownText([text]) }, text };

const idsOf = (lessons: readonly Lesson[]): readonly string[] => lessons.map(({ id }) => id);

/** Adds the lessons that the thread was shown and that were revised since, whether or not they match the newest message. */
export function withRevisedLessons(
  recalled: RecallResult,
  { changed, thread }: { readonly changed: ReadonlySet<string>; readonly thread: PromptThread },
  lesson: (id: string) => Lesson | undefined,
): RecallResult {
  const chosen = new Set([...recalled.lessons.map(({ id }) => id), ...recalled.heldOut]);
  const revised = [...changed]
    .filter((id) => thread.inForce.has(id) && !chosen.has(id))
    .flatMap((id) => lesson(id) ?? []);
  if (revised.length === 0) return recalled;
  const looked = new Map(recalled.considered.map((one) => [one.id, one]));
  for (const { id, revision, text } of revised) {
    const { relevance = 0, activation = 0 } = looked.get(id) ?? {};
    looked.set(id, { id, revision, name: text.name, relevance, activation, verdict: 'shown' });
  }
  return { ...recalled, lessons: [...recalled.lessons, ...revised], considered: [...looked.values()] };
}
