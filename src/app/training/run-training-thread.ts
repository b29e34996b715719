import { Worker } from 'node:worker_threads';
import { TrainingError } from '../../core/training.ts';
import type { FromThread, Question, ToThread, TrainingDuties } from './thread-messages.ts';
import type { TrainNews } from './train-weights.ts';
import type { TrainingPlan } from './training-plan.ts';

/** Run from sources, as tests are, the built thread is taken: a thread cannot read TypeScript. */
const threadFile = (): URL => {
  const isSource = import.meta.url.endsWith('.ts');
  return new URL(
    isSource ? '../../../dist/app/training/training-thread.js' : './training-thread.js',
    import.meta.url,
  );
};

/**
 * A window of training in a thread of its own. It stops at its next safe place when the signal aborts, and is ended by
 * force when its reader leaves. Rejects with a TrainingError.
 */
export async function* runTrainingThread(
  plan: TrainingPlan,
  duties: TrainingDuties,
  signal: AbortSignal,
): AsyncGenerator<TrainNews, void, undefined> {
  const thread = new Worker(threadFile(), { workerData: plan });
  const heard: FromThread[] = [];
  let wake: (() => void) | undefined;
  const hear = (message: FromThread): void => {
    heard.push(message);
    wake?.();
  };
  const say = (message: ToThread): void => thread.postMessage(message);
  const stop = (): void => say({ type: 'stop' });
  thread.on('message', (message: FromThread) => {
    if (message.type !== 'question') return hear(message);
    const { id, question } = message;
    answer(question, duties).then(
      (value) => say({ type: 'answer', id, value }),
      (error: Error) => say({ type: 'no-answer', id, message: error.message }),
    );
  });
  const ended = (message: string): void => hear({ type: 'failed', message, category: 'unknown' });
  thread.on('error', (error: Error) => ended(error.message));
  thread.on('exit', () => ended('the thread of the training has ended'));
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
      if (message.type === 'failed') throw new TrainingError(message.category, message.message);
      if (message.type === 'news') yield message.news;
    }
  } finally {
    signal.removeEventListener('abort', stop);
    await thread.terminate();
  }
}

const answer = (question: Question, duties: TrainingDuties): Promise<unknown> => {
  switch (question.ask) {
    case 'show':
      return duties.show(question.query);
    case 'generation':
      return duties.generation();
    case 'tell':
      return duties.tell(question.event);
    case 'recorded':
      return duties.recorded();
    case 'grade':
      return duties.grade(question.answer);
    case 'live':
      return duties.live(question.query);
  }
};
