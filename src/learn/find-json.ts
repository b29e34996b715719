import { type Json, parseJson } from '../core/json.ts';
import type { Fault } from '../core/learn.ts';

/** More than any reply needs; code that recurses over the value relies on this limit. */
const DEEPEST = 64;
const FENCE = /```\w{0,20}\s*(?=[[{])/;
const REASONING_END = '</think>';

/**
 * The first JSON value in a model's reply: the whole reply, a fenced block, or bare JSON between sentences. The first
 * position that looks like an object or a list decides. If that value is broken or cut off, that is the fault: values inside
 * or after it are not the answer. One pass over the text.
 */
export function findJson(reply: string): { readonly value: Json } | Fault {
  const text = withoutReasoning(reply).trim();
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

/** Some models put their reasoning into a leading tag; JSON in it is not the answer. */
function withoutReasoning(reply: string): string {
  if (!reply.trimStart().startsWith('<think>')) return reply;
  const end = reply.indexOf(REASONING_END);
  return end < 0 ? reply : reply.slice(end + REASONING_END.length);
}

/** Where JSON begins, as opposed to a bracket in a sentence. */
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
