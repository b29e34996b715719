import { parentPort, workerData } from 'node:worker_threads';
import { lowerThreadPriority } from '../src/base/lower-thread-priority.ts';
import { connectThread } from '../src/base/worker-thread.ts';
import { errorMessage } from '../src/core/failure.ts';
import { TrainingError } from '../src/core/training.ts';
import { runTrainingPlan } from './run-plan.ts';
import {
  type DaemonCalls,
  type DaemonSide,
  type TrainingPlan,
  type TrainingSide,
  trainingErrors,
} from './training-plan.ts';

/* One training window. Attempts, their verification and task generation block for seconds: here no request waits for them. */
const port = parentPort;
if (port === null) throw new Error('this file is run as a thread');
lowerThreadPriority();
const stop = new AbortController();
const daemon = connectThread<TrainingSide, DaemonSide>(port, {
  answers: {},
  receive: () => stop.abort(),
  ...trainingErrors,
});

try {
  const calls: DaemonCalls = {
    show: (query) => daemon.call('show', [query]),
    generation: () => daemon.call('generation', []),
    rules: () => daemon.call('rules', []),
    tell: (event) => daemon.call('tell', [event]),
    shortage: (clusters) => daemon.call('shortage', [clusters]),
    recorded: () => daemon.call('recorded', []),
    grade: (answer) => daemon.call('grade', [answer]),
    live: (query) => daemon.call('live', [query]),
    reserve: (most, purpose) => daemon.call('reserve', [most, purpose]),
    settle: (reservation, used) => daemon.call('settle', [reservation, used]),
  };
  for await (const event of runTrainingPlan(workerData as TrainingPlan, calls, stop.signal))
    daemon.post({ type: 'event', event });
  daemon.post({ type: 'over' });
} catch (error) {
  const { category, code } =
    error instanceof TrainingError ? error : { category: 'unknown' as const, code: undefined };
  const message = errorMessage(error);
  daemon.post({ type: 'failed', message, category, code });
} finally {
  port.close();
}
