import { workerModule } from '../base/worker-thread.ts';
import { composeEngine, engineModel } from './compose-engine.ts';
import type { EngineOptions } from './create-engine.ts';
import type { Engine, SampleResult } from './engine.ts';
import { loadWeights } from './model/load-weights.ts';
import { openThread } from './open-thread.ts';
import type { Sampler } from './sampling/sampler.ts';
import type { ThreadData } from './thread-messages.ts';
import { createThreadTrainer } from './thread-trainer.ts';

const createThreadSampler = (file: URL, data: ThreadData): Sampler & { close(): Promise<void> } => {
  const thread = openThread(file, data);
  let lastId = 0;
  return {
    async sample(weights, request, signal) {
      signal.throwIfAborted();
      const id = ++lastId;
      const leave = (): void => thread.tell({ type: 'abort', id });
      signal.addEventListener('abort', leave, { once: true });
      try {
        return (await thread.ask({ type: 'sample', id, weights, request })) as SampleResult;
      } catch (error) {
        signal.throwIfAborted();
        throw error;
      } finally {
        signal.removeEventListener('abort', leave);
      }
    },
    close: () => thread.close(),
  };
};

/**
 * An engine in two worker threads, so that sampling from a frozen copy never waits for a training step. Results are
 * bit-identical to those of one thread. When a thread ends unexpectedly, its pending calls reject and the next call starts it
 * again. Throws an EngineError for weights that do not fit the shape.
 */
export const openEngineThreads = (
  { weights, shape, name }: EngineOptions,
  file: URL = workerModule('./engine-thread.ts', import.meta.url),
): Engine => {
  loadWeights(weights, shape);
  const training = createThreadTrainer(file, { role: 'train', weights, shape });
  const sampler = createThreadSampler(file, { role: 'sample', weights, shape });
  return composeEngine({
    model: engineModel(name, shape),
    trainer: training.trainer,
    sampler,
    async close() {
      await Promise.all([training.close(), sampler.close()]);
    },
  });
};
