import type { Remote } from './compose-engine.ts';
import { openThread } from './open-thread.ts';
import type { ThreadData } from './thread-messages.ts';
import type { Trainer } from './training/trainer.ts';

/** What the main thread knows about an adapter. Numbers are call ids, which count up. */
interface Kept {
  /** The last state that was saved or loaded, which a restarted thread begins with. */
  saved?: { readonly bytes: Uint8Array; readonly withOptimizer: boolean; readonly asOf: number };
  /** The last call that changed the adapter. */
  changedAt: number;
  /** The number of pending calls. */
  waiting: number;
  /** Why its state was reset: thrown once when it is back at a saved state, and by every call when it is lost. */
  resetReason?: string;
}

/**
 * A trainer in its own thread. When the thread ends, its pending calls reject, and the next call starts another thread, which
 * loads every adapter's last saved state. An adapter without one is lost, and all its calls throw. An adapter that had changed
 * since its last save throws in its pending calls, or else in its next call, so that no caller trains on unaware.
 */
export const createThreadTrainer = (
  file: URL,
  data: ThreadData,
): { trainer: Remote<Trainer>; close(): Promise<void> } => {
  const adapters = new Map<string, Kept>();
  let lastId = 0;
  let lastEnd: Error | undefined;
  const consequence = (name: string, { saved }: Kept): string =>
    saved === undefined
      ? `adapter "${name}" had no saved state and is lost`
      : `adapter "${name}" is back at its last saved state`;

  const thread = openThread(file, data, {
    onEnd(why) {
      lastEnd = why;
      for (const [name, kept] of adapters) {
        const isUnnoticed =
          kept.saved !== undefined && kept.changedAt > kept.saved.asOf && kept.waiting === 0;
        if (isUnnoticed || kept.saved === undefined)
          kept.resetReason = `${why.message}; ${consequence(name, kept)}`;
      }
    },
    onRestart(ask) {
      for (const [name, kept] of adapters) {
        if (kept.saved === undefined) continue;
        const { bytes, withOptimizer } = kept.saved;
        kept.changedAt = kept.saved.asOf;
        ask({ type: 'train', id: ++lastId, call: 'load', operands: [name, bytes, withOptimizer] }).catch(
          (error: Error) => {
            delete kept.saved;
            kept.resetReason = `adapter "${name}" is lost: its saved state could not be loaded (${error.message})`;
          },
        );
      }
    },
  });

  /** Throws when the adapter was reset or lost. */
  const throwIfReset = (kept: Kept | undefined): void => {
    if (kept?.resetReason === undefined) return;
    const { resetReason } = kept;
    if (kept.saved !== undefined) delete kept.resetReason;
    throw new Error(resetReason);
  };
  const ask = async <Name extends keyof Trainer>(
    call: Name,
    ...operands: Parameters<Trainer[Name]>
  ): Promise<ReturnType<Trainer[Name]>> => {
    const [name = ''] = operands;
    const kept = adapters.get(name);
    throwIfReset(kept);
    const id = ++lastId;
    const answer = thread.ask({ type: 'train', id, call, operands });
    if (kept === undefined) return (await answer) as ReturnType<Trainer[Name]>;
    kept.waiting++;
    if (call === 'forwardBackward' || call === 'optimStep') kept.changedAt = id;
    try {
      return (await answer) as ReturnType<Trainer[Name]>;
    } catch (error) {
      if (lastEnd === undefined || error !== lastEnd) throw error;
      throw new Error(`${lastEnd.message}; ${consequence(name, kept)}`, { cause: error });
    } finally {
      kept.waiting--;
    }
  };

  const trainer: Remote<Trainer> = {
    async create(name, options) {
      await ask('create', name, options);
      adapters.set(name, { changedAt: 0, waiting: 0 });
    },
    forward: (name, batch) => ask('forward', name, batch),
    forwardBackward: (name, batch) => ask('forwardBackward', name, batch),
    optimStep: (name, adam) => ask('optimStep', name, adam),
    copy: (name) => ask('copy', name),
    async save(name, withOptimizer) {
      const asOf = lastId + 1;
      const bytes = await ask('save', name, withOptimizer);
      const kept = adapters.get(name);
      if (kept !== undefined && withOptimizer) kept.saved = { bytes: bytes.slice(), withOptimizer, asOf };
      return bytes;
    },
    async load(name, bytes, withOptimizer) {
      const asOf = lastId + 1;
      await ask('load', name, bytes, withOptimizer);
      adapters.set(name, { saved: { bytes: bytes.slice(), withOptimizer, asOf }, changedAt: 0, waiting: 0 });
    },
    async dispose(name) {
      const kept = adapters.get(name);
      const isLost = kept !== undefined && kept.resetReason !== undefined && kept.saved === undefined;
      if (!isLost) await ask('dispose', name);
      adapters.delete(name);
    },
  };
  return { trainer, close: () => thread.close() };
};
