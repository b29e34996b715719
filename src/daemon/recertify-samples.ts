import type { EmbeddingModel } from '../core/recall.ts';
import type { Records } from '../core/store.ts';
import { cosineSimilarity } from '../learn/nearest-lessons.ts';
import type { MovedLesson } from '../lessons/library.ts';
import type { TrainingSample } from '../train/buffer.ts';
import { findSurvivors } from '../train/buffer.ts';

export interface SampleRecertifier {
  /** Keeps the vector of a new sample's task, so that a change can be compared with it at once. */
  remember(turn: string, task: string): Promise<void>;
  /** The samples whose prompts a change does not affect. */
  survive(samples: readonly TrainingSample[], moved: readonly MovedLesson[]): Promise<readonly string[]>;
}

/** Far below the threshold of recall: a sample stays only when its prompt could not have shown the change. */
const NEAR = 0.2;
const MOST = 1024;

/**
 * Decides which samples keep their prompts after a change to the library. A changed lesson affects a sample that was
 * shown it or whose task is near it. Samples without a known task or turn count as affected.
 */
export function createSampleRecertifier(
  embed: Pick<EmbeddingModel, 'embed'>,
  records: Pick<Records, 'turn'>,
): SampleRecertifier {
  const tasks = new Map<string, Float32Array>();
  return {
    remember: async (turn, task) => {
      const [vector] = await embed.embed([task]);
      if (vector === undefined) return;
      tasks.set(turn, vector);
      const oldest = tasks.keys().next().value;
      if (tasks.size > MOST && oldest !== undefined) tasks.delete(oldest);
    },
    survive: async (samples, moved) => {
      const ids = new Set(moved.map(({ id }) => id));
      const shown = moved.flatMap(({ lesson, isShown }) => (lesson && isShown ? [lesson.text] : []));
      const vectors = await embed.embed(shown.map(({ name, description }) => `${name} ${description}`));
      return findSurvivors({
        samples,
        wouldDiffer: async ({ turn }) => {
          const task = tasks.get(turn);
          const view = await records.turn(turn);
          if (task === undefined || view === undefined) return true;
          return (
            view.lessons.some((id) => ids.has(id)) ||
            vectors.some((vector) => cosineSimilarity(task, vector) > NEAR)
          );
        },
      });
    },
  };
}
