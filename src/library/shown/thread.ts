import type { Fact } from '../../core/fact.ts';
import { withdrawnIn } from '../render-block.ts';
import { type Addition, hashTexts, type ShownText } from './shown-text.ts';

export type RecalledFact = Fact & { readonly type: 'lessons-recalled' };

/** One recall decision: its fact, and the text that the fact refers to by hash. */
export interface Choice {
  readonly fact: RecalledFact;
  readonly text: string | undefined;
}

/** The revision of a lesson that a thread was shown; undefined when the fact does not contain it. */
interface ShownWords {
  readonly name: string | undefined;
  readonly revision: number | undefined;
}

/** The text that a thread was shown: a fold over its decisions, so that a restart gives the same bytes. */
export interface Thread {
  /** The generation of the last recall. */
  readonly generation: number;
  /** The first link of the conversation when the block was frozen. */
  readonly first: string | undefined;
  /** The user message of the last recall; undefined for a restored thread. */
  readonly asked?: string;
  /** By lesson id. */
  readonly inForce: ReadonlyMap<string, ShownWords>;
  readonly text: ShownText;
}

/** A thread that begins with a block. */
export const freezeThread = ({ fact, text }: Choice): Thread =>
  build(fact.generation, fact.first, wordsOf(fact), text, []);

/** The thread with the text that was added after the link `after`. */
export function extendThread(before: Thread, { fact, text }: Choice, after: string): Thread {
  const added = wordsOf(fact);
  // A later text replaces the lessons of the same name.
  const over = new Set([...withdrawnIn(text ?? ''), ...[...added.values()].map(({ name }) => name)]);
  const kept = [...before.inForce].filter(([, { name }]) => name === undefined || !over.has(name));
  const { block, additions } = before.text;
  const all = text === undefined ? additions : [...additions, { link: after, text }];
  return build(fact.generation, before.first, new Map([...kept, ...added]), block, all);
}

/** The same thread after a recall that added nothing. */
export const withGeneration = (thread: Thread, generation: number): Thread => ({
  ...thread,
  generation,
  text: { ...thread.text, generation },
});

function wordsOf({ lessons, considered }: RecalledFact): ReadonlyMap<string, ShownWords> {
  const looked = new Map(considered.map((one) => [one.id, one]));
  return new Map(
    lessons.map((id) => [id, { name: looked.get(id)?.name, revision: looked.get(id)?.revision }]),
  );
}

function build(
  generation: number,
  first: string | undefined,
  inForce: ReadonlyMap<string, ShownWords>,
  block: string | undefined,
  additions: readonly Addition[],
): Thread {
  const texts = [...(block === undefined ? [] : [block]), ...additions.map(({ text }) => text)];
  const text: ShownText = {
    generation,
    lessons: [...inForce.keys()],
    additions,
    ...(block === undefined ? {} : { block }),
    ...(texts.length === 0 ? {} : { hash: hashTexts(texts) }),
  };
  return { generation, first, inForce, text };
}
