import { sleep } from '../../base/sleep.ts';
import type { AttemptModel } from '../../core/attempt-model.ts';
import type { Clock } from '../../core/clock.ts';
import { createFailure, errorMessage } from '../../core/failure.ts';
import type { GatewayClient, GatewayReply } from '../../core/gateway-client.ts';

/** A model whose calls are counted and awaited. */
export interface WatchedModel {
  readonly model: AttemptModel;
  readonly speak: GatewayClient;
  calls(): number;
  /** How long the call that is under way has lasted; 0 when none is. */
  waitingMs(): number;
  /**
   * When no call is under way: an agent that was told to stop does not wait for its last one. A model that does not stop
   * either is waited for a moment only.
   */
  settled(): Promise<void>;
}

const SETTLE_MS = 5000;

/** The same model; a call that rejects has failed. */
export function watchModel(model: AttemptModel, clock: Clock, settleMs = SETTLE_MS): WatchedModel {
  const open = new Map<Promise<GatewayReply>, number>();
  let calls = 0;
  const ask: GatewayClient = async (request, speaker, signal) => {
    try {
      return await model.speak(request, speaker, signal);
    } catch (error) {
      return { text: '', calls: [], lessons: [], failure: createFailure('internal', errorMessage(error)) };
    }
  };
  return {
    model,
    speak: (request, speaker, signal) => {
      calls++;
      const call = ask(request, speaker, signal).finally(() => open.delete(call));
      open.set(call, clock.monotonic());
      return call;
    },
    calls: () => calls,
    waitingMs: () => {
      const since = [...open.values()];
      return since.length === 0 ? 0 : clock.monotonic() - Math.min(...since);
    },
    settled: async () => {
      if (open.size === 0) return;
      const waiting = new AbortController();
      await Promise.race([Promise.all(open.keys()), sleep(settleMs, waiting.signal)]);
      waiting.abort();
    },
  };
}
