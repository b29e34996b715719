import { createHash } from 'node:crypto';
import type { ChatMessage, ChatModel, ChatRequest } from '../core/chat.ts';
import type { Clock } from '../core/clock.ts';
import type { Failure, FailureKind } from '../core/failure.ts';
import { isObject } from '../core/json.ts';
import type { Answer, Ask, Budget, Fault, Question } from '../core/learn.ts';
import { addCost, costOf, NO_COST } from './cost.ts';
import { findJson } from './find-json.ts';
import { type Heard, hearReply, isTooLong } from './hear-reply.ts';
import type { Prices } from './prices.ts';

const LONGEST_QUOTE = 24_000;
const LONGEST_FAULT = 2000;

/** Failures of the request itself or of our own code: the same request would fail again later. */
const PERMANENT: ReadonlySet<FailureKind> = new Set(['bad-request', 'too-large', 'internal']);

export interface AskParts {
  readonly model: ChatModel;
  /** The model's name in requests, in the price list and in the evidence of lessons. */
  readonly name: string;
  readonly prices: Prices;
  readonly budget: Budget;
  readonly clock: Clock;
  /** Gets one line per call: its purpose, duration and cost, and the fault of its reply. */
  readonly journal?: (note: string) => void;
  /** Limit of one call. */
  readonly timeoutMs?: number;
}

/** One question takes at most two calls: the second quotes the fault of the first reply. The result never rejects. */
export function createAsk(parts: AskParts): Ask {
  return async (question, signal) => {
    try {
      return await askTwice(parts, question, signal);
    } catch (error) {
      return { ok: false, why: `asking failed: ${messageOf(error)}`, isRetryable: false, cost: NO_COST };
    }
  };
}

async function askTwice<T>(parts: AskParts, question: Question<T>, signal: AbortSignal): Promise<Answer<T>> {
  const { model, name, prices, budget, clock, journal, timeoutMs = 120_000 } = parts;
  const system = wellFormed(question.system);
  const user = wellFormed(question.user);
  let messages: readonly ChatMessage[] = [say('user', user)];
  let cost = NO_COST;
  let fault = '';
  const fail = (why: string, isRetryable: boolean): Answer<T> => ({ ok: false, why, isRetryable, cost });
  for (let call = 1; call <= 2; call++) {
    const refusal = budget.refusal();
    if (refusal !== undefined) return fail(refusal, true);
    const request = requestOf(name, question, system, messages);
    const began = clock.monotonic();
    const reply = await hearReply(model, request, signal, timeoutMs);
    const spent = costOf(request, reply, prices(name));
    budget.spend(spent);
    cost = addCost(cost, spent);
    const read = reply.failure === undefined ? readReply(question, reply) : failedBy(reply.failure);
    const took = `${question.name}: ${name}, call ${call}, ${Math.round(clock.monotonic() - began)} ms, $${spent.usd.toFixed(4)}`;
    journal?.(isFault(read) ? `${took}: ${read.fault}` : took);
    if (reply.failure !== undefined)
      return fail(failedBy(reply.failure).fault, !PERMANENT.has(reply.failure.kind));
    if (!isFault(read)) {
      const prompt = createHash('sha256').update(`${system}\0${user}`).digest('hex');
      return { ok: true, value: read, cost, model: name, prompt };
    }
    fault = read.fault;
    messages = [...messages, say('assistant', quoteOf(reply.text)), say('user', correctionOf(fault))];
  }
  return fail(`the model's reply could not be used: ${fault}`, false);
}

const requestOf = (
  model: string,
  { maxTokens, temperature }: Question<unknown>,
  system: string,
  messages: readonly ChatMessage[],
): ChatRequest => ({
  model,
  system: [{ type: 'text', text: system }],
  messages,
  tools: [],
  maxTokens,
  ...(temperature === undefined ? {} : { temperature }),
  stream: true,
});

function readReply<T>(question: Question<T>, reply: Heard): T | Fault {
  if (isTooLong(reply)) return { fault: 'it is longer than 1 MB' };
  if (reply.stop === 'filter' && reply.text === '')
    return { fault: "the provider's content filter blocked it" };
  const found = findJson(reply.text);
  const read = 'fault' in found ? found : attempt(() => question.read(found.value));
  return isFault(read) && reply.stop === 'length'
    ? { fault: `it was cut off after ${question.maxTokens} tokens: answer shorter` }
    : read;
}

function attempt<T>(read: () => T): T | Fault {
  try {
    return read();
  } catch (error) {
    return { fault: `it could not be read: ${messageOf(error)}` };
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const isFault = (read: unknown): read is Fault => isObject(read) && typeof read.fault === 'string';

const failedBy = ({ kind, message }: Failure): Fault => ({ fault: `${kind}: ${message}` });

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
