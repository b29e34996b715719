import type { SampledTurn } from '../../core/policy.ts';
import type { AttemptOptions } from './attempt-task.ts';
import type { RecordedTask } from './recorded-task.ts';
import { speakAsPolicy } from './speak-as-policy.ts';

export interface RecordedAttemptOptions extends Omit<AttemptOptions, 'task'> {
  readonly task: RecordedTask;
  /** What an answer is worth; undefined when nobody can say. */
  readonly grade: (task: RecordedTask, answer: string) => Promise<number | undefined>;
}

export interface RecordedAttempt {
  readonly turns: readonly SampledTurn[];
  readonly reward: number;
}

/**
 * So many replies to a recorded task side by side, each graded by its words: what one calls is not run. Undefined stands for one that
 * was not given or not graded. Rejects when the signal aborts.
 */
export async function attemptRecorded(
  options: RecordedAttemptOptions,
): Promise<readonly (RecordedAttempt | undefined)[]> {
  const places = Array.from({ length: options.count }, (_, at) => at);
  const attempts = await Promise.all(places.map((place) => replyOnce(options, place)));
  options.signal.throwIfAborted();
  return attempts;
}

async function replyOnce(
  options: RecordedAttemptOptions,
  place: number,
): Promise<RecordedAttempt | undefined> {
  const { task, signal, grade, onFailure } = options;
  const { speak, session, turns } = speakAsPolicy(options, place);
  const speaker = { session, agent: task.agent, runKind: 'train' };
  const { text, failure } = await speak(task.request, speaker, signal);
  if (failure !== undefined) onFailure?.(failure.message);
  if (failure !== undefined || signal.aborted) return undefined;
  const reward = await grade(task, text);
  return reward === undefined ? undefined : { turns, reward };
}
