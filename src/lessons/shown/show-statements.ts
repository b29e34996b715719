import { compact } from '../../core/json.ts';
import type { LessonPlace } from '../../core/lesson.ts';
import { estimateTokens } from '../../text/estimate-tokens.ts';
import { oneLine } from '../../text/visible-text.ts';
import { renderQuotes } from '../render-said.ts';
import type { ComposedUpdate, ConversationView, ShowRequest } from './block-update.ts';
import { extendThread, hashShownText, type PromptThread, type RecallChoice } from './prompt-thread.ts';

/** What the user of a session has said plainly, letter by letter, oldest first. Rejects when it cannot be read. */
export type ReadStatements = (session: string) => Promise<readonly string[]>;

/** Where a client has shortened a conversation, and what its user had said until then. */
export interface Cut {
  /** The link of the summary, or of the message that the rest begins with. */
  readonly link: string;
  /** Undefined until it is known. */
  quotes?: readonly string[];
  /** How often it was asked for. */
  asked: number;
  /** What was lost is shown again, or nothing was. */
  isDone: boolean;
}

/**
 * The link of a cut: a message of the client says that it stands for others, or a conversation with replies does not begin as it did.
 * One that begins anew, without a reply, is what the user went back to: what they had said after that is taken back.
 */
export function findCut(
  { links, summaryLink, hasReply }: ConversationView,
  beginning: string | undefined,
): string | undefined {
  if (summaryLink !== undefined) return summaryLink;
  return beginning !== undefined && links[0] !== beginning && hasReply === true ? links[0] : undefined;
}

/** Words of a person, and not a second memory: what a session states in a few sentences. */
const MOST_TOKENS = 400;

interface StatementSituation {
  readonly thread: PromptThread;
  readonly place: LessonPlace;
  readonly generation: number;
  /** The texts of lessons that are held out from the session. */
  readonly heldOut: readonly string[];
}

/**
 * Adds what the user said before the cut and what no message, shown text or held-out lesson contains, to the user's newest message. Undefined
 * when nothing is to be added, or there is no place for it yet: then the cut is not done.
 */
export function addStatements(
  cut: Cut,
  { thread, place, generation, heldOut }: StatementSituation,
  { session, turn, thread: name, query, conversation }: ShowRequest,
): ComposedUpdate | undefined {
  const view = conversation();
  if (cut.quotes === undefined || view === undefined) return undefined;
  const { block = '', additions } = thread.text;
  const texts = [block, ...additions.map(({ text }) => text), ...heldOut].map(oneLine);
  const isKnown = (quote: string): boolean =>
    texts.some((text) => text.includes(oneLine(quote))) || view.says?.(quote) === true;
  const lost = newestWithin(
    cut.quotes.filter((quote) => !isKnown(quote)),
    MOST_TOKENS,
  );
  // Never to a message that may have been sent before, and not to the result of a tool.
  const after = view.newestIsUser ? view.links.at(-1) : undefined;
  cut.isDone = lost.length === 0 || after !== undefined;
  if (lost.length === 0 || after === undefined) return undefined;
  const text = renderQuotes(lost, place);
  const choice: RecallChoice = {
    text,
    fact: {
      ...{ type: 'lessons-recalled', session, turn, thread: name, generation, why: 'shortened' },
      ...{ after, block: hashShownText([text]), lessons: [], heldOut: [], considered: [], engine: 'none' },
      domain: thread.domain ?? { name: query.domain ?? 'general', reason: 'default' },
    },
  };
  return { thread: compact({ ...extendThread(thread, choice, after), asked: thread.asked }), choice };
}

function newestWithin(quotes: readonly string[], most: number): readonly string[] {
  let room = most;
  const kept: string[] = [];
  for (const quote of quotes.toReversed()) {
    room -= estimateTokens(quote);
    if (room < 0) break;
    kept.unshift(quote);
  }
  return kept;
}
