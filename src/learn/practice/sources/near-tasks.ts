import type { PracticeTask } from '../../../core/practice.ts';
import { cosineSimilarity } from '../../../lessons/similar/compare.ts';
import { topicStems } from '../../../text/topic-words.ts';
import { normalPrompt } from './split.ts';

/** Texts to unit vectors. Rejects when there is no model: then words are compared. */
export type EmbedTexts = (texts: readonly string[]) => Promise<readonly Float32Array[]>;

/** Above this cosine two tasks are one. */
const SAME_TASK = 0.8;
/** The share of common stems from which two requests are one where no model compares their meaning. */
const SAME_WORDS = 0.75;

/** How near two of some texts are, 0 to 1. */
type Nearness = (a: number, b: number) => number;

/** By vectors; by words where no model is there. `isByWords` has a threshold of its own. */
export async function nearnessOf(
  texts: readonly string[],
  embed: EmbedTexts | undefined,
): Promise<{ readonly near: Nearness; readonly isByWords: boolean }> {
  const vectors = texts.length < 2 ? [] : await embed?.(texts).catch(() => undefined);
  if (vectors !== undefined && vectors.length === texts.length)
    return {
      near: (a, b) => {
        const [one, other] = [vectors[a], vectors[b]];
        return one === undefined || other === undefined ? 0 : cosineSimilarity(one, other);
      },
      isByWords: false,
    };
  const stems = texts.map(topicStems);
  return { near: (a, b) => sharedWords(stems[a] ?? NONE, stems[b] ?? NONE), isByWords: true };
}

const NONE: ReadonlySet<string> = new Set();

/** The share of words that two texts have in common, 0 to 1. */
export function sharedWords(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const shared = [...a].filter((word) => b.has(word)).length;
  const all = a.size + b.size - shared;
  return all === 0 ? 0 : shared / all;
}

export const isSameTask = (nearness: number, isByWords: boolean): boolean =>
  nearness > (isByWords ? SAME_WORDS : SAME_TASK);

/**
 * The tasks without near duplicates: of several, the first stays. Tasks of different projects or with different workspaces are
 * not the same, whatever their words; a variation is compared with others, not with what it varies.
 */
export async function withoutNearTasks(
  tasks: readonly PracticeTask[],
  embed: EmbedTexts | undefined,
): Promise<readonly PracticeTask[]> {
  const prompts = tasks.map(({ prompt }) => prompt);
  const { near, isByWords } = await nearnessOf(prompts, embed);
  const places: number[] = [];
  tasks.forEach((task, at) => {
    const isKnown = places.some((other) => {
      const earlier = tasks[other];
      if (earlier === undefined || placeOf(earlier) !== placeOf(task)) return false;
      if (normalPrompt(earlier.prompt) === normalPrompt(task.prompt)) return true;
      const isFamily = earlier.root === task.root && earlier.origin !== task.origin;
      return !isFamily && isSameTask(near(other, at), isByWords);
    });
    if (!isKnown) places.push(at);
  });
  return places.flatMap((at) => tasks[at] ?? []);
}

/** Where the work is done: equal words about another project are another task. */
function placeOf({ domain, project, workspace }: PracticeTask): string {
  const place =
    workspace === undefined
      ? ''
      : workspace.kind === 'git'
        ? workspace.repository
        : JSON.stringify(workspace.files);
  return JSON.stringify([domain, project, place]);
}
