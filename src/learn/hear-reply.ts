import type { ChatEvent, ChatModel, ChatRequest, StopReason, Usage } from '../core/chat.ts';
import { createFailure, type Failure } from '../core/failure.ts';

const LONGEST = 1024 * 1024;

/** What a model said, as far as it came. */
export interface Heard {
  readonly text: string;
  /** Characters of everything it produced, thoughts included: what it is paid for. */
  readonly produced: number;
  /** Whether it began to answer at all. */
  readonly isBegun: boolean;
  readonly usage?: Usage;
  readonly stop?: StopReason;
  readonly failure?: Failure;
}

/**
 * Listens to one reply, to at most 1 MB of it. Never rejects and never outlasts its time or the signal, even where the
 * model breaks its own promises.
 */
export async function hearReply(
  model: ChatModel,
  request: ChatRequest,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<Heard> {
  const heard = { text: '', produced: 0, isBegun: false };
  if (signal.aborted) return { ...heard, failure: aborted() };
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
      if (next === undefined) return { ...heard, failure: signal.aborted ? aborted() : late(timeoutMs) };
      if (next.done === true) return { ...heard, failure: cutOff() };
      const event = next.value;
      heard.isBegun ||= event.type !== 'failure';
      if (event.type === 'failure') return { ...heard, failure: event.failure };
      if (event.type === 'reply-end') {
        const { stop, usage } = event;
        return { ...heard, stop, ...(usage === undefined ? {} : { usage }) };
      }
      if (event.type === 'text-delta') heard.text += event.text;
      if (event.type === 'text-delta' || event.type === 'reasoning-delta')
        heard.produced += event.text.length;
      if (heard.text.length > LONGEST) return heard;
    }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { ...heard, failure: createFailure('internal', message) };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', leave);
    leave();
    // Not waited for: a model that hangs would hang here too.
    events?.return?.().then(undefined, () => undefined);
  }
}

export const isTooLong = (heard: Heard): boolean => heard.text.length > LONGEST;

const aborted = (): Failure => createFailure('aborted', 'learning was stopped');
const cutOff = (): Failure => createFailure('truncated', 'the reply stopped before its end');
const late = (ms: number): Failure =>
  createFailure('timeout', `the model did not finish within ${Math.round(ms / 1000)} s`);
