import type { ChatEvent, ChatModel, ChatRequest, StopReason, Usage } from '../core/chat.ts';
import { createFailure, errorMessage, type Failure } from '../core/failure.ts';

const LONGEST = 1024 * 1024;

/** A model's reply, complete or up to the point where it failed. */
export interface CollectedReply {
  readonly text: string;
  /** Characters of all output, reasoning included: that is what is billed. */
  readonly produced: number;
  /** At least one event other than a failure arrived. */
  readonly isBegun: boolean;
  readonly usage?: Usage;
  readonly stop?: StopReason;
  readonly failure?: Failure;
}

/**
 * Reads one reply, at most 1 MB of it. Never rejects and never runs past its timeout or the signal, even when the model
 * violates its contract.
 */
export async function collectReply(
  model: ChatModel,
  request: ChatRequest,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<CollectedReply> {
  const reply = { text: '', produced: 0, isBegun: false };
  if (signal.aborted) return { ...reply, failure: aborted() };
  const leaving = new AbortController();
  const leave = (): void => leaving.abort();
  const timer = setTimeout(leave, timeoutMs);
  signal.addEventListener('abort', leave, { once: true });
  const gone = new Promise<undefined>((resolve) => {
    leaving.signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  let events: AsyncIterator<ChatEvent> | undefined;
  try {
    events = model(request, { signal: leaving.signal })[Symbol.asyncIterator]();
    for (;;) {
      const next = await Promise.race([events.next(), gone]);
      if (next === undefined) return { ...reply, failure: signal.aborted ? aborted() : late(timeoutMs) };
      if (next.done === true) return { ...reply, failure: cutOff() };
      const event = next.value;
      reply.isBegun ||= event.type !== 'failure';
      if (event.type === 'failure') return { ...reply, failure: event.failure };
      if (event.type === 'reply-end') {
        const { stop, usage } = event;
        return { ...reply, stop, ...(usage === undefined ? {} : { usage }) };
      }
      if (event.type === 'text-delta') reply.text += event.text;
      if (event.type === 'text-delta' || event.type === 'reasoning-delta')
        reply.produced += event.text.length;
      if (reply.text.length > LONGEST) return reply;
    }
  } catch (error) {
    const message = errorMessage(error);
    return { ...reply, failure: createFailure('internal', message) };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', leave);
    leave();
    // Not awaited: a model that hangs would hang here too.
    events?.return?.().then(undefined, () => undefined);
  }
}

export const isReplyTooLong = (reply: CollectedReply): boolean => reply.text.length > LONGEST;

const aborted = (): Failure => createFailure('aborted', 'learning was stopped');
const cutOff = (): Failure => createFailure('truncated', 'the reply stopped before its end');
const late = (ms: number): Failure =>
  createFailure('timeout', `the model did not finish within ${Math.round(ms / 1000)} s`);
