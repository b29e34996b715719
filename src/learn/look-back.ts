import type { Fact } from '../core/fact.ts';
import type { Records } from '../core/store.ts';

/** A killed daemon may not have looked at its last turns. */
const LOOK_BACK = 500;
const PAGE = 500;
/** More than this is not read again at a start. */
const MOST = 50_000;

/** Facts that only a daemon writes: up to one of these the record was looked at. */
const OF_A_DAEMON: ReadonlySet<Fact['type']> = new Set([
  'turn-start',
  'turn-end',
  'turn-appraised',
  'session-scored',
  'session-end',
  'cycle-end',
]);

/**
 * The number of the fact after which learning begins to read. What programs and commands recorded while no daemon ran has
 * not been read by anybody, however much it is; everything read twice is recognised.
 */
export async function findStart(records: Pick<Records, 'facts'>, upTo: number): Promise<number> {
  const lowest = Math.max(0, upTo - MOST);
  let seen = upTo;
  while (seen > lowest) {
    const from = Math.max(lowest, seen - PAGE);
    const page = await records.facts(from, seen - from);
    const last = page.findLast(({ fact }) => OF_A_DAEMON.has(fact.type));
    seen = last?.seq ?? from;
    if (last !== undefined) break;
  }
  return Math.max(0, Math.min(seen, upTo) - LOOK_BACK);
}
