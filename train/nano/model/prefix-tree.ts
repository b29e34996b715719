/** A node of a prefix tree: tokens that some sequences share, after those of `parent`. Its rows are contiguous in the batch. */
export interface PrefixSegment {
  readonly start: number;
  readonly length: number;
  /** The position of its first token in the sequences. */
  readonly position: number;
  readonly parent: PrefixSegment | undefined;
}

/** Sequences in which each shared prefix is computed once. */
export interface PrefixTreeRows {
  readonly tokens: Int32Array;
  /** Parents before children. */
  readonly segments: readonly PrefixSegment[];
  /** For each sequence, the row of each of its tokens. */
  readonly rowsOf: readonly Int32Array[];
}

interface Node {
  tokens: Int32Array;
  children: Node[];
  /** Sequences that end here. */
  ends: number[];
}

const commonLength = (a: Int32Array, b: Int32Array): number => {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a[length] === b[length]) length++;
  return length;
};

const cut = (node: Node, at: number): void => {
  const rest: Node = { tokens: node.tokens.subarray(at), children: node.children, ends: node.ends };
  node.tokens = node.tokens.subarray(0, at);
  node.children = [rest];
  node.ends = [];
};

/** A prefix tree, built by adding one sequence at a time. */
interface PrefixTree {
  /** The number of rows that this sequence would add. */
  cost(tokens: Int32Array): number;
  add(tokens: Int32Array): void;
  rows(): PrefixTreeRows;
}

export const createPrefixTree = (): PrefixTree => {
  const root: Node = { tokens: new Int32Array(), children: [], ends: [] };
  let sequences = 0;
  /** The deepest node that matches, the length of the match in it, and the rest of the sequence. */
  const follow = (tokens: Int32Array) => {
    let [node, shared, rest] = [root, 0, tokens];
    for (;;) {
      const next = node.children.find((child) => child.tokens[0] === rest[0] && rest.length > 0);
      if (next === undefined) return { node, shared, rest };
      shared = commonLength(next.tokens, rest);
      rest = rest.subarray(shared);
      node = next;
      if (shared < next.tokens.length) return { node, shared, rest };
    }
  };
  return {
    cost: (tokens) => follow(tokens).rest.length,
    add(tokens) {
      const { node, shared, rest } = follow(tokens);
      if (shared < node.tokens.length) cut(node, shared);
      const index = sequences++;
      if (rest.length === 0) node.ends.push(index);
      else node.children.push({ tokens: rest, children: [], ends: [index] });
    },
    rows() {
      const tokens: number[] = [];
      const segments: PrefixSegment[] = [];
      const rowsOf: Int32Array[] = Array.from({ length: sequences }, () => new Int32Array());
      const visit = (node: Node, parent: PrefixSegment | undefined, before: readonly number[]): void => {
        const position = before.length;
        const segment = { start: tokens.length, length: node.tokens.length, position, parent };
        const path = [...before, ...Array.from(node.tokens, (_, index) => segment.start + index)];
        tokens.push(...node.tokens);
        segments.push(segment);
        for (const index of node.ends) rowsOf[index] = Int32Array.from(path);
        for (const child of node.children) visit(child, segment, path);
      };
      for (const child of root.children) visit(child, undefined, []);
      return { tokens: Int32Array.from(tokens), segments, rowsOf };
    },
  };
};

/** The segments that a segment attends to, from the root down to itself. */
export const segmentsUpTo = (segment: PrefixSegment): readonly PrefixSegment[] => [
  ...(segment.parent === undefined ? [] : segmentsUpTo(segment.parent)),
  segment,
];
