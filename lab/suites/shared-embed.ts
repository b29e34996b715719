import { createLruMap } from '../../src/base/lru-map.ts';
import type { EmbeddingModel } from '../../src/core/recall.ts';
import { createMiniLmEmbed } from '../../src/embed/minilm-embed.ts';

/** A seed's questions and feedback, and the lessons of all arms; a vector has 1.5 KB. */
const MOST = 40_000;

/**
 * The sentence model for all daemons of a run, each text embedded once: arms ask the same questions and hear the same
 * feedback, and embedding takes most of a run's time. The vectors are the same as without it.
 */
export function createSharedEmbed(): EmbeddingModel {
  const model = createMiniLmEmbed();
  const known = createLruMap<string, Float32Array>(MOST);
  const embedOne = async (text: string): Promise<Float32Array> => {
    const held = known.get(text);
    // A copy: a caller may transfer its vector to another thread.
    if (held !== undefined) return held.slice();
    const [vector] = await model.embed([text]);
    if (vector === undefined) throw new Error('the sentence model returned no vector');
    known.set(text, vector.slice());
    return vector;
  };
  return {
    id: model.id,
    dimensions: model.dimensions,
    embed: (texts) => Promise.all(texts.map(embedOne)),
    close: () => model.close(),
  };
}
