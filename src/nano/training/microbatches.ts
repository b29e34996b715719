import type { Datum } from '../engine.ts';
import { createSequenceTree, type Rows } from '../model/segments.ts';

/** Data computed together; `data` are places in the batch, in the order of `rows.rowsOf`. */
export interface Microbatch {
  readonly data: readonly number[];
  readonly rows: Rows;
}

/** Bounds memory: about 30 kilobytes for each row of the model that ships. */
const MOST_ROWS = 2048;
/** From here on a sequence that begins mostly on its own starts the next one, so that no group is torn apart. */
const ENOUGH_ROWS = 512;

/** Cuts a batch so that each part fits the memory, and sequences that begin alike stay together. */
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
    const isStranger = cost > tokens.length / 2;
    if (rows + cost > MOST_ROWS || (rows >= ENOUGH_ROWS && isStranger)) close();
    rows += tree.cost(tokens);
    tree.add(tokens);
    members.push(index);
  });
  close();
  return made;
};
