import type { JsonObject } from '../../core/json.ts';
import { wilsonInterval } from '../../stats/interval.ts';
import { plural } from '../../text/phrases.ts';
import type { WorkCounts } from './count-work.ts';

/** Fewer sessions on a side tell nothing. */
const FEWEST = 10;

/** Whether the last week had fewer corrections and broken rules than the time before it: `{ is, words, before?, after? }`. */
export function describeTrend(before: WorkCounts, after: WorkCounts): JsonObject {
  const all = before.sessions + after.sessions;
  if (all === 0) return { is: 'none', words: 'Nothing to compare yet.' };
  const [was, is] = [before, after].map(({ corrections, broken }) => corrections + broken) as [
    number,
    number,
  ];
  if (before.sessions < FEWEST || after.sessions < FEWEST)
    return {
      is: 'early',
      words: `Too early to tell: ${plural(all, 'session')} so far.`,
    };
  const rates = {
    before: (10 * was) / before.sessions,
    after: (10 * is) / after.sessions,
  };
  const [then, now] = [rates.before.toFixed(1), rates.after.toFixed(1)];
  if (was + is === 0)
    return { is: 'same', words: `No correction and no broken rule in ${plural(all, 'session')}.`, ...rates };
  // Given how many there were, as many would fall into the last week as it has sessions.
  const expected = after.sessions / all;
  const { low, high } = wilsonInterval(is, was + is);
  const numbers = `${now} for ten sessions in the last 7 days`;
  if (high < expected) return { is: 'better', words: `Yes: ${numbers}, ${then} before.`, ...rates };
  if (low > expected) return { is: 'worse', words: `No: ${numbers}, ${then} before.`, ...rates };
  return { is: 'same', words: `No clear change: ${numbers}, ${then} before.`, ...rates };
}
