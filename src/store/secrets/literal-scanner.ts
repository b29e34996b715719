/** Finds where any of many literals ends, letter case ignored, in one pass whose cost does not depend on their number. */
export interface LiteralScanner {
  /** Pairs of numbers: which literal, and the index behind it; in order of that index. */
  scan(text: string): readonly number[];
}

const WIDTH_BITS = 7;
const WIDTH = 1 << WIDTH_BITS;
/** An entry of the table is where the next row begins; its lowest bit says that a literal ends there. */
const ROW = ~1;
const NOTHING: readonly number[] = [];

/** An automaton after Aho and Corasick with every transition filled in. The literals are ASCII and not empty. */
export function createLiteralScanner(literals: readonly string[]): LiteralScanner {
  const columns = new Uint8Array(256);
  const children: Map<number, number>[] = [new Map()];
  const found: number[][] = [[]];
  literals.forEach((literal, index) => {
    let state = 0;
    for (const character of literal.toLowerCase()) {
      const column = columnOf(columns, character);
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

  const next = fillTransitions(children, found);

  return {
    scan: (text) => {
      let hits: number[] | undefined;
      let row = 0;
      for (let i = 0; i < text.length; i++) {
        const code = text.charCodeAt(i);
        const entry = next[row + (code < 256 ? (columns[code] as number) : 0)] as number;
        row = entry & ROW;
        if (entry !== row) {
          hits ??= [];
          for (const index of found[row >> WIDTH_BITS] ?? []) hits.push(index, i + 1);
        }
      }
      return hits ?? NOTHING;
    },
  };
}

/** Both cases of a letter share a column; column 0 is every character that is in no literal. */
function columnOf(columns: Uint8Array, character: string): number {
  const code = character.charCodeAt(0);
  const known = columns[code] ?? 0;
  if (known !== 0) return known;
  const column = columns.reduce((most, one) => Math.max(most, one), 0) + 1;
  columns[code] = column;
  columns[character.toUpperCase().charCodeAt(0)] = column;
  return column;
}

/** Fills `found` with the shorter literals that end in the same place, and gives the table of next rows. */
function fillTransitions(children: readonly Map<number, number>[], found: number[][]): Int32Array {
  const next = new Int32Array(children.length * WIDTH);
  const fallback = new Int32Array(children.length);
  const queue: number[] = [0];
  for (let head = 0; head < queue.length; head++) {
    const state = queue[head] ?? 0;
    const back = fallback[state] ?? 0;
    if (state !== 0) found[state]?.push(...(found[back] ?? []));
    for (let column = 0; column < WIDTH; column++) {
      const child = children[state]?.get(column);
      const elsewhere = state === 0 ? 0 : (next[back * WIDTH + column] ?? 0);
      next[state * WIDTH + column] = child ?? elsewhere;
      if (child === undefined) continue;
      fallback[child] = elsewhere;
      queue.push(child);
    }
  }
  return next.map((state) => (state * WIDTH) | Number((found[state]?.length ?? 0) > 0));
}
