import { parentPort, workerData } from 'node:worker_threads';
import { lowerThreadPriority } from '../../src/base/lower-thread-priority.ts';
import { errorMessage } from '../../src/core/failure.ts';
import { EngineError } from './engine.ts';
import { loadDecoderWeights } from './model/decoder-weights.ts';
import { createEngineSampler } from './sampling/sampler.ts';
import type { EngineThreadCall, EngineThreadData, EngineThreadReply } from './threaded-engine.ts';
import { createTrainer } from './training/trainer.ts';

const port = parentPort;
if (!port) throw new Error('engine-thread must run as a worker thread');

const { role, weights, shape } = workerData as EngineThreadData;
const loaded = loadDecoderWeights(weights, shape);

const reply = (answer: EngineThreadReply): void => port.postMessage(answer);
const fail = (id: number, error: unknown): void =>
  reply({
    type: 'failed',
    id,
    why: errorMessage(error),
    isInvalidCall: error instanceof EngineError,
  });

if (role === 'train') {
  lowerThreadPriority();
  const trainer = createTrainer(loaded);
  port.on('message', (question: EngineThreadCall) => {
    if (question.type !== 'train') return;
    try {
      const call = trainer[question.call] as (...operands: readonly unknown[]) => unknown;
      reply({ type: 'done', id: question.id, value: call(...question.operands) });
    } catch (error) {
      fail(question.id, error);
    }
  });
} else {
  const sampler = createEngineSampler(loaded);
  const running = new Map<number, AbortController>();
  port.on('message', (question: EngineThreadCall) => {
    if (question.type === 'abort') running.get(question.id)?.abort();
    if (question.type !== 'sample') return;
    const { id } = question;
    const leaving = new AbortController();
    running.set(id, leaving);
    sampler
      .sample(question.weights, question.request, leaving.signal)
      .then(
        (value) => reply({ type: 'done', id, value }),
        (error: unknown) => fail(id, error),
      )
      .finally(() => running.delete(id));
  });
}
