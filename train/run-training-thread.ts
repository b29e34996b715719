import { Worker } from 'node:worker_threads';
import { terminateWorker } from '../src/base/sqlite-gate.ts';
import { workerModule } from '../src/base/worker-thread.ts';
import { TrainingError } from '../src/core/training.ts';
import type {
  DaemonCall,
  DaemonCalls,
  TrainingPlan,
  TrainingThreadCommand,
  TrainingThreadMessage,
} from './training-plan.ts';
import type { TrainingEvent } from './training-window.ts';

/**
 * Runs a training window in its own thread. When the signal aborts it stops at the next safe point; when the reader stops
 * iterating it is terminated. Rejects with a TrainingError.
 */
export async function* runTrainingThread(
  plan: TrainingPlan,
  duties: DaemonCalls,
  signal: AbortSignal,
): AsyncGenerator<TrainingEvent, void, undefined> {
  const thread = new Worker(workerModule('./training-thread.ts', import.meta.url), { workerData: plan });
  const heard: TrainingThreadMessage[] = [];
  let wake: (() => void) | undefined;
  const hear = (message: TrainingThreadMessage): void => {
    heard.push(message);
    wake?.();
  };
  const say = (message: TrainingThreadCommand): void => thread.postMessage(message);
  const stop = (): void => say({ type: 'stop' });
  thread.on('message', (message: TrainingThreadMessage) => {
    if (message.type !== 'question') return hear(message);
    const { id, question } = message;
    answer(question, duties).then(
      (value) => say({ type: 'answer', id, value }),
      (error: Error) => say({ type: 'no-answer', id, message: error.message }),
    );
  });
  const ended = (message: string): void => hear({ type: 'failed', message, category: 'unknown' });
  thread.on('error', (error: Error) => ended(error.message));
  thread.on('exit', () => ended('the training thread ended unexpectedly'));
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    for (;;) {
      const message = heard.shift();
      if (message === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      if (message.type === 'over') return;
      if (message.type === 'failed') throw new TrainingError(message.category, message.message, message.code);
      if (message.type === 'news') yield message.news;
    }
  } finally {
    signal.removeEventListener('abort', stop);
    await terminateWorker(thread);
  }
}

const answer = (question: DaemonCall, duties: DaemonCalls): Promise<unknown> => {
  switch (question.ask) {
    case 'show':
      return duties.show(question.query);
    case 'proven':
      return duties.proven(question.query);
    case 'generation':
      return duties.generation();
    case 'tell':
      return duties.tell(question.event);
    case 'shortage':
      return duties.shortage(question.clusters);
    case 'recorded':
      return duties.recorded();
    case 'grade':
      return duties.grade(question.answer);
    case 'live':
      return duties.live(question.query);
    case 'reserve':
      return duties.reserve(question.most, question.purpose);
    case 'settle':
      return duties.settle(question.reservation, question.used);
  }
};
