import type { Lesson, LessonPlace } from '../../core/lesson.ts';
import type { RecallQuery, RecallResult } from '../../core/recall.ts';
import { oneLine } from '../../text/visible-text.ts';
import { placeLessons, renderDelta, renderSaid } from '../render-block.ts';
import { promptName } from '../title.ts';
import { isPersonsWord, personsWords } from '../told.ts';
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
  readonly query: Omit<RecallQuery, 'text' | 'session' | 'among' | 'place'>;
  /** Lessons that the weights which answer keep: they are in force without their words. Absent: none. */
  readonly remembered?: ReadonlySet<string>;
  /** Where lessons stand for its model; a thread that has begun keeps its place. Absent: system. */
  readonly place?: LessonPlace;
  /** Called only when the messages matter, possibly more than once; undefined when they cannot be read. */
  conversation(): ConversationView | undefined;
  /** The prompt is only counted: it gets the text that it would be sent with, and no decision is stored. */
  readonly peek?: boolean;
  /** The bytes of the client's request; absent where the conversation may not be watched for what its history loses. */
  readonly size?: number;
}

/** The messages of a request. */
export interface ConversationView {
  /** One hash per message, each over all messages up to it; empty when the history is not in the request. */
  readonly links: readonly string[];
  /** Whether the last message is a user's, so that text can be added to it. */
  readonly newestIsUser: boolean;
  /** The user's newest request. */
  readonly task: string;
  /** The link of the message with that request, where text can be added to it. */
  readonly taskLink: string | undefined;
  /** What came since the model's last message: texts of users and of tool results, and the last link. */
  readonly newest?: { readonly link: string; readonly texts: readonly string[] } | undefined;
  /** The link of the newest message that stands for others, which the client has compacted away. */
  readonly summaryLink?: string | undefined;
  /** Whether a message of the model, or of a tool, is in it. */
  readonly hasReply?: boolean;
  /** The link that the request before this one ended with. */
  readonly previousLink?: string | undefined;
  /**
   * How many answers of the model stand behind the message of a link, and how many bytes of messages; of an undefined link: in the whole
   * conversation. Undefined where it does not have the link.
   */
  answersAfter?(link: string | undefined): number | undefined;
  bytesAfter?(link: string | undefined): number | undefined;
  /** Whether a user's message contains the text. */
  says?(text: string): boolean;
  /** Whether the client's own prompt contains the text. */
  instructs?(text: string): boolean;
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
  readonly place: LessonPlace;
  /** Whether an answer of the session did not keep to it: then it is said again as such. */
  isBroken(lesson: string): boolean;
  changedSince(generation: number): ChangedLessons;
}

/**
 * A new block after a compaction costs no cache only while the compacted conversation is short. Later its beginning is in
 * the provider's cache, and a new block would invalidate it.
 */
const YOUNG_LINKS = 4;
/** A conversation with this many bodies, or lines, gets no more of them for further tasks. */
const MOST_IN_FORCE = 24;
const MOST_LINES = 32;
/** A further task of a conversation gets fewer lines than its beginning. */
const MOST_ADDED_LINES = 6;

/** Reads the conversation only when texts were added to it, the library has changed, or there are more lessons than shown. */
export function decideBlockUpdate(situation: ThreadSituation, request: ShowRequest): BlockUpdate {
  const { thread, generation, lastAt, idleMs, lessons } = situation;
  if (thread === undefined) return { kind: 'freeze', why: 'new' };
  if (request.now - lastAt > idleMs) return { kind: 'freeze', why: 'expired' };
  const { additions } = thread.text;
  const isCurrent = generation === thread.generation;
  const bodies = countBodies(thread);
  const hasMore = lessons > bodies && bodies < Math.min(MOST_IN_FORCE, request.query.most ?? MOST_IN_FORCE);
  const lapsed = lapsedIn(thread, request).filter((id) => !situation.isBroken(id));
  const isSettled = isCurrent && !hasMore && lapsed.length === 0;
  if (isSettled && additions.length === 0) return { kind: 'keep', thread };
  const conversation = request.conversation();
  if (conversation === undefined || conversation.links.length === 0) return { kind: 'keep', thread };
  const { links } = conversation;
  const known = new Set(links);
  if (additions.some(({ link }) => !known.has(link))) return { kind: 'freeze', why: 'compacted' };
  if (isSettled) return { kind: 'keep', thread };
  if (!isCurrent && links[0] !== thread.first && links.length <= YOUNG_LINKS)
    return { kind: 'freeze', why: 'compacted' };
  return whatToAdd(situation, thread, conversation, { hasMore, lapsed });
}

/** Lessons of which nothing was shown, since the weights kept them, and which the weights that answer now do not keep. */
const lapsedIn = ({ inForce }: PromptThread, { remembered }: ShowRequest): readonly string[] =>
  [...inForce].flatMap(([id, { isRemembered }]) => (isRemembered && remembered?.has(id) !== true ? id : []));

