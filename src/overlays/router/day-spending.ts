import type { Usage } from '../../core/chat.ts';
import type { Records } from '../../core/store.ts';

/** What a model's tokens cost; 0 where its price is not known. */
export type UsdOf = (usage: Usage, model: string) => number;

interface DaySpendingOptions {
  readonly records: Pick<Records, 'sessions' | 'turns'>;
  readonly usdOf: UsdOf;
  /** US dollars of all turns that were served since the start. */
  readonly servedUsd: () => number;
  readonly now: () => number;
}

/** US dollars that the turns of today cost. */
export interface DaySpending {
  today(): number;
  /** Reads what was served today before the start. */
  load(): Promise<void>;
}

/** Sessions that are read at the start; older ones of a busy day are not counted. */
const MOST_SESSIONS = 500;

export function createDaySpending({ records, usdOf, servedUsd, now }: DaySpendingOptions): DaySpending {
  const startedAt = now();
  let day = midnightBefore(startedAt);
  /** Of the day, before this process; and of this process, before the day. */
  let earlier = 0;
  let before = 0;
  return {
    today: () => {
      const today = midnightBefore(now());
      if (today > day) {
        day = today;
        earlier = 0;
        before = servedUsd();
      }
      return Math.max(0, earlier + servedUsd() - before);
    },
    load: async () => {
      const since = day;
      const sessions = await records.sessions({ limit: MOST_SESSIONS });
      let usd = 0;
      for (const { id, lastAt } of sessions) {
        if (lastAt < since) continue;
        for (const { usage, policy, endedAt = 0 } of await records.turns(id))
          if (usage !== undefined && endedAt >= since && endedAt < startedAt) usd += usdOf(usage, policy);
      }
      if (day === since && Number.isFinite(usd)) earlier = usd;
    },
  };
}

/** Of the local day. */
function midnightBefore(wall: number): number {
  const date = new Date(wall);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}
