import { isObject, type JsonObject, parseJson } from '../../core/json.ts';
import { type LineRemark, MOST_NOTES } from './foreign-note.ts';

interface JsonEntry {
  /** The line on which it begins, from 1. */
  readonly line: number;
  readonly value: JsonObject;
}

interface JsonEntries {
  readonly entries: readonly JsonEntry[];
  readonly faults: readonly LineRemark[];
}

/** No memory is longer; a missing bracket must not cost a scan of the whole file. */
const LONGEST_ENTRY = 256 * 1024;
const LIST_END = 200;
/** The lists in which programs wrap their entries. */
const WRAPPED = /^\s*\{\s*"(?:results|memories|data|items)"\s*:\s*(?=\[)/;

/**
 * The objects of a JSON list, of a list under `results` or `memories`, or of JSON Lines, one by one: a broken object or the cut
 * end of a file costs that object alone. One pass over the text.
 */
export function readEntries(text: string): JsonEntries {
  const entries: JsonEntry[] = [];
  const faults: LineRemark[] = [];
  const lineOf = createLineCounter(text);
  let at = WRAPPED.exec(text)?.[0].length ?? 0;
  while (at < text.length && entries.length + faults.length < MOST_NOTES) {
    const start = text.indexOf('{', at);
    if (start < 0) break;
    const end = endOfObject(text, start);
    if (end === undefined) {
      // A lost quote or bracket hides where the object ends: the next one that begins a line is tried.
      faults.push({
        line: lineOf(start),
        why: 'is an entry that does not end: a quote or bracket is missing',
      });
      const next = /\n\s*\{/g;
      next.lastIndex = start + 1;
      const found = next.exec(text);
      if (found === null) break;
      at = next.lastIndex - 1;
      continue;
    }
    const value = parseJson(text.slice(start, end));
    if (isObject(value)) entries.push({ line: lineOf(start), value });
    else faults.push({ line: lineOf(start), why: 'is not valid JSON' });
    at = end;
    // What follows the list belongs to something else.
    if (/^\s*\]/.test(text.slice(at, at + LIST_END))) break;
  }
  const left = entries.length + faults.length < MOST_NOTES ? -1 : text.indexOf('{', at);
  if (left >= 0)
    faults.push({
      line: lineOf(left),
      why: `is behind the first ${MOST_NOTES} entries: the rest was not read; split the file`,
    });
  return { entries, faults };
}

/** The index behind an object; undefined when it does not end. */
function endOfObject(text: string, start: number): number | undefined {
  let depth = 0;
  let isString = false;
  for (let at = start; at < Math.min(text.length, start + LONGEST_ENTRY); at++) {
    const code = text.charCodeAt(at);
    if (isString) {
      if (code === 0x5c) at++;
      else if (code === 0x22) isString = false;
      // A JSON string has no line breaks: a quote is missing.
      else if (code === 0x0a) return undefined;
    } else if (code === 0x22) isString = true;
    else if (code === 0x7b || code === 0x5b) depth++;
    else if ((code === 0x7d || code === 0x5d) && --depth === 0) return at + 1;
  }
  return undefined;
}

/** The line of an index. Indices must not decrease. */
function createLineCounter(text: string): (index: number) => number {
  let line = 1;
  let at = 0;
  return (index) => {
    for (let next = text.indexOf('\n', at); next >= 0 && next < index; next = text.indexOf('\n', at)) {
      line++;
      at = next + 1;
    }
    return line;
  };
}
