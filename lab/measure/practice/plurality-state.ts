/** An attempt that left something behind. */
interface LeftState {
  /** Undefined when the attempt could not be graded. */
  readonly state?: string;
}

/** The attempt whose state is the most common one; of several as common, the state that came first. Undefined without a state. */
export function pluralityState<T extends LeftState>(attempts: readonly T[]): T | undefined {
  let best: { readonly first: T; readonly count: number } | undefined;
  for (const [state, count] of countStates(attempts)) {
    const first = attempts.find((attempt) => attempt.state === state);
    if (first !== undefined && count > (best?.count ?? 0)) best = { first, count };
  }
  return best?.first;
}

/** Whether further attempts, so many of them, may still make another state the most common one. */
export function isOpenVote(attempts: readonly LeftState[], left: number): boolean {
  const [first = 0, second = 0] = [...countStates(attempts).values()].sort((a, b) => b - a);
  // A state that nobody has left yet may also come up. One that only draws level is later than the first.
  return left > 0 && second + left >= first;
}

function countStates(attempts: readonly LeftState[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { state } of attempts) if (state !== undefined) counts.set(state, (counts.get(state) ?? 0) + 1);
  return counts;
}
