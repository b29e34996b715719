import { type Choice, extendThread, freezeThread, type Thread } from './thread.ts';

export interface Restored {
  readonly threads: ReadonlyMap<string, Thread>;
  readonly heldOut: readonly string[];
}

/**
 * The threads of a session from the record. A request waits for them, for `patienceMs` at most: a session that cannot be
 * restored in time is treated as new.
 */
export async function restoreThreads(
  restore: () => Promise<readonly Choice[]>,
  patienceMs: number,
): Promise<Restored> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly Choice[]>((resolve) => {
    timer = setTimeout(resolve, patienceMs, []);
  });
  const known = Promise.resolve()
    .then(restore)
    .catch((): readonly Choice[] => []);
  const choices = await Promise.race([known, late]);
  clearTimeout(timer);
  const threads = new Map<string, Thread>();
  for (const choice of choices) {
    const name = choice.fact.thread;
    const thread = fold(threads.get(name), choice);
    if (thread === undefined) threads.delete(name);
    else threads.set(name, thread);
  }
  return { threads, heldOut: choices.flatMap(({ fact }) => fact.heldOut) };
}

/** Undefined when a text was erased, or the block that it extends: such a thread starts again. */
function fold(before: Thread | undefined, choice: Choice): Thread | undefined {
  const { block, after } = choice.fact;
  if (block !== undefined && choice.text === undefined) return undefined;
  if (after === undefined) return freezeThread(choice);
  return before && extendThread(before, choice, after);
}
