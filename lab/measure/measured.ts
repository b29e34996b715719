/*
 * A bench whose denominator is empty, or whose questions were answered by another engine than the one it names, measures something
 * else than it says. It ends with 1 and a sentence instead of a number.
 */

/** How many questions each engine answered, by the engine's name. */
export interface EngineCounts {
  add(engine: string, count?: number): void;
  readonly byEngine: ReadonlyMap<string, number>;
}

export function createEngineCounts(): EngineCounts {
  const byEngine = new Map<string, number>();
  return {
    byEngine,
    add: (engine, count = 1) => {
      if (count > 0) byEngine.set(engine, (byEngine.get(engine) ?? 0) + count);
    },
  };
}

/** What was counted between two readings. */
export function enginesBetween(before: EngineCounts, after: EngineCounts): EngineCounts {
  const counts = createEngineCounts();
  for (const [engine, count] of after.byEngine)
    counts.add(engine, count - (before.byEngine.get(engine) ?? 0));
  return counts;
}

/** Where nothing had to be compared, because no lesson was in scope. */
export const NO_ENGINE = 'none';

/** `answered by minilm-l6-v2/384 (80)`, for a report. */
export function describeEngines(counts: Readonly<Record<string, number>>): string {
  const named = Object.entries(counts).map(([engine, count]) => `${engine} (${count})`);
  return named.length === 0 ? 'answered without a comparison' : `answered by ${named.join(', ')}`;
}

/** Undefined when there is something to take a share of. */
export const findEmptyCount = (name: string, count: number): string | undefined =>
  count > 0 ? undefined : `There is no ${name}: a share of nothing is no result.`;

/** Undefined when an expected engine answered every question that needed one. */
export function findOtherEngine(
  expected: string | readonly string[],
  { byEngine }: EngineCounts,
): string | undefined {
  const named = [expected].flat();
  const others = [...byEngine].filter(([engine]) => !named.includes(engine) && engine !== NO_ENGINE);
  const all = [...byEngine.values()].reduce((sum, count) => sum + count, 0);
  const [other] = others;
  if (other === undefined) return undefined;
  const wrong = others.reduce((sum, [, count]) => sum + count, 0);
  return `${wrong} of ${all} questions were answered by ${other[0]}, not by ${named.join(' or ')}: the numbers would be of another engine.`;
}

export function requireSome(name: string, count: number): void {
  endIf(findEmptyCount(name, count));
}

/** For a bench that has lessons to compare: fails when nothing was compared, too. */
export function requireComparison(expected: string | readonly string[], counts: EngineCounts): void {
  requireSome(
    'task that was compared with lessons',
    [...counts.byEngine.values()].reduce((sum, count) => sum + count, 0),
  );
  requireEngine(expected, counts);
}

export function requireEngine(expected: string | readonly string[], counts: EngineCounts): void {
  endIf(findOtherEngine(expected, counts));
}

function endIf(fault: string | undefined): void {
  if (fault === undefined) return;
  process.stderr.write(`${fault}\n`);
  process.exit(1);
}
