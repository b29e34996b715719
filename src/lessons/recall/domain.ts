import type { Lesson } from '../../core/lesson.ts';
import type { Domain, RecallQuery } from '../../core/recall.ts';
import { matchesPattern } from '../scope.ts';
import { searchTerms } from './bm25-index.ts';

/** Assigns a domain by agent, project, run kind and keywords: all given fields must match, and one of the keywords. */
export interface DomainPattern {
  readonly domain: string;
  readonly agent?: string;
  readonly project?: string;
  readonly runKind?: string;
  readonly keywords?: readonly string[];
}

/** The centroid of the vectors of all lessons with the same label. */
export interface DomainCentroids {
  add(label: string, vector: Float32Array): void;
  remove(label: string, vector: Float32Array): void;
  /** The label nearest to a query, when it is near and clearly nearer than the second. */
  nearest(query: Float32Array): string | undefined;
}

interface Middle {
  readonly sum: Float64Array;
  count: number;
}

const GENERAL = 'general';
/** Fewer lessons do not make a domain. */
const FEWEST = 3;
const NEAR = 0.35;
const MARGIN = 0.05;
/** Sums of integers do not depend on the order, so that removing is the exact inverse of adding. */
const WHOLE = 2 ** 20;

/** The domain that a header or a pattern names. */
export function namedDomain(
  query: RecallQuery,
  text: string,
  patterns: readonly DomainPattern[],
): Domain | undefined {
  if (query.domain !== undefined && query.domain !== '') return { name: query.domain, reason: 'header' };
  const terms = patterns.length === 0 ? new Set<string>() : allTerms(text);
  const pattern = patterns.find((one) => fitsQuery(one, query, terms));
  return pattern && { name: pattern.domain, reason: 'pattern' };
}

/** The domain nearest to the query, when none was named. */
export function guessedDomain(middles: DomainCentroids, query: Float32Array | undefined): Domain {
  const label = query && middles.nearest(query);
  return label === undefined ? { name: GENERAL, reason: 'default' } : { name: label, reason: 'nearest' };
}

/** The domain, or else the category, that a lesson's vector counts towards. */
export function domainLabel({ text }: Lesson): string | undefined {
  const { domain } = text.scope;
  return domain === undefined || domain.includes('*') ? text.category : domain;
}

export function createDomainCentroids(): DomainCentroids {
  const middles = new Map<string, Middle>();
  const change = (label: string, vector: Float32Array, by: 1 | -1): void => {
    const middle = middles.get(label) ?? { sum: new Float64Array(vector.length), count: 0 };
    middle.count += by;
    for (const [at, value] of vector.entries())
      middle.sum[at] = (middle.sum[at] ?? 0) + by * Math.round(value * WHOLE);
    if (middle.count > 0) middles.set(label, middle);
    else middles.delete(label);
  };
  return {
    add: (label, vector) => change(label, vector, 1),
    remove: (label, vector) => change(label, vector, -1),
    nearest: (query) => {
      const near = [...middles]
        .filter(([, middle]) => middle.count >= FEWEST)
        .map(([label, middle]) => ({ label, score: cosine(middle.sum, query) }))
        .sort((a, b) => b.score - a.score || (a.label < b.label ? -1 : 1));
      const [first, second] = near;
      if (first === undefined || first.score < NEAR) return undefined;
      return first.score - (second?.score ?? 0) >= MARGIN ? first.label : undefined;
    },
  };
}

function fitsQuery(pattern: DomainPattern, query: RecallQuery, terms: ReadonlySet<string>): boolean {
  const fits = (wanted: string | undefined, value: string | undefined): boolean =>
    wanted === undefined || matchesPattern(wanted, value ?? '');
  return (
    fits(pattern.agent, query.agent) &&
    (fits(pattern.project, query.project) || fits(pattern.project, query.projectLabel)) &&
    fits(pattern.runKind, query.runKind) &&
    (pattern.keywords === undefined ||
      pattern.keywords.some((keyword) => [...allTerms(keyword)].every((term) => terms.has(term))))
  );
}

const allTerms = (text: string): ReadonlySet<string> => {
  const { words, names } = searchTerms(text);
  return new Set([...words, ...names]);
};

function cosine(sum: Float64Array, query: Float32Array): number {
  let dot = 0;
  let square = 0;
  for (const [at, value] of sum.entries()) {
    dot += value * (query[at] ?? 0);
    square += value * value;
  }
  return square === 0 ? 0 : dot / Math.sqrt(square);
}
