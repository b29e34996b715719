import type { StoredFact } from '../../core/fact.ts';
import { compact, type JsonObject } from '../../core/json.ts';
import type { Lesson } from '../../core/lesson.ts';
import type { FoldedType, Records } from '../../core/store.ts';
import { eachFactOf } from '../each-fact.ts';

/** Clocks step back a little: a cycle ends within this time before or after it published its lesson. */
const CLOCK_STEP_MS = 60_000;

/** What a model was paid for a lesson: the cycles that wrote it, each shared with the other lessons of it. Undefined without a model. */
export async function costOfLesson(lesson: Lesson, records: Records): Promise<JsonObject | undefined> {
  if (lesson.text.evidence.model === undefined) return undefined;
  const from = lesson.createdAt - CLOCK_STEP_MS;
  let [usd, tokens, unpricedTokens] = [0, 0, 0];
  for (const { fact } of await readSince('cycle-end', await seqBefore(from, records), from, records)) {
    if (fact.type !== 'cycle-end' || !fact.judgements.some((one) => one.lesson === lesson.id)) continue;
    const share = 1 / fact.judgements.length;
    usd += fact.cost.usd * share;
    tokens += Math.round((fact.cost.inputTokens + fact.cost.outputTokens) * share);
    unpricedTokens += fact.cost.unpricedTokens ?? 0;
  }
  return tokens === 0 ? undefined : compact({ usd: unpricedTokens > 0 ? undefined : usd, tokens });
}

/** The newest fact before a time, by bisection: facts are in the order of their times but for small steps of the clock. */
export async function seqBefore(from: number, records: Pick<Records, 'facts' | 'totals'>): Promise<number> {
  let low = 0;
  let high = (await records.totals()).facts;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [next] = await records.facts(middle, 1);
    if (next !== undefined && next.at < from) low = Math.max(middle + 1, next.seq);
    else high = middle;
  }
  return low;
}

export async function readSince(
  type: FoldedType,
  before: number,
  from: number,
  records: Pick<Records, 'factsOf'>,
): Promise<readonly StoredFact[]> {
  const facts: StoredFact[] = [];
  await eachFactOf(
    type,
    records,
    (stored) => {
      if (stored.at >= from) facts.push(stored);
    },
    before,
  );
  return facts;
}

/** What learning cycles cost together. */
export function sumCost(cycles: readonly StoredFact[]): JsonObject {
  let [calls, tokens, unpricedTokens, usd, runs] = [0, 0, 0, 0, 0];
  for (const { fact } of cycles) {
    if (fact.type !== 'cycle-end') continue;
    runs++;
    calls += fact.cost.calls;
    tokens += fact.cost.inputTokens + fact.cost.outputTokens;
    usd += fact.cost.usd;
    unpricedTokens += fact.cost.unpricedTokens ?? 0;
  }
  return { runs, calls, tokens, unpricedTokens, usd };
}
