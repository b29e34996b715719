import type { Log } from '../base/log.ts';
import type { Clock } from '../core/clock.ts';
import { isObject, type Json } from '../core/json.ts';
import { type Ask, addCost, type Cost, NO_COST, type Question, type ReplyRead } from '../core/learn.ts';
import type { Library } from '../core/library.ts';
import { isAttemptId } from '../core/principal.ts';
import type { LabelledSpan, SpanKind } from '../core/reading.ts';
import type { NewFact } from '../core/store.ts';
import type { AppraisedTurn, EvidenceReader } from '../evidence/evidence-reader.ts';
import { fenceData } from '../evidence/judge/fence-data.ts';
import { textOfReply } from '../evidence/turn-reading.ts';
import { findOwnWords, type OwnSentence, readOwnSentences } from '../reader/own-sentences.ts';
import { readSentences } from '../reader/read-message.ts';
import { isLargeModel } from '../text/model-size.ts';
import { plural } from '../text/phrases.ts';
import type { AskedModel, WriterAccess } from './asked-models.ts';
import { type CycleEnd, cycleIdOf, decidedLearner } from './cycle.ts';
import type { LearningState, QueuedItem } from './learning-state.ts';
import { nextMidnight } from './pauses.ts';
import type { ReadingQueue } from './queued-items.ts';
import { fieldOf } from './reply-fields.ts';
import type { LearnerRow, LearningPieces } from './runner.ts';

const WORDS = 'words';
/** One question holds this much. A message is short; what a model forgets in the middle of more is lost. */
const MOST_MESSAGES = 20;
const MOST_CHARACTERS = 16_000;
/** Enough to see what "that" and "the second one" mean. */
const ANSWER_CHARACTERS = 300;
/** Models that reason need room before they answer. */
const MOST_TOKENS = 4000;
/** Sessions of one round: other learners that ask do not stand behind all of them. */
const MOST_SESSIONS = 4;
/** From here on the learned reader holds a sentence for what may change later work. Lower than what it acts on: a model decides. */
const MAY_TEACH = 0.2;
const TEACHING = ['correction', 'rule', 'preference', 'revocation'] as const;

