import type { Condition, Row } from '../row.ts';

/** What a condition took: totals, and what a question took on average. */
export interface Cost {
  readonly condition: Condition;
  readonly questions: number;
  readonly usd: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly steps: number;
  readonly ms: number;
  /** Outside the policy: what learning and the gateway add. */
  readonly overheadMs: { readonly total: number; readonly median: number; readonly p95: number };
}

/** Questions that could not be graded were paid for too. */
export function costOf(condition: Condition, rows: readonly Row[]): Cost {
  const total = (of: (row: Row) => number): number => rows.reduce((all, row) => all + of(row), 0);
  const overheads = rows.map(({ overheadMs }) => overheadMs).sort((a, b) => a - b);
  const at = (share: number): number => overheads[Math.max(0, Math.ceil(share * overheads.length) - 1)] ?? 0;
  return {
    condition,
    questions: rows.length,
    usd: total(({ usd }) => usd),
    inputTokens: total(({ inputTokens }) => inputTokens),
    outputTokens: total(({ outputTokens }) => outputTokens),
    steps: total(({ steps }) => steps),
    ms: total(({ ms }) => ms),
    overheadMs: { total: total(({ overheadMs }) => overheadMs), median: at(0.5), p95: at(0.95) },
  };
}
