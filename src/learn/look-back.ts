import type { Fact } from '../core/fact.ts';
import type { Records } from '../core/store.ts';

/** A killed daemon may not have looked at its last turns. */
const LOOK_BACK = 500;
/** Where several gateways record, more comes while learning is behind, and until another process takes it over. */
const LOOK_BACK_SHARED = 5_000;
const PAGE = 500;
/** More than this is not read again at a start. */
const MOST = 50_000;

/** Facts that only a daemon writes: up to one of these the record was looked at. */
const OF_A_DAEMON: ReadonlySet<Fact['type']> = new Set([
  'turn-start',
  'turn-end',
  'turn-appraised',
  'session-scored',
  'rules-observed',
  'session-end',
  'cycle-end',
]);

/** Facts that only learning writes. In a record that several gateways write, a turn proves nothing: nobody may have learned meanwhile. */
const OF_LEARNING: ReadonlySet<Fact['type']> = new Set([
  'turn-appraised',
  'session-scored',
  'learning-queued',
  'rules-observed',
]);

/**
 * The number of the fact after which learning begins to read. What programs and commands recorded while no daemon ran has
 * not been read by anybody, however much it is; everything read twice is recognised. `isShared`: several processes write the record.
 */
export async function findStart(
  records: Pick<Records, 'facts'>,
  upTo: number,
  isShared = false,
): Promise<number> {
  const marks = isShared ? OF_LEARNING : OF_A_DAEMON;
  const lowest = Math.max(0, upTo - MOST);
  let seen = upTo;
  while (seen > lowest) {
    const from = Math.max(lowest, seen - PAGE);
    const page = await records.facts(from, seen - from);
    const last = page.findLast(({ fact }) => marks.has(fact.type));
    seen = last?.seq ?? from;
    if (last !== undefined) break;
  }
  return Math.max(0, Math.min(seen, upTo) - (isShared ? LOOK_BACK_SHARED : LOOK_BACK));
}
