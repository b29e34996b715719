import { within } from '../base/within.ts';
import type { ChatEvent, ChatModel, ChatRequest } from '../core/chat.ts';
import type { Clock } from '../core/clock.ts';
import { createFailure } from '../core/failure.ts';
import { duration } from '../text/phrases.ts';

/** How long one call may take, in milliseconds. */
export interface CallLimits {
  /** Until the first word: loading the model and reading the prompt. */
  readonly firstMs: number;
  /** Between two pieces of the reply. */
  readonly gapMs: number;
  readonly totalMs: number;
}

/** A call that ended well. */
interface MeasuredCall {
  readonly promptCharacters: number;
  readonly firstMs: number;
  readonly replyTokens: number;
  /** From the first word to the last. */
  readonly replyMs: number;
}

/** How fast a model was so far. */
export interface ModelPace {
  limits(promptCharacters: number, maxTokens: number): CallLimits;
  add(call: MeasuredCall): void;
  /** A call was given up: the next one gets more time. */
  late(): void;
}

const MINUTE_MS = 60_000;
/** Nothing is known of the model: it may have to be loaded first, on a slow machine. */
const UNKNOWN: CallLimits = { firstMs: 15 * MINUTE_MS, gapMs: 5 * MINUTE_MS, totalMs: 60 * MINUTE_MS };
const LEAST: CallLimits = { firstMs: 2 * MINUTE_MS, gapMs: MINUTE_MS, totalMs: 2 * MINUTE_MS };
const MOST_MS = 120 * MINUTE_MS;
/** A call may take this many times as long as the slowest recent call of the same length. */
const ROOM = 4;
const MOST_ROOM = 8 * ROOM;
const REMEMBERED = 8;

/** The limits follow the slowest of the last calls, and grow after each call that was given up. */
export function createModelPace(): ModelPace {
  const calls: MeasuredCall[] = [];
  let room = ROOM;
  const slowest = (of: (call: MeasuredCall) => number): number => Math.max(...calls.map(of));
  const limit = (expectedMs: number, leastMs: number): number =>
    Math.min(MOST_MS, Math.max(leastMs * (room / ROOM), expectedMs * room));
  return {
    limits: (promptCharacters, maxTokens) => {
      if (calls.length === 0) return UNKNOWN;
      const perToken = slowest(({ replyMs, replyTokens }) => replyMs / Math.max(1, replyTokens));
      const first = slowest(({ firstMs, promptCharacters: length }) =>
        // A short prompt says little about a long one: what does not depend on its length counts for both.
        Math.max(firstMs, (firstMs * promptCharacters) / Math.max(1, length)),
      );
      const firstMs = limit(first, LEAST.firstMs);
      return {
        firstMs,
        gapMs: limit(perToken, LEAST.gapMs),
        totalMs: firstMs + limit(perToken * maxTokens, LEAST.totalMs),
      };
    },
    add: (call) => {
      room = ROOM;
      calls.push(call);
      if (calls.length > REMEMBERED) calls.shift();
    },
    late: () => {
      room = Math.min(MOST_ROOM, 2 * room);
    },
  };
}

/** The same model; a call that hangs, or is much slower than those before it, ends with the failure `timeout`. */
export function withPace(model: ChatModel, pace: ModelPace, clock: Clock): ChatModel {
  return async function* (request, options) {
    const promptCharacters = charactersOf(request);
    const limits = pace.limits(promptCharacters, request.maxTokens ?? 4096);
    const leaving = new AbortController();
    const signal = AbortSignal.any([options.signal, leaving.signal]);
    const began = clock.monotonic();
    let first: number | undefined;
    let characters = 0;
    const events = model(request, { ...options, signal })[Symbol.asyncIterator]();
    try {
      for (;;) {
        const left = began + limits.totalMs - clock.monotonic();
        const most = Math.max(0, Math.min(first === undefined ? limits.firstMs : limits.gapMs, left));
        const next = await within(events.next(), most);
        if (next === undefined) {
          pace.late();
          yield { type: 'failure', failure: createFailure('timeout', tooSlow(most, left, limits)) };
          return;
        }
        if (next.done === true) return;
        const event = next.value;
        const length = lengthOf(event);
        if (length > 0) first ??= clock.monotonic();
        characters += length;
        if (event.type === 'reply-end') {
          const now = clock.monotonic();
          pace.add({
            promptCharacters,
            firstMs: (first ?? now) - began,
            replyTokens: event.usage?.outputTokens ?? Math.ceil(characters / 4),
            replyMs: now - (first ?? now),
          });
        }
        yield event;
      }
    } finally {
      leaving.abort();
      // Not awaited: a model that hangs would hang here too.
      events.return?.().then(undefined, () => undefined);
    }
  };
}

const tooSlow = (waitedMs: number, leftMs: number, { totalMs }: CallLimits): string =>
  waitedMs >= leftMs
    ? `the model did not finish within ${duration(totalMs)}`
    : `the model gave nothing for ${duration(waitedMs)}`;

export function lengthOf(event: ChatEvent): number {
  if (event.type === 'text-delta' || event.type === 'reasoning-delta') return event.text.length;
  return event.type === 'tool-delta' ? event.json.length : 0;
}

const charactersOf = ({ system, messages }: ChatRequest): number =>
  system.reduce((sum, { text }) => sum + text.length, 0) +
  messages.reduce((sum, { content }) => sum + JSON.stringify(content).length, 0);
