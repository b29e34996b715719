import { asArray, isObject, type Json } from '../../core/json.ts';
import type { Fault, Proposal } from '../../core/learn.ts';
import { readQuotes } from '../evolver/find-quote.ts';
import { oneLine, visibleText } from '../plain-text.ts';

/** The note that a model extracted from a session. */
export interface Extraction {
  /** The situation, worded to follow "When". */
  readonly pattern: string;
  readonly keywords: readonly string[];
  readonly insight: string;
  readonly quotes: Proposal['quotes'];
}

const SHORTEST_PATTERN = 8;
const LONGEST_PATTERN = 240;
const SHORTEST_INSIGHT = 20;
const LONGEST_INSIGHT = 1500;
const MOST_LINES = 12;
const MOST_KEYWORDS = 12;
const LONGEST_KEYWORD = 40;
const MOST_QUOTES = 8;

/** Undefined when the model found nothing to learn. Never throws. */
export function readExtraction(value: Json): Extraction | undefined | Fault {
  const note = noteOf(value);
  if (note === undefined || (isObject(note) && isNothing(note))) return undefined;
  if (!isObject(note)) return { fault: 'it must be one JSON object' };
  if (Object.hasOwn(note, '__proto__') || Object.hasOwn(note, 'constructor'))
    return { fault: 'it has a forbidden field' };
  const { pattern, insight, keywords } = note;
  const why = wrongPattern(pattern) ?? wrongInsight(insight) ?? wrongKeywords(keywords);
  if (why !== undefined) return { fault: why };
  return {
    pattern: bare(String(pattern)),
    insight: String(insight).replace(/\r\n?/g, '\n').trim(),
    keywords: cleanKeywords(keywords),
    quotes: readQuotes(note.quotes, MOST_QUOTES),
  };
}

/** Some models wrap the note in a list. */
const noteOf = (value: Json): Json | undefined => {
  if (value === null) return undefined;
  if (!Array.isArray(value)) return value;
  return value.length < 2 ? (value[0] ?? undefined) : 'several';
};

const isNothing = (note: {
  readonly pattern?: Json | undefined;
  readonly insight?: Json | undefined;
}): boolean =>
  (note.pattern === null || note.pattern === '' || note.pattern === undefined) &&
  (note.insight === null || note.insight === '' || note.insight === undefined);

function wrongPattern(pattern: Json | undefined): string | undefined {
  if (typeof pattern !== 'string') return '"pattern" must be text';
  const length = pattern.length > 2 * LONGEST_PATTERN ? pattern.length : bare(pattern).length;
  if (length < SHORTEST_PATTERN || length > LONGEST_PATTERN)
    return `"pattern" must have ${SHORTEST_PATTERN} to ${LONGEST_PATTERN} characters`;
  return isHiding(pattern) || /[\n\t]/.test(pattern.trim())
    ? '"pattern" must be one line of visible characters'
    : undefined;
}

function wrongInsight(insight: Json | undefined): string | undefined {
  if (typeof insight !== 'string') return '"insight" must be text';
  const text = insight.trim();
  if (text.length < SHORTEST_INSIGHT || text.length > LONGEST_INSIGHT)
    return `"insight" must have ${SHORTEST_INSIGHT} to ${LONGEST_INSIGHT} characters`;
  if (text.split('\n').length > MOST_LINES) return `"insight" must have at most ${MOST_LINES} lines`;
  return isHiding(text) ? '"insight" must hold visible characters only' : undefined;
}

const wrongKeywords = (keywords: Json | undefined): string | undefined =>
  Array.isArray(keywords) && keywords.every((word) => typeof word === 'string')
    ? undefined
    : '"keywords" must be a list of words';

const cleanKeywords = (keywords: Json | undefined): readonly string[] => {
  const words = asArray(keywords).map((word) => oneLine(String(word)).toLowerCase());
  return [...new Set(words)]
    .filter((word) => word !== '' && word.length <= LONGEST_KEYWORD)
    .slice(0, MOST_KEYWORDS);
};

const isHiding = (text: string): boolean => visibleText(text) !== text.replace(/\r\n?/g, '\n');

/** Without "When" and the full stop, which the description adds. */
const bare = (pattern: string): string =>
  pattern
    .trim()
    .replace(/^when(?:ever)?\s+/i, '')
    .replace(/[.!\s]+$/, '');
