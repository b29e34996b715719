import { type Choice, extendThread, freezeThread, type Thread } from './thread.ts';

export interface Restored {
  readonly threads: ReadonlyMap<string, Thread>;
  readonly heldOut: readonly string[];
}

/**
 * What a session was shown before this process knew it. A request waits for it, so it waits no longer than `patienceMs`:
 * a session whose past cannot be had in time is a new one.
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

/** Undefined when a text is gone, or adds to a block that is: such a thread begins anew. */
function fold(before: Thread | undefined, choice: Choice): Thread | undefined {
  const { block, after } = choice.fact;
  if (block !== undefined && choice.text === undefined) return undefined;
  if (after === undefined) return freezeThread(choice);
  return before && extendThread(before, choice, after);
}
