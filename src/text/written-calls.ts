import type { Tool } from '../core/chat.ts';
import { firstJson, readBareCalls, readTaggedCall, type WrittenCall } from './read-call.ts';

export type WrittenPart = { readonly text: string } | { readonly call: WrittenCall };

/** Splits a reply into text and calls while it is written. */
export interface WrittenCallReader {
  push(text: string): readonly WrittenPart[];
  /** The reply is over. */
  end(): readonly WrittenPart[];
}

const OPEN = '<tool_call>';
const CLOSE = '</tool_call>';
const THINK_OPEN = '<think>';
const THINK_CLOSE = '</think>';
const FENCE = '```';
/** Llama and Mistral write these before calls in bare JSON. */
const PREFIXES = ['<|python_tag|>', '[TOOL_CALLS]'] as const;
const MARKS = [OPEN, THINK_OPEN, FENCE, ...PREFIXES] as const;
const MARK = /<tool_call>|<think>|```|<\|python_tag\|>|\[TOOL_CALLS\]|[{[]/g;
/** Fenced blocks of another language are code. */
const CALL_LANGUAGE = /^(?:json|jsonc|json5|tool|tool_call|tool_calls|tool_code|function|xml)?$/i;
const LINE_START = /\n[ \t]*$/;

/**
 * Finds tool calls in `<tool_call>` tags, in fenced JSON, and in JSON that begins a line. Text that cannot belong to a call is
 * given at once. Thoughts and other code blocks are text. Without a call, the texts together are exactly the reply.
 */
export function createWrittenCallReader(tools: readonly Tool[]): WrittenCallReader {
  let rest = '';
  /** Text is passed on up to here without a look at it. */
  let verbatim: string | undefined;
  let isLineStart = true;
  let isAfterCall = false;
  /** White space that goes with the next text, and is dropped before a call. */
  let space = '';
  let parts: WrittenPart[] = [];

  const say = (length: number): void => {
    const said = rest.slice(0, length);
    rest = rest.slice(length);
    if (said === '') return;
    isLineStart = LINE_START.test(`${isLineStart ? '\n' : '.'}${said}`);
    isAfterCall = false;
    const text = space + said;
    const kept = text.trimEnd();
    space = text.slice(kept.length);
    if (kept !== '') parts.push({ text: kept });
  };
  const call = (calls: readonly WrittenCall[], length: number): void => {
    parts.push(...calls.map((one) => ({ call: one })));
    rest = rest.slice(length);
    space = '';
    isLineStart = true;
    isAfterCall = true;
  };
  const pass = (length: number, until: string): void => {
    say(length);
    verbatim = until;
  };

  /** Reads on; false: more of the reply is needed. */
  const step = (isEnd: boolean): boolean => {
    if (isAfterCall) rest = rest.replace(/^[\s;,]+/, '');
    if (rest === '') return false;
    if (verbatim !== undefined) {
      const at = rest.indexOf(verbatim);
      say(at < 0 ? (isEnd ? rest.length : rest.length - openEnd(rest, [verbatim])) : at + verbatim.length);
      if (at >= 0) verbatim = undefined;
      return at >= 0;
    }
    const at = nextMark(rest, isLineStart);
    if (at === undefined) {
      say(isEnd ? rest.length : rest.length - openEnd(rest, MARKS));
      return false;
    }
    say(at);
    if (!isEnd && MARKS.some((mark) => mark !== rest && mark.startsWith(rest))) return false;
    if (rest.startsWith(OPEN)) return tagged(isEnd);
    if (rest.startsWith(THINK_OPEN)) pass(THINK_OPEN.length, THINK_CLOSE);
    else if (rest.startsWith(FENCE)) return fenced(isEnd);
    else return bare(isEnd);
    return true;
  };
  const tagged = (isEnd: boolean): boolean => {
    const ends = [rest.indexOf(CLOSE), rest.indexOf(OPEN, OPEN.length)].filter((one) => one >= 0);
    if (ends.length === 0 && !isEnd) return false;
    const end = Math.min(rest.length, ...ends);
    const next = rest.startsWith(CLOSE, end) ? end + CLOSE.length : end;
    const found = readTaggedCall(rest.slice(OPEN.length, end), tools);
    if (found === undefined) say(next);
    else call([found], next);
    return true;
  };
  const fenced = (isEnd: boolean): boolean => {
    const line = rest.indexOf('\n');
    const body = line < 0 ? '' : rest.slice(line + 1).trimStart();
    if (line < 0 || body === '') {
      if (isEnd) say(rest.length);
      return isEnd;
    }
    const isCandidate = CALL_LANGUAGE.test(rest.slice(FENCE.length, line).trim()) && /^[{[<]/.test(body);
    const found = isCandidate ? fencedCalls(body, tools, isEnd) : { calls: [], length: 0 };
    if (found === undefined) return false;
    if (found.calls.length > 0) call(found.calls, rest.length - body.length + found.length);
    else pass(line + 1, FENCE);
    return true;
  };
  const bare = (isEnd: boolean): boolean => {
    const prefix = PREFIXES.find((one) => rest.startsWith(one)) ?? '';
    const body = rest.slice(prefix.length).trimStart();
    const isOpen = /^(?:|\{\s*|\[\s*)$/.test(body);
    if (isOpen && !isEnd) return false;
    // Neither an object with a key nor a list of objects: a bracket in a sentence.
    if (isOpen || !/^(?:\{\s*["'“]|\[\s*\{)/.test(body)) {
      say(Math.max(1, prefix.length));
      return true;
    }
    const source = firstJson(body);
    if (source === '' && !isEnd) return false;
    const calls = source === '' ? [] : readBareCalls(source, tools);
    const length = rest.length - body.length + source.length;
    if (calls.length === 0) say(source === '' ? rest.length : length);
    else call(calls, length);
    return true;
  };
  const take = (isEnd: boolean): readonly WrittenPart[] => {
    parts = [];
    while (step(isEnd));
    return parts;
  };

  return {
    push: (text) => {
      rest += text;
      return take(false);
    },
    end: () => {
      const last = [...take(true)];
      return space === '' || isAfterCall ? last : [...last, { text: space }];
    },
  };
}

/** The next place where a call, a thought or a code block may begin. A bracket counts only where a line begins. */
function nextMark(text: string, isLineStart: boolean): number | undefined {
  for (const { index, 0: mark } of text.matchAll(MARK)) {
    if (mark.length > 1) return index;
    if (LINE_START.test(`${isLineStart ? '\n' : '.'}${text.slice(0, index)}`)) return index;
  }
  return undefined;
}

/** How many characters at the end of a text may be the beginning of a mark. */
function openEnd(text: string, marks: readonly string[]): number {
  const longest = Math.max(...marks.map(({ length }) => length)) - 1;
  for (let length = Math.min(longest, text.length); length > 0; length--) {
    const end = text.slice(-length);
    if (marks.some((mark) => mark.startsWith(end))) return length;
  }
  return 0;
}

/** The calls of a fenced block and where it ends; undefined when more of it is needed. */
function fencedCalls(
  body: string,
  tools: readonly Tool[],
  isEnd: boolean,
): { readonly calls: readonly WrittenCall[]; readonly length: number } | undefined {
  const none = { calls: [], length: 0 };
  const calls: WrittenCall[] = [];
  let at = 0;
  for (;;) {
    const left = body.slice(at);
    const gap = /^[\s;,]*/.exec(left)?.[0].length ?? 0;
    const next = left.slice(gap);
    if (next.startsWith(FENCE)) return { calls, length: at + gap + FENCE.length };
    if (next === '' || (FENCE.startsWith(next) && !isEnd)) return isEnd ? { calls, length: at } : undefined;
    if (OPEN.startsWith(next) && !isEnd) return undefined;
    const close = next.startsWith(OPEN) ? next.indexOf(CLOSE) : -1;
    const source = close >= 0 ? next.slice(0, close + CLOSE.length) : firstJson(next);
    if (source === '') return /^[{[]|^<tool_call>/.test(next) && !isEnd ? undefined : none;
    const tag = close >= 0 ? readTaggedCall(next.slice(OPEN.length, close), tools) : undefined;
    const found = close >= 0 ? (tag === undefined ? [] : [tag]) : readBareCalls(source, tools);
    if (found.length === 0) return none;
    calls.push(...found);
    at += gap + source.length;
  }
}
