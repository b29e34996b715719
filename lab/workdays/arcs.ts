import type { SuiteRule } from '../suite/suite.ts';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/**
 * The learning arc of each day: a new one wherever rules begin to count, and a last one, the later half of what
 * remains after the last rule, in which all of them hold together. Five rules make six arcs.
 */
export function arcsOf(rules: readonly Pick<SuiteRule, 'id' | 'since'>[], days: number): readonly string[] {
  const starts = [...new Set(rules.map(({ since }) => since))]
    .filter((since) => since < days)
    .sort((x, y) => x - y);
  const last = starts.at(-1);
  const together = last === undefined ? 0 : last + Math.max(1, Math.floor((days - last) / 2));
  return Array.from({ length: days }, (_, day) => {
    const begun = starts.filter((since) => since <= day).length;
    if (last !== undefined && day >= together) return `${LETTERS[starts.length] ?? 'Z'}: all rules together`;
    if (begun === 0) return 'before any rule';
    const since = starts[begun - 1];
    const ids = rules.filter((rule) => rule.since === since).map(({ id }) => id);
    return `${LETTERS[begun - 1] ?? 'Z'}: ${ids.join(', ')} begins`;
  });
}
