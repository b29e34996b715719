import type { Embed } from '../../core/embed.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Change, Lesson } from '../../core/lesson.ts';
import type { Effects } from '../../library/effect/effects.ts';
import { activationOf } from '../../library/recall/activation.ts';
import { findContradictions } from '../../library/similar/contradictions.ts';
import { findDuplicates } from '../../library/similar/duplicates.ts';
import { findForgettable } from '../../library/similar/forgettable.ts';
import { comparedText } from '../../library/similar/near-pairs.ts';

export interface ReviewOptions {
  readonly lessons: readonly Lesson[];
  readonly embed: Embed;
  /** Letters alone are less alike than meanings: for who compares by them. */
  readonly isByLetters: boolean;
  readonly effects: Effects;
  readonly now: number;
}

/** Comparing each with each takes seconds beyond this; the newest are the ones to look at. */
const MOST = 1500;
const LETTERS_TOPIC = 0.28;

/** What a person may want to put in order: what waits, what says the same, what contradicts, what nobody needed. */
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
  const contradictions = findContradictions(active, vectors, ...(options.isByLetters ? [LETTERS_TOPIC] : []));
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
    changes: [...merges, ...forgettable] as readonly Change[] as unknown as JsonObject[],
  };
}
