import type { Embed } from '../../core/embed.ts';
import { createRecent } from '../../core/recent.ts';

/**
 * The vector of what is asked; at once when it was asked lately. Undefined when the model fails or takes longer than the
 * patience; what comes late is there the next time.
 */
export type QueryVector = (text: string) => Promise<Float32Array | undefined>;

const REMEMBERED = 2000;

/** `mostWaiting`: a model that so many wait for is late already; who comes then does not wait at all. */
export function createQueryVectors(
  embed: Embed,
  patienceMs: number,
  mostWaiting = Number.POSITIVE_INFINITY,
): QueryVector {
  const known = createRecent<string, Float32Array>(REMEMBERED);
  const asked = new Map<string, Promise<Float32Array | undefined>>();

  const ask = (text: string): Promise<Float32Array | undefined> => {
    const answer = embed
      .embed([text])
      .then(
        ([vector]) => {
          if (vector !== undefined) known.set(text, vector);
          return vector;
        },
        () => undefined,
      )
      .finally(() => asked.delete(text));
    asked.set(text, answer);
    return answer;
  };

  return async (text) => {
    const vector = known.get(text);
    if (vector !== undefined) return vector;
    if (!asked.has(text) && asked.size >= mostWaiting) return undefined;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, patienceMs, undefined);
    });
    const first = await Promise.race([asked.get(text) ?? ask(text), late]);
    clearTimeout(timer);
    return first;
  };
}
