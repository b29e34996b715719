import type { Cell } from './cells.ts';
import type { Growth } from './growing-conversation.ts';
import type { ManyStreams } from './many-streams.ts';
import type { Rung } from './memory-ladder.ts';
import type { Paced } from './paced.ts';

/** The results of one run. A part that was not run is empty. */
export interface Results {
  readonly date: string;
  readonly machine: string;
  readonly node: string;
  readonly command: string;
  readonly minutes: number;
  readonly rounds: number;
  /** Load average before the run: other work on the machine. */
  readonly loadBefore: number;
  readonly notes: readonly string[];
  readonly cells: readonly Cell[];
  readonly paced: readonly Paced[];
  readonly many: readonly ManyStreams[];
  readonly ladder: readonly Rung[];
  readonly growth: readonly Growth[];
}
