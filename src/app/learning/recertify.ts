import type { Embed } from '../../core/embed.ts';
import type { Records } from '../../core/records.ts';
import type { MovedLesson } from '../../library/library.ts';
import type { Sample } from '../../train/buffer.ts';
import { survivors } from '../../train/survivors.ts';
import { cosine } from './cosine.ts';

export interface Recertifier {
  /** A sample came in: what it was about is remembered, so that a change can be held against it at once. */
  remember(turn: string, task: string): Promise<void>;
  /** The samples that a change does not concern. */
  survive(samples: readonly Sample[], moved: readonly MovedLesson[]): Promise<readonly string[]>;
}

/** Far below what recall asks for: a sample stays only when the change could not have been shown to it. */
const NEAR = 0.2;
const MOST = 1024;

/**
 * Finds out whose prompt a change to the library would have been another. A lesson that the sample was shown concerns it;
 * so does any lesson that is at all near to its task. What is not known would have differed.
 */
export function createRecertifier(embed: Embed, records: Records): Recertifier {
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
      return survivors({
        samples,
        wouldDiffer: async ({ turn }) => {
          const task = tasks.get(turn);
          const view = await records.turn(turn);
          if (task === undefined || view === undefined) return true;
          return (
            view.lessons.some((id) => ids.has(id)) || vectors.some((vector) => cosine(task, vector) > NEAR)
          );
        },
      });
    },
  };
}
