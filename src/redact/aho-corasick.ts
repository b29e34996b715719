/** Finds all occurrences of many literals, ignoring case, in one pass whose cost does not depend on their number. */
export interface AhoCorasick {
  /** Pairs of numbers, the literal's index and the end of its occurrence, ordered by the end. */
  scan(text: string): readonly number[];
}

const NOTHING: readonly number[] = [];

/** An Aho-Corasick automaton with all transitions filled in. The literals are not empty. */
export function createAhoCorasick(literals: readonly string[]): AhoCorasick {
  const columns = new Uint8Array(256);
  const wide = new Map<number, number>();
  const children: Map<number, number>[] = [new Map()];
  const found: number[][] = [[]];
  literals.forEach((literal, index) => {
    let state = 0;
    for (const character of literal.toLowerCase()) {
      const column = columnOf(columns, wide, character);
      let next = children[state]?.get(column);
      if (next === undefined) {
        next = children.length;
        children[state]?.set(column, next);
        children.push(new Map());
        found.push([]);
      }
      state = next;
    }
    found[state]?.push(index);
  });

  const { next, bits, firstFinal, foundAt } = fillTransitions(children, found);

  return {
    scan: (text) => {
      let hits: number[] | undefined;
      let state = 0;
      for (let i = 0; i < text.length; i++) {
        const code = text.charCodeAt(i);
        state = next[
          (state << bits) | (code < 256 ? (columns[code] as number) : (wide.get(code) ?? 0))
        ] as number;
        if (state >= firstFinal) {
          hits ??= [];
          for (const index of foundAt[state] ?? []) hits.push(index, i + 1);
        }
      }
      return hits ?? NOTHING;
    },
  };
}

/** Both cases of a letter share a column; column 0 is for characters that occur in no literal. */
function columnOf(columns: Uint8Array, wide: Map<number, number>, character: string): number {
  const code = character.charCodeAt(0);
  const known = code < 256 ? (columns[code] ?? 0) : (wide.get(code) ?? 0);
  if (known !== 0) return known;
  const column = columns.reduce((most, one) => Math.max(most, one), Math.max(0, ...wide.values())) + 1;
  for (const spelling of [code, character.toUpperCase().charCodeAt(0)]) {
    if (spelling < 256) columns[spelling] = column;
    else wide.set(spelling, column);
  }
  return column;
}

interface Transitions {
  /** The next state, at `state << bits | column`. Kept small, since it is read once per character. */
  readonly next: Uint16Array | Uint32Array;
  readonly bits: number;
  /** A literal ends in this state and all higher ones. */
  readonly firstFinal: number;
  readonly foundAt: readonly (readonly number[])[];
}

/** Adds to `found` the shorter literals that end at the same position, and renumbers the states. */
function fillTransitions(children: readonly Map<number, number>[], found: number[][]): Transitions {
  const columns = children.reduce((most, entries) => Math.max(most, ...entries.keys()), 0) + 1;
  const bits = Math.ceil(Math.log2(columns));
  const width = 1 << bits;
  const next = new Uint32Array(children.length * width);
  const fallback = new Uint32Array(children.length);
  const queue: number[] = [0];
  for (let head = 0; head < queue.length; head++) {
    const state = queue[head] ?? 0;
    const back = fallback[state] ?? 0;
    if (state !== 0) found[state]?.push(...(found[back] ?? []));
    // What the fallback does, but for the own children.
    const own = state * width;
    if (state !== 0) next.copyWithin(own, back * width, (back + 1) * width);
    for (const [column, child] of children[state] ?? []) {
      fallback[child] = next[own + column] ?? 0;
      next[own + column] = child;
      queue.push(child);
    }
  }
  // The root stays state 0: literals are not empty, so that none ends there.
  const isFinal = (state: number): boolean => (found[state]?.length ?? 0) > 0;
  const order = [...children.keys()].sort((a, b) => Number(isFinal(a)) - Number(isFinal(b)));
  const numberOf = new Uint32Array(children.length);
  for (const [number, state] of order.entries()) numberOf[state] = number;
  const Table = children.length <= 0x1_0000 ? Uint16Array : Uint32Array;
  const renumbered = new Table(next.length);
  for (const [number, state] of order.entries()) {
    const row = next.subarray(state * width, (state + 1) * width).map((to) => numberOf[to] as number);
    renumbered.set(row, number * width);
  }
  return {
    next: renumbered,
    bits,
    firstFinal: order.findIndex(isFinal),
    foundAt: order.map((state) => found[state] ?? []),
  };
}
