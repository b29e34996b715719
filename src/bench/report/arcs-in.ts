import type { ConditionSummary } from './summarise.ts';

/** Every arc that a condition has, in the order of the one that has most; conditions cut short have only the first. */
export function arcsIn(conditions: readonly ConditionSummary[]): readonly string[] {
  const [longest] = [...conditions].sort((a, b) => b.arcs.length - a.arcs.length);
  return [...new Set([longest, ...conditions].flatMap((each) => each?.arcs.map(({ arc }) => arc) ?? []))];
}