const countBodies = ({ inForce }: PromptThread): number =>
  [...inForce.values()].filter(({ isLine }) => !isLine).length;

/** How many lessons with their bodies a recall may add where their number is limited; undefined where it is not. */
export function roomForLessons(need: OpenBlockUpdate, most: number | undefined): number | undefined {
  if (most === undefined || need.kind === 'freeze') return most;
  return Math.max(0, most - countBodies(need.thread));
}

function whatToAdd(
  { generation, heldOut, place, changedSince }: ThreadSituation,
  thread: PromptThread,
  { links, newestIsUser }: ConversationView,
  { hasMore, lapsed }: { readonly hasMore: boolean; readonly lapsed: readonly string[] },
): BlockUpdate {
  const after = newestIsUser ? links.at(-1) : undefined;
  // One text per message: a repeated request must not grow.
  const isTaken = thread.text.additions.some(({ link }) => link === after);
  if (after === undefined || isTaken) return { kind: 'keep', thread };
  const isCurrent = generation === thread.generation;
  const news = isCurrent ? NO_CHANGES : changedSince(thread.generation);
  const changed = new Set([...news.ids, ...lapsed].filter((id) => !heldOut.has(id)));
  const withdrawn = news.withdrawn.filter((id) => thread.inForce.has(id));
  // Words of a user cannot be taken back by their name: the conversation gets those that still hold.
  if (place === 'message' && withdrawn.length > 0) return { kind: 'freeze', why: 'withdrawn' };
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

interface ComposeOptions {
  /** In force at the recall. */
  readonly generation: number;
  /** Lessons that are held out from the session. */
  readonly heldOut: ReadonlySet<string>;
  readonly place: LessonPlace;
}

export function composeBlockUpdate(
  need: OpenBlockUpdate,
  recalled: RecallResult,
  request: ShowRequest,
  { generation, heldOut, place }: ComposeOptions,
): ComposedUpdate {
  const { session, turn, thread, conversation, remembered } = request;
  const { domain, considered, engine } = recalled;
  const refused = [...recalled.lessons, ...recalled.index].filter(({ id }) => heldOut.has(id));
  const allowed = recalled.lessons.filter(({ id }) => !heldOut.has(id));
  const listed = recalled.index.filter(({ id }) => !heldOut.has(id));
  const withheld = [...new Set([...recalled.heldOut, ...idsOf(refused)])];
  const who = { type: 'lessons-recalled', session, turn, thread, generation } as const;
  const unmeasured = recalled.unmeasured?.filter((id) => !withheld.includes(id)) ?? [];
  const how = {
    heldOut: withheld,
    ...(unmeasured.length === 0 ? {} : { unmeasured }),
    domain,
    considered,
    engine,
  } as const;

  const standing = (lesson: Lesson): Standing => {
    if (isInPrompt(lesson, conversation())) return 'inPrompt';
    return remembered?.has(lesson.id) === true ? 'remembered' : 'new';
  };
  const isNew = (lesson: Lesson): boolean => standing(lesson) === 'new';
  if (need.kind === 'freeze') {
    const first = conversation()?.links[0];
    const { text } = placeLessons(place, allowed.filter(isNew), listed.filter(isNew));
    // Without a message that text can be added to, the words stand in the system prompt.
    const after = place === 'message' && text !== '' ? conversation()?.taskLink : undefined;
    const where = {
      why: need.why,
      ...(first === undefined ? {} : { first }),
      ...(after === undefined ? {} : { after }),
    };
    const ids = shownIds(allowed, listed, standing);
    const choice = withText({ ...who, ...where, ...ids, ...how }, text);
    const asked = conversation()?.links.at(-1);
    return { thread: { ...freezeThread(choice), ...(asked === undefined ? {} : { asked }) }, choice };
  }
  const { after } = need;
  const { inForce } = need.thread;
  const isLapsed = (id: string): boolean => inForce.get(id)?.isRemembered === true && need.changed.has(id);
  const news = allowed.filter(({ id, revision }) => {
    const before = inForce.get(id);
    return before?.revision !== revision || before.isLine || isLapsed(id);
  });
  const index = newLines(listed, need.thread, isLapsed);
  const text =
    place === 'message'
      ? renderSaid(news.filter(isNew), index.filter(isNew))
      : renderDelta({
          lessons: news.filter(isNew),
          index: index.filter(isNew),
          withdrawn: outdatedNames(need.withdrawn, [...news, ...index], need.thread),
          isFirst: need.thread.text.hash === undefined,
        });
  if (text === '') return { thread: { ...withGeneration(need.thread, generation), asked: after } };
  const isChanged = [...news, ...index].some(({ id }) => need.changed.has(id)) || need.withdrawn.length > 0;
  const why = isChanged ? 'changed' : 'task';
  const choice = withText({ ...who, why, after, ...shownIds(news, index, standing), ...how }, text);
  return { thread: { ...extendThread(need.thread, choice, after), asked: after }, choice };
}

/** The lines that a thread does not have yet: a few, and no further ones once it has many. A revised one takes its place. */
function newLines(
  listed: readonly Lesson[],
  { inForce }: PromptThread,
  isLapsed: (id: string) => boolean,
): readonly Lesson[] {
  const room = MOST_LINES - [...inForce.values()].filter(({ isLine }) => isLine).length;
  const revised = listed.filter(({ id, revision }) => {
    const before = inForce.get(id);
    return before?.isLine === true && before.revision !== revision;
  });
  const unknown = listed.filter(({ id }) => !inForce.has(id) || isLapsed(id));
  const told = unknown.filter(isPersonsWord);
  const others = unknown.filter((lesson) => !isPersonsWord(lesson));
  return [...revised, ...told, ...others.slice(0, Math.max(0, Math.min(room, MOST_ADDED_LINES)))];
}

/** Shorter words may stand in a prompt by chance. */
const FEWEST_CHARACTERS = 12;

/** Clients shorten the descriptions in their lists of skills: Hermes to 57 characters. */
const LISTED_CHARACTERS = 50;

/** Whether the client's own prompt has a lesson: its words in a memory file, or the skill in the list of those that it reads itself. */
function isInPrompt(lesson: Lesson, conversation: ConversationView | undefined): boolean {
  const { content } = lesson.text;
  const quotes = personsWords(lesson);
  const isSaid = (words: string): boolean =>
    words.length >= FEWEST_CHARACTERS && conversation?.instructs?.(words) === true;
  return (quotes.length === 0 ? [content] : quotes).every(isSaid) || isListed(lesson, isSaid, conversation);
}

/** The file of a skill that was imported, and changed here since, has the older text. */
function isListed(
  { kind, revision, text: { name, description, evidence } }: Lesson,
  isSaid: (words: string) => boolean,
  conversation: ConversationView | undefined,
): boolean {
  if (kind !== 'skill' || (evidence.learner === 'import' && revision > 1)) return false;
  return (
    isSaid(oneLine(description).slice(0, LISTED_CHARACTERS).trim()) &&
    conversation?.instructs?.(name) === true
  );
}

/** Where the words of a lesson come from: of us, of the client's own prompt, or from nowhere since the weights keep it. */
type Standing = 'new' | 'inPrompt' | 'remembered';

/** All that are shown, which of them by their line only, and which are in force without our words. */
function shownIds(
  lessons: readonly Lesson[],
  index: readonly Lesson[],
  standing: (lesson: Lesson) => Standing,
): Pick<RecallChoice['fact'], 'lessons' | 'lines' | 'inPrompt' | 'remembered'> {
  const lines = idsOf(index);
  const whichAre = (wanted: Standing): readonly string[] =>
    idsOf([...lessons, ...index].filter((lesson) => standing(lesson) === wanted));
  const inPrompt = whichAre('inPrompt');
  const remembered = whichAre('remembered');
  return {
    lessons: [...idsOf(lessons), ...lines],
    ...(lines.length === 0 ? {} : { lines }),
    ...(inPrompt.length === 0 ? {} : { inPrompt }),
    ...(remembered.length === 0 ? {} : { remembered }),
  };
}

/** Outdated names: those of withdrawn lessons, and previous names of renamed lessons. */
function outdatedNames(
  withdrawn: readonly string[],
  news: readonly Lesson[],
  thread: PromptThread,
): readonly string[] {
  const current = new Set(news.map(({ text }) => promptName(text)));
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
  const chosen = new Set([...idsOf(recalled.lessons), ...idsOf(recalled.index), ...recalled.heldOut]);
  const revised = [...changed]
    .filter((id) => thread.inForce.has(id) && !chosen.has(id))
    .flatMap((id) => lesson(id) ?? []);
  if (revised.length === 0) return recalled;
  const looked = new Map(recalled.considered.map((one) => [one.id, one]));
  const wasLine = ({ id }: Lesson): boolean => thread.inForce.get(id)?.isLine === true;
  for (const lesson of revised) {
    const { id, revision, text } = lesson;
    const { relevance = 0, activation = 0 } = looked.get(id) ?? {};
    const verdict = wasLine(lesson) ? 'listed' : 'shown';
    looked.set(id, { id, revision, name: promptName(text), relevance, activation, verdict });
  }
  return {
    ...recalled,
    lessons: [...recalled.lessons, ...revised.filter((lesson) => !wasLine(lesson))],
    index: [...recalled.index, ...revised.filter(wasLine)],
    considered: [...looked.values()],
  };
}
