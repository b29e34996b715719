import type { Datum } from '../engine.ts';
import { createSequenceTree, type Rows } from '../model/segments.ts';

/** Data computed together; `data` are indexes into the batch, in the order of `rows.rowsOf`. */
export interface Microbatch {
  readonly data: readonly number[];
  readonly rows: Rows;
}

/** Bounds memory: about 30 KB for each row on the model that ships. */
const MAX_ROWS = 2048;
/** Above this, a sequence with little shared prefix starts the next microbatch, so that groups stay together. */
const ENOUGH_ROWS = 512;

/** Splits a batch so that each part fits into memory and sequences with a shared prefix stay together. */
export const microbatches = (data: readonly Datum[]): readonly Microbatch[] => {
  const made: Microbatch[] = [];
  let tree = createSequenceTree();
  let members: number[] = [];
  let rows = 0;
  const close = (): void => {
    if (members.length > 0) made.push({ data: members, rows: tree.rows() });
    tree = createSequenceTree();
    members = [];
    rows = 0;
  };
  data.forEach(({ tokens }, index) => {
    const cost = tree.cost(tokens);
    const isMostlyNew = cost > tokens.length / 2;
    if (rows + cost > MAX_ROWS || (rows >= ENOUGH_ROWS && isMostlyNew)) close();
    rows += tree.cost(tokens);
    tree.add(tokens);
    members.push(index);
  });
  close();
  return made;
};
