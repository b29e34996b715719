import { createHash } from 'node:crypto';
import type { Fact } from '../../core/fact.ts';
import type { PromptState } from '../../core/gateway-process.ts';
import type { LessonPlace } from '../../core/lesson.ts';
import { withdrawnIn } from '../render-block.ts';

/** The text that is added to a request. A thread gets the same text in the same positions until there is a reason to change it. */
export interface ShownText {
  /** The generation of the last recall. */
  readonly generation: number;
  /** The ids of the lessons in force, with their bodies or by a line. */
  readonly lessons: readonly string[];
  /** Inserted after the client's system text. */
  readonly block?: string;
  /** Appended to the messages of these links. Requests without their history get none. */
  readonly additions: readonly AddedText[];
  /** The hash of all texts in order; absent without text. */
  readonly hash?: string;
  /** What another gateway needs to go on; absent where nobody shares the record. */
  readonly prompt?: PromptState;
}

interface AddedText {
  readonly link: string;
  readonly text: string;
}

export const hashShownText = (texts: readonly string[]): string => {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text);
  return hash.digest('hex').slice(0, 32);
};

export type RecalledFact = Fact & { readonly type: 'lessons-recalled' };

/** One recall decision: its fact, and the text that the fact refers to by hash. */
export interface RecallChoice {
  readonly fact: RecalledFact;
  readonly text: string | undefined;
  /** The earlier sessions that the text quotes; absent for a restored decision. */
  readonly sources?: readonly string[];
}

/** The revision of a lesson that a thread was shown; undefined when the fact does not contain it. */
interface ShownWords {
  readonly name: string | undefined;
  readonly revision: number | undefined;
  /** Only its line was shown. */
  readonly isLine: boolean;
  /** Nothing was shown: the weights that answered kept it. */
  readonly isRemembered: boolean;
  /** Of the message that it was last shown at; undefined: before the conversation. */
  readonly link: string | undefined;
}

/** The text that a thread was shown: a fold over its decisions, so that a restart gives the same bytes. */
export interface PromptThread {
  /** The generation of the last recall. */
  readonly generation: number;
  /** The first link of the conversation when the block was frozen. */
  readonly first: string | undefined;
  /** The user message of the last recall; undefined for a restored thread. */
  readonly asked?: string;
  /** Where its text stands; undefined while it has none. */
  readonly place?: LessonPlace | undefined;
  /** Of the last decision. */
  readonly domain?: RecalledFact['domain'];
  /** By lesson id. */
  readonly inForce: ReadonlyMap<string, ShownWords>;
  readonly text: ShownText;
}

/** A thread that begins with a block, or with a text at the user's message. */
export function freezeThread({ fact, text }: RecallChoice): PromptThread {
  const isBlock = fact.after === undefined || text === undefined;
  return withShownText(fact, {
    first: fact.first,
    inForce: wordsOf(fact),
    place: text === undefined ? undefined : isBlock ? 'system' : 'message',
    block: isBlock ? text : undefined,
    additions: isBlock ? [] : [{ link: fact.after, text }],
  });
}

/** The thread with the text that was added after the link `after`. */
export function extendThread(
  before: PromptThread,
  { fact, text }: RecallChoice,
  after: string,
): PromptThread {
  const added = wordsOf(fact);
  // A later text replaces the lessons of the same name.
  const over = new Set([...withdrawnIn(text ?? ''), ...[...added.values()].map(({ name }) => name)]);
  const others = [...before.inForce].filter(([, { name }]) => name === undefined || !over.has(name));
  const { block, additions } = before.text;
  return withShownText(fact, {
    first: before.first,
    inForce: new Map([...others, ...added]),
    place: before.place,
    block,
    additions: text === undefined ? additions : [...additions, { link: after, text }],
  });
}

/** The same thread after a recall that added nothing. */
export const withGeneration = (thread: PromptThread, generation: number): PromptThread => ({
  ...thread,
  generation,
  text: { ...thread.text, generation },
});

/** A text of a lesson that a session was shown; the revision is undefined when the record does not say it. */
export interface PromptRevision {
  readonly lesson: string;
  readonly revision: number | undefined;
}

