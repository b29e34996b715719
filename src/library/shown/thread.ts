import type { Fact } from '../../core/fact.ts';
import { withdrawnIn } from '../render-block.ts';
import { type Addition, hashTexts, type ShownText } from './shown-text.ts';

export type RecalledFact = Fact & { readonly type: 'lessons-recalled' };

/** Something chosen: the fact that says so, and the text that it names by its hash. */
export interface Choice {
  readonly fact: RecalledFact;
  readonly text: string | undefined;
}

/** The words of a lesson that a thread was shown; unknown when the fact did not say. */
interface ShownWords {
  readonly name: string | undefined;
  readonly revision: number | undefined;
}

/** What a thread was shown: a fold over its choices, so that a restart finds the same bytes. */
export interface Thread {
  /** The library was looked through up to here. */
  readonly generation: number;
  /** The first link of the conversation when the block was frozen. */
  readonly first: string | undefined;
  /** The user's message that lessons were last recalled for; unknown of a thread that was read back. */
  readonly asked?: string;
  /** By lesson. */
  readonly inForce: ReadonlyMap<string, ShownWords>;
  readonly text: ShownText;
}

/** The thread that a block begins. */
export const freezeThread = ({ fact, text }: Choice): Thread =>
  build(fact.generation, fact.first, wordsOf(fact), text, []);

/** The thread with what was added behind the link `after`. */
export function extendThread(before: Thread, { fact, text }: Choice, after: string): Thread {
  const added = wordsOf(fact);
  // A text says of itself that it replaces what has the same name.
  const over = new Set([...withdrawnIn(text ?? ''), ...[...added.values()].map(({ name }) => name)]);
  const kept = [...before.inForce].filter(([, { name }]) => name === undefined || !over.has(name));
  const { block, additions } = before.text;
  const all = text === undefined ? additions : [...additions, { link: after, text }];
  return build(fact.generation, before.first, new Map([...kept, ...added]), block, all);
}

/** The same thread, the library having been looked through up to a generation that had nothing for it. */
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
