import type { Embed } from '../../core/embed.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Lesson } from '../../core/lesson.ts';
import { encodeChange } from '../../library/codec.ts';
import type { Effects } from '../../library/effect/effects.ts';
import { activationOf } from '../../library/recall/activation.ts';
import { findContradictions } from '../../library/similar/contradictions.ts';
import { findDuplicates } from '../../library/similar/duplicates.ts';
import { findForgettable } from '../../library/similar/forgettable.ts';
import { comparedText } from '../../library/similar/near-pairs.ts';

export interface ReviewOptions {
  readonly lessons: readonly Lesson[];
  readonly embed: Embed;
  /** N-gram vectors are less similar than embeddings: another threshold applies. */
  readonly isByLetters: boolean;
  readonly effects: Effects;
  readonly now: number;
}

/** Comparing all pairs of more lessons takes seconds; the newest are reviewed. */
const MOST = 1500;
const NGRAM_TOPIC = 0.28;

/** What a person may want to clean up: lessons that wait, duplicates, contradictions and unused lessons. */
export async function reviewLessons(options: ReviewOptions): Promise<JsonObject> {
  const { embed, effects, now } = options;
  const active = options.lessons
    .filter(({ state }) => state !== 'retired' && state !== 'rejected')
    .slice(-MOST);
  const texts = active.map((lesson) => comparedText(lesson));
  const computed = texts.length === 0 ? [] : await embed.embed(texts);
  const vectors = new Map(
    active.flatMap(({ id }, index) => {
      const vector = computed[index];
      return vector === undefined ? [] : [[id, vector] as const];
    }),
  );
  const proof = ({ id }: Lesson): number => effects.usefulness(id).count;
  const { pairs, merges } = findDuplicates(active, vectors, { proof });
  const contradictions = findContradictions(active, vectors, ...(options.isByLetters ? [NGRAM_TOPIC] : []));
  const forgettable = findForgettable(
    active,
    {
      activation: (lesson, at) => activationOf(lesson, effects.usefulness(lesson.id), at),
      isProven: (lesson) => effects.usefulness(lesson.id).count > 0 || effects.usefulness(lesson.id).isProven,
    },
    now,
  );
  const nameOf = (id: string): string => active.find((lesson) => lesson.id === id)?.text.name ?? id;
  return {
    waiting: active
      .filter(({ state }) => state === 'proposed')
      .map(({ id, text }) => ({ id, name: text.name })),
    same: pairs.map(({ a, b }) => ({ a: a.id, b: b.id, names: [a.text.name, b.text.name] })),
    contradictions: contradictions.map(({ a, b, why }) => ({
      a: a.id,
      b: b.id,
      names: [a.text.name, b.text.name],
      why,
    })),
    forgettable: forgettable.flatMap((change) =>
      change.op === 'retire' ? [{ id: change.id, name: nameOf(change.id), reason: change.reason }] : [],
    ),
    changes: [...merges, ...forgettable].map(encodeChange),
  };
}
