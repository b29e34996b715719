import { parentPort, workerData } from 'node:worker_threads';
import { lowerThreadPriority } from '../src/base/lower-thread-priority.ts';
import { TrainingError } from '../src/core/training.ts';
import { runTrainingPlan } from './run-plan.ts';
import type {
  DaemonCall,
  DaemonCalls,
  TrainingPlan,
  TrainingThreadCommand,
  TrainingThreadMessage,
} from './training-plan.ts';

/* One training window. Attempts, their verification and task generation block for seconds: here no request waits for them. */
const port = parentPort;
if (port === null) throw new Error('this file is run as a thread');
lowerThreadPriority();
const stop = new AbortController();
const asked = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
let lastId = 0;
const say = (message: TrainingThreadMessage): void => port.postMessage(message);

port.on('message', (message: TrainingThreadCommand) => {
  if (message.type === 'stop') return stop.abort();
  const one = asked.get(message.id);
  asked.delete(message.id);
  if (message.type === 'answer') one?.resolve(message.value);
  else one?.reject(new Error(message.message));
});

const ask = <T>(question: DaemonCall): Promise<T> =>
  new Promise((resolve, reject) => {
    const id = ++lastId;
    asked.set(id, { resolve: resolve as (value: unknown) => void, reject });
    say({ type: 'question', id, question });
  });

try {
  const duties: DaemonCalls = {
    show: (query) => ask({ ask: 'show', query }),
    proven: (query) => ask({ ask: 'proven', query }),
    generation: () => ask({ ask: 'generation' }),
    tell: (event) => ask({ ask: 'tell', event }),
    shortage: (clusters) => ask({ ask: 'shortage', clusters }),
    recorded: () => ask({ ask: 'recorded' }),
    grade: (answer) => ask({ ask: 'grade', answer }),
    live: (query) => ask({ ask: 'live', query }),
    reserve: (most, purpose) => ask({ ask: 'reserve', most, purpose }),
    settle: (reservation, used) => ask({ ask: 'settle', reservation, used }),
  };
  for await (const news of runTrainingPlan(workerData as TrainingPlan, duties, stop.signal))
    say({ type: 'news', news });
  say({ type: 'over' });
} catch (error) {
  const { category, code } =
    error instanceof TrainingError ? error : { category: 'unknown' as const, code: undefined };
  say({ type: 'failed', message: error instanceof Error ? error.message : String(error), category, code });
} finally {
  port.close();
}