export function revisionsIn({ lessons, considered }: RecalledFact): readonly PromptRevision[] {
  const looked = new Map(considered.map(({ id, revision }) => [id, revision]));
  return lessons.map((lesson) => ({ lesson, revision: looked.get(lesson) }));
}

function wordsOf(fact: RecalledFact): ReadonlyMap<string, ShownWords> {
  const { lessons, lines = [], remembered = [], considered, after } = fact;
  const looked = new Map(considered.map((one) => [one.id, one]));
  const listed = new Set(lines);
  const kept = new Set(remembered);
  return new Map(
    lessons.map((id) => {
      const { name, revision } = looked.get(id) ?? {};
      return [id, { name, revision, isLine: listed.has(id), isRemembered: kept.has(id), link: after }];
    }),
  );
}

interface ThreadParts extends Pick<PromptThread, 'first' | 'inForce' | 'place'> {
  readonly block: string | undefined;
  readonly additions: readonly AddedText[];
}

/** The thread after a decision. */
function withShownText({ generation, domain }: RecalledFact, parts: ThreadParts): PromptThread {
  const { first, inForce, place, block, additions } = parts;
  const texts = [...(block === undefined ? [] : [block]), ...additions.map(({ text }) => text)];
  const text: ShownText = {
    generation,
    lessons: [...inForce.keys()],
    additions,
    ...(block === undefined ? {} : { block }),
    ...(texts.length === 0 ? {} : { hash: hashShownText(texts) }),
  };
  return { generation, first, inForce, place, text, domain };
}

interface RestoredThreads {
  readonly threads: ReadonlyMap<string, PromptThread>;
  readonly heldOut: readonly string[];
  /** The lessons that were shown and are measured. */
  readonly shown: readonly string[];
  readonly revisions: readonly PromptRevision[];
  /** The decisions that these come from, oldest first. */
  readonly choices: readonly RecallChoice[];
}

/**
 * The threads of a session from the record. A request waits for them, for `patienceMs` at most: a session that cannot be
 * restored in time is treated as new.
 */
export async function restoreThreads(
  restore: () => Promise<readonly RecallChoice[]>,
  patienceMs: number,
): Promise<RestoredThreads> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly RecallChoice[]>((resolve) => {
    timer = setTimeout(resolve, patienceMs, []);
  });
  const recorded = Promise.resolve()
    .then(restore)
    .catch((): readonly RecallChoice[] => []);
  const choices = await Promise.race([recorded, late]);
  clearTimeout(timer);
  const threads = new Map<string, PromptThread>();
  for (const choice of choices) {
    const name = choice.fact.thread;
    const thread = fold(threads.get(name), choice);
    if (thread === undefined) threads.delete(name);
    else threads.set(name, thread);
  }
  return {
    threads,
    choices,
    heldOut: choices.flatMap(({ fact }) => fact.heldOut),
    revisions: choices.flatMap(({ fact }) => revisionsIn(fact)),
    shown: choices.flatMap(({ fact }) => fact.lessons.filter((id) => fact.unmeasured?.includes(id) !== true)),
  };
}

/** Undefined when a text was erased, or the block that it extends: such a thread starts again. */
function fold(before: PromptThread | undefined, choice: RecallChoice): PromptThread | undefined {
  const { block, after, lessons, inPrompt = [], remembered = [] } = choice.fact;
  const hadText = block !== undefined || lessons.length > inPrompt.length + remembered.length;
  if (hadText && choice.text === undefined) return undefined;
  if (after === undefined || isBeginning(choice)) return freezeThread(choice);
  // A request that was sent again to another gateway: both decided the same.
  const isTwice = before?.text.additions.some(({ link, text }) => link === after && text === choice.text);
  return before && (isTwice === true ? before : extendThread(before, choice, after));
}

/** Whether a thread begins with this decision. */
export const isBeginning = (choice: RecallChoice | undefined): boolean =>
  choice !== undefined && BEGINNINGS.has(choice.fact.why);

const BEGINNINGS: ReadonlySet<RecalledFact['why']> = new Set(['new', 'expired', 'compacted', 'withdrawn']);