interface ReadWordsOptions {
  readonly evidence: Pick<EvidenceReader, 'turns' | 'affectedTurns'>;
  readonly writer: Pick<WriterAccess, 'model' | 'askAbout'>;
  readonly library: Pick<Library, 'generation'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

interface WordReading {
  readonly queue: ReadingQueue;
  readonly row: LearnerRow;
}

/** A model reads what people typed, a session at a time, where learning has a model that is large enough. */
export function createWordReading(options: ReadWordsOptions): WordReading {
  const { evidence, writer, clock } = options;
  const hasReader = createReaderRule(writer, options.log);
  const dueItems = (state: LearningState, now: number): readonly QueuedItem[] =>
    [...state.queue.values()].filter(
      ({ item, learner }) => learner === WORDS && state.queuePauses.isOver(item, now),
    );
  return {
    queue: {
      ended: async (session, turns, now) => {
        const last = isAttemptId(session) ? undefined : unreadMessages(turns).at(-1);
        return last === undefined || !(await hasReader())
          ? []
          : [readingItem(session, last.turn, ':end', now)];
      },
      changed: async (session, changed, now) => {
        if (isAttemptId(session) || !(await hasReader())) return [];
        const turn = turnAfterDoubt(await evidence.affectedTurns(session, changed));
        return turn === undefined ? [] : [readingItem(session, turn, '', now)];
      },
    },
    row: {
      name: WORDS,
      due: (state, now) => dueItems(state, now).length > 0,
      learn: decidedLearner(WORDS),
      material: async function* (state) {
        const due = dueItems(state, clock.now());
        const sessions = [...new Set(due.map(({ session }) => session))].slice(0, MOST_SESSIONS);
        for (const session of sessions) {
          const items = due.filter((one) => one.session === session).map(({ item }) => item);
          const ask = (await hasReader()) ? await writer.askAbout(session) : undefined;
          yield* readSession({ session, items, ask, state }, options);
        }
      },
      fault: 'the messages of a session could not be read by a model',
    },
  };
}

/** Whether a model is about to read a session. One that was asked and gave no answer is not waited for. */
export const isReadingDue = (session: string, { queue, queuePauses }: LearningState): boolean =>
  [...queue.values()].some(
    (one) => one.learner === WORDS && one.session === session && queuePauses.get(one.item) === undefined,
  );

function readingItem(session: string, turn: string, why: ':end' | '', at: number): NewFact {
  const item = `${WORDS}:${session}:${turn}${why}`;
  return { at, fact: { type: 'learning-queued', item, learner: WORDS, session, turns: [turn] }, key: item };
}

/** Whether the model that learning asks may read: a small one reads worse than the learned reader. The log says so once for a model. */
function createReaderRule(writer: Pick<WriterAccess, 'model'>, log: Log): () => Promise<boolean> {
  let refused: string | undefined;
  const isReader = ({ model, isNear }: AskedModel): boolean => isLargeModel(model, isNear === true);
  return async () => {
    const asked = await writer.model();
    if (asked === undefined || isReader(asked)) return asked !== undefined;
    if (refused !== asked.model)
      log.info(
        { learner: WORDS, model: asked.model },
        'this model does not read messages: it has at most 4 billion parameters, or runs here under a name without its size',
      );
    refused = asked.model;
    return false;
  };
}

interface SessionReading {
  readonly session: string;
  /** What is done when the session was read. */
  readonly items: readonly string[];
  readonly ask: Ask | undefined;
  readonly state: LearningState;
}

/**
 * Asks about the unread messages of a session. What was read is written before the end: a process that dies in between finds nothing
 * unread and asks nothing. Without an answer the items wait.
 */
async function* readSession(
  { session, items, ask, state }: SessionReading,
  { evidence, library, clock, signal }: ReadWordsOptions,
): LearningPieces {
  const began = clock.monotonic();
  const messages = ask === undefined ? [] : unreadMessages(await evidence.turns(session));
  let total = { messages: 0, spans: 0, lost: 0, cost: NO_COST };
  let fault: string | undefined;
  for (const part of questionParts(messages)) {
    const answer = await ask?.(wordsQuestion(part), AbortSignal.any([signal, state.running.signal]));
    if (answer === undefined) break;
    const cost = addCost(total.cost, answer.cost);
    if (!answer.ok) {
      const { why, cause = 'model', isRetryable } = answer;
      if (isRetryable) {
        const now = clock.now();
        for (const item of items) state.queuePauses.postpone(item, now, { cause, why }, nextMidnight(now));
        return;
      }
      fault = why;
      total = { ...total, cost };
      continue;
    }
    const { readings, lost } = locateSpans(part, answer.value);
    const spans = readings.reduce((sum, reading) => sum + reading.spans.length, total.spans);
    total = { messages: total.messages + part.length, spans, lost: total.lost + lost, cost };
    const { model } = answer;
    yield {
      journal: readings.map((reading) => ({
        at: clock.now(),
        fact: { type: 'message-read', session, model, ...reading },
        key: `message-read:${reading.turn}`,
      })),
    };
  }
  const end: CycleEnd = {
    type: 'cycle-end',
    cycle: cycleIdOf([WORDS, items]),
    learner: WORDS,
    outcome: 'nothing',
    items,
    turns: [],
    sessions: [session],
    judgements: [],
    generation: library.generation,
    cost: total.cost,
    tookMs: Math.round(clock.monotonic() - began),
    note: [describeReading(total), ...(fault === undefined ? [] : [fault])].join('; '),
  };
  yield { journal: [{ at: clock.now(), fact: end }] };
}

interface ReadingTotal {
  readonly messages: number;
  readonly spans: number;
  /** Quotes that the person did not type. */
  readonly lost: number;
  readonly cost: Cost;
}

function describeReading({ messages, spans, lost, cost }: ReadingTotal): string {
  const tokens = cost.inputTokens + cost.outputTokens;
  const missing = lost === 0 ? '' : `, ${plural(lost, 'quote')} not found in them`;
  return `${plural(messages, 'message')} read, ${plural(spans, 'passage')} named${missing}, ${plural(tokens, 'token')}`;
}

/** A message of a person, with what is shown of it. */
interface UnreadMessage {
  /** The first turn that answers it. */
  readonly turn: string;
  /** The end of the answer before it. */
  readonly answer: string;
  readonly sentences: readonly OwnSentence[];
}

/** The messages of a session that hold own words and that no model has read. What repeats itself is a schedule's. */
function unreadMessages(turns: readonly AppraisedTurn[]): readonly UnreadMessage[] {
  return turns.flatMap(({ evidence }, nth) => {
    const before = turns[nth - 1]?.evidence;
    const { turn, task, spans, isReported, askedBefore } = evidence;
    // An agent works for many turns on one message.
    const isSame = before !== undefined && before.task === task && before.next?.user === undefined;
    if (isSame || spans !== undefined || isReported === true || askedBefore !== undefined) return [];
    const sentences = readOwnSentences(task);
    const answer = before === undefined ? '' : textOfReply(before.reply).slice(-ANSWER_CHARACTERS);
    return sentences.length === 0 ? [] : [{ turn, answer, sentences }];
  });
}

/** The turn of an unread message after an answer that failed, or that the message may correct. */
const turnAfterDoubt = (turns: readonly AppraisedTurn[]): string | undefined =>
  turns.findLast((_, nth) => {
    const before = turns[nth - 1];
    return before !== undefined && isDoubted(before);
  })?.evidence.turn;

function isDoubted({ evidence, appraisal }: AppraisedTurn): boolean {
  const { user: message = '', spans } = evidence.next ?? {};
  if (spans !== undefined || evidence.isReported === true || readOwnSentences(message).length === 0)
    return false;
  if (appraisal.verdict === 'failure') return true;
  const sentences = readSentences({ message, answer: textOfReply(evidence.reply) });
  return sentences.some(({ scores }) => TEACHING.some((kind) => scores[kind] >= MAY_TEACH));
}

/** In the order of the session, so many in one question as fit. */
function questionParts(messages: readonly UnreadMessage[]): readonly (readonly UnreadMessage[])[] {
  const parts: UnreadMessage[][] = [];
  let characters = 0;
  for (const message of messages) {
    const length = message.answer.length + textOf(message).length;
    const last = parts.at(-1);
    const isFull =
      last === undefined || last.length >= MOST_MESSAGES || characters + length > MOST_CHARACTERS;
    if (isFull) parts.push([message]);
    else last.push(message);
    characters = isFull ? length : characters + length;
  }
  return parts;
}

/** What the person typed, without what they pasted and what their client inserted. */
const textOf = ({ sentences }: UnreadMessage): string =>
  sentences
    .map(({ text, block }, nth) =>
      nth === 0 ? text : `${sentences[nth - 1]?.block === block ? ' ' : '\n\n'}${text}`,
    )
    .join('');

/** As `core/reading` has them, for a model. */
const KINDS: Readonly<Record<SpanKind, string>> = {
  correction: 'the last answer is wrong, incomplete, unwanted or not what was asked',
  rule: 'how work is done beyond the request at hand ("we use pnpm here", "never touch dist/")',
  preference: 'what the person likes, or how they want to be answered',
  fact: 'something about the person or their world that stays true',
  revocation: 'takes something back that was said before',
  thanks: 'the person is content with the answer',
  again: 'asks for the same once more',
  outage: 'a service, a network or a tool does not work, which is nobody’s mistake in the answer',
  task: 'a request, a question or an answer to one; name it only in a message that holds another kind',
};

/** What a model says of a message; the number is the one in the question. */
interface NamedQuote extends LabelledSpan {
  readonly message: number;
}

/** One question about the messages of a session. */
function wordsQuestion(messages: readonly UnreadMessage[]): Question<readonly NamedQuote[]> {
  const { text, rule } = fenceData(
    messages.flatMap((message, nth) => [
      { label: `the end of the answer before message ${nth + 1}`, text: message.answer },
      { label: `message ${nth + 1}`, text: textOf(message) },
    ]),
  );
  const kinds = Object.entries(KINDS).map(([kind, meaning]) => `- ${kind}: ${meaning}`);
  const system = [
    'A person works with an assistant. You read the messages that the person wrote in one session, and name the passages that an assistant should remember or learn from. The kinds of passages:',
    kinds.join('\n'),
    'Most messages hold nothing but a task: leave them out. What is asked for one piece of work alone is a task, also with "always" or "never" in it. Text that the person pasted, and rules of others that they quote, report or ask about, are not theirs: leave them out. A sentence of two kinds is listed twice.',
    'A quote is the whole sentence, copied letter by letter from the message, in its language. Quote nothing from an answer: answers only show what a message speaks of.',
    rule,
    'Answer with one JSON object and nothing else: {"spans": [{"message": the number, "quote": "…", "kind": "rule"}]}, or {"spans": []} when there is nothing.',
  ].join('\n\n');
  return { name: 'read-words', system, user: text, maxTokens: MOST_TOKENS, schema: SCHEMA, read: readReply };
}

const SCHEMA = {
  type: 'object',
  properties: {
    spans: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          message: { type: 'integer' },
          quote: { type: 'string' },
          kind: { type: 'string', enum: Object.keys(KINDS) },
        },
        required: ['message', 'quote', 'kind'],
      },
    },
  },
  required: ['spans'],
};

