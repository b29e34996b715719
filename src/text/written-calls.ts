import type { Tool } from '../core/chat.ts';
import { firstJson, readBareCalls, readTaggedCall, type WrittenCall } from './read-call.ts';

export type WrittenPart = { readonly text: string } | { readonly call: WrittenCall };

/** Splits a reply into text and calls while it is written. */
interface WrittenCallReader {
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

interface ReplyState {
  readonly tools: readonly Tool[];
  /** What was pushed and is not read yet. */
  rest: string;
  /** Text is passed on up to here without a look at it. */
  verbatim: string | undefined;
  isLineStart: boolean;
  isAfterCall: boolean;
  /** White space that goes with the next text, and is dropped before a call. */
  space: string;
  parts: WrittenPart[];
}

/**
 * Finds tool calls in `<tool_call>` tags, in fenced JSON, and in JSON that begins a line. Text that cannot belong to a call is
 * given at once. Thoughts and other code blocks are text. Without a call, the texts together are exactly the reply.
 */
export function createWrittenCallReader(tools: readonly Tool[]): WrittenCallReader {
  const state: ReplyState = {
    tools,
    rest: '',
    verbatim: undefined,
    isLineStart: true,
    isAfterCall: false,
    space: '',
    parts: [],
  };
  const take = (isEnd: boolean): readonly WrittenPart[] => {
    state.parts = [];
    while (readPart(state, isEnd));
    return state.parts;
  };
  return {
    push: (text) => {
      state.rest += text;
      return take(false);
    },
    end: () => {
      const last = [...take(true)];
      return state.space === '' || state.isAfterCall ? last : [...last, { text: state.space }];
    },
  };
}

/** Gives this much of the rest as text. */
function addText(state: ReplyState, length: number): void {
  const given = state.rest.slice(0, length);
  state.rest = state.rest.slice(length);
  if (given === '') return;
  state.isLineStart = LINE_START.test(`${state.isLineStart ? '\n' : '.'}${given}`);
  state.isAfterCall = false;
  const whole = state.space + given;
  const text = whole.trimEnd();
  state.space = whole.slice(text.length);
  if (text !== '') state.parts.push({ text });
}

/** Gives calls instead of this much of the rest. */
function addCalls(state: ReplyState, calls: readonly WrittenCall[], length: number): void {
  state.parts.push(...calls.map((call) => ({ call })));
  state.rest = state.rest.slice(length);
  state.space = '';
  state.isLineStart = true;
  state.isAfterCall = true;
}

function passUntil(state: ReplyState, length: number, mark: string): void {
  addText(state, length);
  state.verbatim = mark;
}

/** Reads on; false: more of the reply is needed. So do the functions below. */
function readPart(state: ReplyState, isEnd: boolean): boolean {
  if (state.isAfterCall) state.rest = state.rest.replace(/^[\s;,]+/, '');
  if (state.rest === '') return false;
  if (state.verbatim !== undefined) return readVerbatim(state, state.verbatim, isEnd);
  const at = nextMark(state.rest, state.isLineStart);
  if (at === undefined) {
    addText(state, isEnd ? state.rest.length : state.rest.length - openEnd(state.rest, MARKS));
    return false;
  }
  addText(state, at);
  const { rest } = state;
  if (!isEnd && MARKS.some((mark) => mark !== rest && mark.startsWith(rest))) return false;
  if (rest.startsWith(OPEN)) return readTagged(state, isEnd);
  if (rest.startsWith(FENCE)) return readFenced(state, isEnd);
  if (!rest.startsWith(THINK_OPEN)) return readBare(state, isEnd);
  passUntil(state, THINK_OPEN.length, THINK_CLOSE);
  return true;
}

function readVerbatim(state: ReplyState, mark: string, isEnd: boolean): boolean {
  const { rest } = state;
  const at = rest.indexOf(mark);
  if (at < 0) {
    addText(state, isEnd ? rest.length : rest.length - openEnd(rest, [mark]));
    return false;
  }
  addText(state, at + mark.length);
  state.verbatim = undefined;
  return true;
}

function readTagged(state: ReplyState, isEnd: boolean): boolean {
  const { rest, tools } = state;
  const ends = [rest.indexOf(CLOSE), rest.indexOf(OPEN, OPEN.length)].filter((one) => one >= 0);
  if (ends.length === 0 && !isEnd) return false;
  const end = Math.min(rest.length, ...ends);
  const next = rest.startsWith(CLOSE, end) ? end + CLOSE.length : end;
  const call = readTaggedCall(rest.slice(OPEN.length, end), tools);
  if (call === undefined) addText(state, next);
  else addCalls(state, [call], next);
  return true;
}

function readFenced(state: ReplyState, isEnd: boolean): boolean {
  const { rest, tools } = state;
  const line = rest.indexOf('\n');
  const body = line < 0 ? '' : rest.slice(line + 1).trimStart();
  if (line < 0 || body === '') {
    if (isEnd) addText(state, rest.length);
    return isEnd;
  }
  const isCandidate = CALL_LANGUAGE.test(rest.slice(FENCE.length, line).trim()) && /^[{[<]/.test(body);
  const block = isCandidate ? fencedCalls(body, tools, isEnd) : { calls: [], length: 0 };
  if (block === undefined) return false;
  if (block.calls.length > 0) addCalls(state, block.calls, rest.length - body.length + block.length);
  else passUntil(state, line + 1, FENCE);
  return true;
}

function readBare(state: ReplyState, isEnd: boolean): boolean {
  const { rest, tools } = state;
  const prefix = PREFIXES.find((one) => rest.startsWith(one)) ?? '';
  const body = rest.slice(prefix.length).trimStart();
  const isOpen = /^(?:|\{\s*|\[\s*)$/.test(body);
  if (isOpen && !isEnd) return false;
  // Neither an object with a key nor a list of objects: a bracket in a sentence.
  if (isOpen || !/^(?:\{\s*["'“]|\[\s*\{)/.test(body)) {
    addText(state, Math.max(1, prefix.length));
    return true;
  }
  const source = firstJson(body);
  if (source === '' && !isEnd) return false;
  const calls = source === '' ? [] : readBareCalls(source, tools);
  const length = rest.length - body.length + source.length;
  if (calls.length === 0) addText(state, source === '' ? rest.length : length);
  else addCalls(state, calls, length);
  return true;
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
    const read = close >= 0 ? (tag === undefined ? [] : [tag]) : readBareCalls(source, tools);
    if (read.length === 0) return none;
    calls.push(...read);
    at += gap + source.length;
  }
}
