import { compact } from '../../core/json.ts';
import type { Lesson, LessonPlace } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { Recollect, Recollection } from '../../core/recollection.ts';
import { collapseSpaces } from '../../text/contains-phrase.ts';
import { estimateTokens } from '../../text/estimate-tokens.ts';
import { looksBack } from '../../text/looks-back.ts';
import { separateTypedText } from '../../text/typed-text.ts';
import { renderPast } from '../render-block.ts';
import type { ComposedUpdate, ConversationView, ShowRequest } from './block-update.ts';
import { extendThread, hashShownText, type PromptThread, type RecallChoice } from './prompt-thread.ts';

/** A message that asks something, and what its author said about it in earlier sessions. */
export interface PastQuestion {
  /** Of the message. */
  readonly link: string;
  readonly text: string;
  /** Undefined while it is searched. What comes too late is not used: the message may have been sent. */
  past?: readonly Recollection[];
}

/** People ask in few words; what is longer was pasted or is a task. */
const LONGEST_QUESTION = 1000;

/** What the newest message asks; undefined for a task, a tool's result, and where nothing can be added to the message. */
export function readPastQuestion(view: ConversationView | undefined): PastQuestion | undefined {
  const link = view?.newestIsUser === true ? view.links.at(-1) : undefined;
  if (view === undefined || link === undefined) return undefined;
  const text = separateTypedText(view.task).typed.trim();
  return text.length <= LONGEST_QUESTION && looksBack(text) ? { link, text } : undefined;
}

/** A search that fails finds nothing: the prompt is served without it. */
export const askPast = (
  recollect: Recollect,
  { text }: PastQuestion,
  { session, query: { agent, project, member } }: ShowRequest,
): Promise<readonly Recollection[]> =>
  recollect(compact({ text, session, agent, project, member })).catch(() => []);

interface PastSituation {
  readonly thread: PromptThread;
  readonly place: LessonPlace;
  readonly generation: number;
}

const MOST_QUOTES = 6;
/** Of the room for lessons; without a limit, that of the usual 1,500 tokens. */
const QUOTED_SHARE = 0.6;
const USUAL_ROOM = 1500;

/** Whether a prompt says all of it already. */
type IsShown = (quote: Recollection) => boolean;

/**
 * The selection goes on where that of the lessons ended: of what was found, best first, the passages that say more than the prompt has
 * already, and have room. Oldest first: where two differ, the later one holds.
 */
export function chooseQuotes(
  found: readonly Recollection[],
  isShown: IsShown,
  most = USUAL_ROOM,
): readonly Recollection[] {
  const chosen: Recollection[] = [];
  let room = most * QUOTED_SHARE;
  for (const one of found) {
    if (chosen.length === MOST_QUOTES) break;
    const tokens = estimateTokens(one.text);
    if (tokens > room || isShown(one)) continue;
    room -= tokens;
    chosen.push(one);
  }
  return chosen.toSorted((one, other) => one.at - other.at);
}

/**
 * Whether the bodies of a prompt's lessons have the words, sentence by sentence, as notes that quote them. They do not say what "yesterday" was;
 * and a line among many is not as near as a quotation behind the message.
 */
export function isInLessons(lessons: string): IsShown {
  const shown = collapseSpaces(lessons.replace(/^- .*$/gm, ''));
  return ({ text, times }) =>
    times.length === 0 &&
    text.split(SENTENCE_END).every((sentence) => shown.includes(collapseSpaces(sentence)));
}

/** Adds what was said in earlier sessions to the message that asks for it. Undefined when there is nothing to add. */
export function addPast(
  { link, past = [] }: PastQuestion,
  { thread, place, generation }: PastSituation,
  { session, turn, thread: name, query, conversation }: ShowRequest,
): ComposedUpdate | undefined {
  const { block = '', additions } = thread.text;
  // What was added here before stays, though the message is sent again.
  const others = additions.filter((one) => one.link !== link).map((one) => one.text);
  const isInPrompt = isInLessons([block, ...others].join('\n'));
  const quotes = chooseQuotes(
    past,
    (quote) => conversation()?.says?.(quote.text) === true || isInPrompt(quote),
    query.room,
  );
  if (quotes.length === 0) return undefined;
  const text = renderPast(quotes, place);
  // Sent again, the message stays as it was.
  if (thread.text.additions.some((one) => one.link === link && one.text === text)) return undefined;
  const choice: RecallChoice = {
    text,
    sources: [...new Set(quotes.map((one) => one.session))],
    fact: {
      type: 'lessons-recalled',
      session,
      turn,
      thread: name,
      generation,
      why: 'past',
      after: link,
      block: hashShownText([text]),
      lessons: [],
      quoted: quotes.map((one) => one.turn),
      relevance: quotes.map((one) => one.relevance),
      heldOut: [],
      considered: [],
      engine: 'words',
      domain: thread.domain ?? { name: query.domain ?? 'general', reason: 'default' },
    },
  };
  return { thread: compact({ ...extendThread(thread, choice, link), asked: thread.asked }), choice };
}

const OVER: ReadonlySet<Lesson['state']> = new Set(['retired', 'rejected']);
const SENTENCE_END = /(?<=[.!?…][\p{Pe}\p{Pf}"']{0,2})\s+|(?<=[。！？])\s*/u;
const GAP = '…';

/**
 * What the asker said, without the sentences that do not hold any more: a lesson that quoted them was replaced by a newer word, or taken
 * back. A quotation of which nothing else is left is left out.
 */
export const withoutWhatEnded =
  (recollect: Recollect, library: Pick<Library, 'lessons'>): Recollect =>
  async (query) => {
    const quotes = await recollect(query);
    if (quotes.length === 0) return quotes;
    const lessons = library.lessons();
    // The same sentence may have been said again since, and hold.
    const isGone = (sentence: string): boolean => {
      const quoting = lessons.filter(({ text }) => says(text, sentence));
      return quoting.length > 0 && quoting.every(({ state }) => OVER.has(state));
    };
    return quotes.flatMap((quote) => cut(quote, isGone));
  };

const says = ({ description, content }: Lesson['text'], sentence: string): boolean =>
  description.includes(sentence) || content.includes(sentence);

function cut(quote: Recollection, isGone: (sentence: string) => boolean): readonly Recollection[] {
  const sentences = quote.text.split(SENTENCE_END);
  const left = sentences.map((sentence) => (sentence !== GAP && isGone(sentence) ? GAP : sentence));
  if (left.every((sentence, nth) => sentence === sentences[nth])) return [quote];
  const text = left.filter((sentence, nth) => sentence !== GAP || left[nth - 1] !== GAP).join(' ');
  return /\p{L}/u.test(text) ? [{ ...quote, text }] : [];
}
