import { type Json, parseJson } from '../core/json.ts';
import type { Fault } from '../core/learn.ts';

/** More than any reply needs; what would recurse over a value may rely on it. */
const DEEPEST = 64;
const FENCE = /```\w{0,20}\s*(?=[[{])/;
const THOUGHT_END = '</think>';

/**
 * The first JSON value in what a model said: all of it, fenced, or bare between sentences. The first thing that begins
 * like an object or a list decides: when it is broken or cut off that is the fault, since what stands inside or behind
 * it is not what was asked for. One pass over the text.
 */
export function findJson(said: string): { readonly value: Json } | Fault {
  const text = afterThought(said).trim();
  if (text === '') return { fault: 'it is empty' };
  const scalar = /^[[{]/.test(text) ? undefined : parseJson(text);
  if (scalar !== undefined) return { value: scalar };
  const fence = FENCE.exec(text);
  const start = nextStart(text, fence === null ? 0 : fence.index + fence[0].length);
  if (start === undefined) return { fault: 'it holds no JSON' };
  const end = endOf(text, start);
  if (end === 'open') return { fault: 'its JSON is cut off before the end: answer shorter' };
  if (end === 'deep') return { fault: `its JSON is nested more than ${DEEPEST} levels deep` };
  try {
    return { value: JSON.parse(text.slice(start, end)) as Json };
  } catch (error) {
    return { fault: `its JSON does not parse: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** Models that think aloud do so in a leading tag; what they weighed there is not their answer. */
function afterThought(said: string): string {
  if (!said.trimStart().startsWith('<think>')) return said;
  const end = said.indexOf(THOUGHT_END);
  return end < 0 ? said : said.slice(end + THOUGHT_END.length);
}

/** Where something begins that is more than a bracket in a sentence. */
function nextStart(text: string, from: number): number | undefined {
  const start = /\{\s*["}]|\[\s*(?:[[{"\]\d-]|true|false|null)/g;
  start.lastIndex = from;
  return start.exec(text)?.index;
}

/** The index behind the bracket that closes the one at `start`. */
function endOf(text: string, start: number): number | 'open' | 'deep' {
  let depth = 0;
  let isText = false;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (isText) {
      if (char === '\\') at++;
      else if (char === '"') isText = false;
    } else if (char === '"') isText = true;
    else if (char === '[' || char === '{') {
      if (++depth > DEEPEST) return 'deep';
    } else if ((char === ']' || char === '}') && --depth === 0) return at + 1;
  }
  return 'open';
}