function readReply(value: Json): ReplyRead<readonly NamedQuote[]> {
  const list = isObject(value) ? fieldOf(value, ['spans', 'passages', 'quotes']) : value;
  if (!Array.isArray(list)) return { ok: false, why: 'it has no list "spans"' };
  const quotes: NamedQuote[] = [];
  for (const entry of list) {
    const { message, quote, kind } = isObject(entry) ? entry : {};
    if (typeof quote !== 'string' || typeof kind !== 'string')
      return { ok: false, why: 'an entry of "spans" has no "quote" or no "kind"' };
    if (isSpanKind(kind)) quotes.push({ message: Number(message), quote, kind });
  }
  return { ok: true, value: quotes };
}

const isSpanKind = (kind: string): kind is SpanKind => Object.hasOwn(KINDS, kind);

/** The spans of each message in the person's own letters. `lost`: quotes that are not in their message. */
function locateSpans(
  messages: readonly UnreadMessage[],
  quotes: readonly NamedQuote[],
): {
  readonly readings: readonly { readonly turn: string; readonly spans: readonly LabelledSpan[] }[];
  readonly lost: number;
} {
  let lost = quotes.filter(({ message }) => messages[message - 1] === undefined).length;
  const readings = messages.map(({ turn, sentences }, nth) => {
    const spans = new Map<string, LabelledSpan>();
    for (const { quote, kind } of quotes.filter(({ message }) => message === nth + 1)) {
      const parts = findOwnWords(quote, sentences);
      if (parts.length === 0) lost++;
      for (const part of parts) spans.set(JSON.stringify([part, kind]), { quote: part, kind });
    }
    return { turn, spans: [...spans.values()] };
  });
  return { readings, lost };
}
