import { createHash } from 'node:crypto';
import type { Budget, ModelPrice } from '../core/budget.ts';
import type { ChatMessage, ChatModel, ChatRequest } from '../core/chat.ts';
import type { Clock } from '../core/clock.ts';
import { errorMessage, type Failure, type FailureKind } from '../core/failure.ts';
import {
  type Answer,
  type Ask,
  addCost,
  type Cost,
  NO_COST,
  type Question,
  type ReplyRead,
  type StuckCause,
} from '../core/learn.ts';
import { type CollectedReply, collectReply, isReplyTooLong } from './collect-reply.ts';
import { findJson, withoutReasoning } from './find-json.ts';
import { modelCallCost, mostOfCall, spendingOf } from './model-cost.ts';

const LONGEST_CALL_MS = 4 * 3_600_000;
const LONGEST_QUOTE = 24_000;
const LONGEST_FAULT = 2000;

/** Failures of the request itself or of our own code: the same request would fail again later. */
const PERMANENT: ReadonlySet<FailureKind> = new Set(['bad-request', 'too-large', 'internal']);

export interface AskOptions {
  readonly model: ChatModel;
  /** The model's name in requests and in the evidence of lessons. */
  readonly name: string;
  readonly price: ModelPrice;
  readonly budget: Budget;
  readonly clock: Clock;
  /** Gets one line per call: its purpose, duration and cost, and the fault of its reply. */
  readonly journal?: (note: string) => void;
  /** The last limit of one call; how long a call may take is decided by the model's pace. */
  readonly timeoutMs?: number;
}

/** One question takes at most two calls: the second quotes the fault of the first reply. The result never rejects. */
export function createAsk(parts: AskOptions): Ask {
  return async (question, signal) => {
    try {
      return await askTwice(parts, question, signal);
    } catch (error) {
      return { ok: false, why: `asking failed: ${errorMessage(error)}`, isRetryable: false, cost: NO_COST };
    }
  };
}

async function askTwice<T>(
  parts: AskOptions,
  question: Question<T>,
  signal: AbortSignal,
): Promise<Answer<T>> {
  const { model, name, price, budget, clock, journal, timeoutMs = LONGEST_CALL_MS } = parts;
  const system = wellFormed(question.system);
  const user = wellFormed(question.user);
  let messages: readonly ChatMessage[] = [say('user', user)];
  let cost = NO_COST;
  let fault = '';
  const fail = (why: string, isRetryable: boolean, cause: StuckCause): Answer<T> => ({
    ok: false,
    why,
    isRetryable,
    cost,
    cause,
    model: name,
  });
  for (let call = 1; call <= 2; call++) {
    const request = requestOf(name, question, system, messages);
    const work = { kind: 'call', model: name, purpose: question.name };
    const reserved = await budget.reserve(mostOfCall(request, price), work);
    if (!reserved.isGranted) return fail(reserved.why, true, 'budget');
    const began = clock.monotonic();
    const reply = await collectReply(model, request, signal, timeoutMs);
    const spent = modelCallCost(request, reply, price);
    await reserved.settle(spendingOf(spent));
    cost = addCost(cost, spent);
    const read = reply.failure === undefined ? readReply(question, reply) : failedBy(reply.failure);
    const took = `${question.name}: ${name}, call ${call}, ${Math.round(clock.monotonic() - began)} ms, ${describeSpent(spent)}`;
    journal?.(read.ok ? took : `${took}: ${read.why}`);
    if (reply.failure !== undefined)
      return fail(failedBy(reply.failure).why, !PERMANENT.has(reply.failure.kind), 'model');
    if (read.ok) {
      const prompt = createHash('sha256').update(`${system}\0${user}`).digest('hex');
      return { ok: true, value: read.value, cost, model: name, prompt };
    }
    fault = read.why;
    messages = [...messages, say('assistant', quoteOf(reply.text)), say('user', correctionOf(fault))];
  }
  return fail(`the model's reply could not be used: ${fault}`, false, 'reply');
}

const describeSpent = ({ inputTokens, outputTokens, usd, unpricedTokens = 0 }: Cost): string => {
  const tokens = `${inputTokens + outputTokens} tokens`;
  return unpricedTokens > 0 ? `${tokens}, price unknown` : `${tokens}, $${usd.toFixed(4)}`;
};

const requestOf = (
  model: string,
  { name, maxTokens, temperature, schema }: Question<unknown>,
  system: string,
  messages: readonly ChatMessage[],
): ChatRequest => ({
  model,
  system: [{ type: 'text', text: system }],
  messages,
  tools: [],
  maxTokens,
  ...(temperature === undefined ? {} : { temperature }),
  ...(schema === undefined ? {} : { format: { type: 'json-schema', name, schema } }),
  stream: true,
});

function readReply<T>(question: Question<T>, reply: CollectedReply): ReplyRead<T> {
  if (isReplyTooLong(reply)) return { ok: false, why: 'it is longer than 1 MB' };
  if (reply.stop === 'filter' && reply.text === '')
    return { ok: false, why: "the provider's content filter blocked it" };
  const found = findJson(reply.text);
  const read = found.ok ? attempt(() => question.read(found.value)) : found;
  const fromWords = read.ok ? undefined : readWords(question, reply.text);
  return fromWords?.ok === true ? fromWords : cutOff(read, question, reply);
}

/** A reply that answers in another form than JSON, where the question knows one. */
function readWords<T>({ readText }: Question<T>, reply: string): ReplyRead<T> | undefined {
  const words = readText === undefined ? undefined : withoutReasoning(reply);
  return readText === undefined || words === undefined ? undefined : attempt(() => readText(words));
}

const cutOff = <T>(read: ReplyRead<T>, { maxTokens }: Question<T>, { stop }: CollectedReply): ReplyRead<T> =>
  !read.ok && stop === 'length'
    ? { ok: false, why: `it was cut off after ${maxTokens} tokens: answer shorter` }
    : read;

function attempt<T>(read: () => ReplyRead<T>): ReplyRead<T> {
  try {
    return read();
  } catch (error) {
    return { ok: false, why: `it could not be read: ${errorMessage(error)}` };
  }
}

const failedBy = ({ kind, message }: Failure) => ({ ok: false as const, why: `${kind}: ${message}` });

const say = (role: 'user' | 'assistant', text: string): ChatMessage => ({
  role,
  content: [{ type: 'text', text }],
});

/** Of a long reply, the model is shown the beginning: its shape is visible there. */
function quoteOf(text: string): string {
  const quote = wellFormed(text.slice(0, LONGEST_QUOTE));
  return quote.trim() === '' ? '(nothing)' : quote;
}

const correctionOf = (fault: string): string =>
  `That reply cannot be used: ${wellFormed(fault.slice(0, LONGEST_FAULT))}\n\nAnswer once more with this put right. Reply with the JSON alone.`;

/** A lone surrogate has no UTF-8 form, and some providers reject a request that contains one. */
const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\ufffd');
