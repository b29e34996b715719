import { createSpeakTo } from '../../agent/speak-to.ts';
import type { SampledTurn } from '../../core/policy.ts';
import { createPolicyModel } from '../../policy/policy-model.ts';
import { createRandom } from '../../stats/random.ts';
import type { AttemptOptions } from './attempt-task.ts';
import type { RecordedTask } from './recorded-task.ts';

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
  { task, template, weights, block, temperature, seed, signal, grade, onFailure }: RecordedAttemptOptions,
  place: number,
): Promise<RecordedAttempt | undefined> {
  const turns: SampledTurn[] = [];
  const random = createRandom(`${seed}/${place}`);
  const model = createPolicyModel({
    template,
    weights: async () => ({ ...weights, release: () => undefined }),
    temperature,
    seed: () => random.below(2 ** 31),
    keep: (sampled) => void turns.push(sampled),
  });
  const speak = createSpeakTo(model, () => block);
  const speaker = { session: `${seed}/${place}`, agent: task.agent, runKind: 'train' };
  const { text, failure } = await speak(task.request, speaker, signal);
  if (failure !== undefined) onFailure?.(failure.message);
  if (failure !== undefined || signal.aborted) return undefined;
  const reward = await grade(task, text);
  return reward === undefined ? undefined : { turns, reward };
}
