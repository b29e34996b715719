import type { Records } from '../../core/records.ts';

const PAGE = 200;
const DAYS = 56;

/** When people worked through the gateway, milliseconds since the epoch, in order: the starts of their turns. */
export async function recordedActivity(records: Records, now: number): Promise<readonly number[]> {
  const since = now - DAYS * 86_400_000;
  const starts: number[] = [];
  for (let before: number | undefined; ; ) {
    const page = await records.sessions({ limit: PAGE, ...(before === undefined ? {} : { before }) });
    for (const { id, lastAt } of page) {
      if (lastAt < since) continue;
      const turns = await records.turns(id);
      starts.push(...turns.map(({ startedAt }) => startedAt).filter((at) => at >= since && at <= now));
    }
    const last = page.at(-1);
    if (last === undefined || last.lastAt < since || page.length < PAGE) break;
    before = last.lastAt;
  }
  return starts.sort((a, b) => a - b);
}
