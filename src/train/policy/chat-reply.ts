import type { Tool } from '../../core/chat.ts';
import { asObject, asString, isObject, type Json, type JsonObject, parseJson } from '../../core/json.ts';
import type { PolicyReply } from '../../core/training.ts';

const THINK_OPEN = '<think>';
const THINK_CLOSE = '</think>';
/** Special tokens that are part of the reply; other special tokens are skipped. */
export const SPEAKING_MARKS: ReadonlySet<string> = new Set([
  THINK_OPEN,
  THINK_CLOSE,
  '<tool_call>',
  '</tool_call>',
  '<|python_tag|>',
  '[TOOL_CALLS]',
]);

interface ReplyText {
  readonly text: string;
  /** The prompt ended inside a thought: templates open one for models that always think. */
  readonly isThinking: boolean;
  readonly tools: readonly Tool[];
}

/** A reply without the model's thoughts, split into text and calls. */
export function readChatReply({ text, isThinking, tools }: ReplyText): PolicyReply {
  const said = splitCalls(withoutThoughts(isThinking ? THINK_OPEN + text : text), tools);
  return { text: said.text.replaceAll('<|python_tag|>', '').trim(), calls: said.calls };
}

function withoutThoughts(text: string): string {
  const [open, close] = [text.indexOf(THINK_OPEN), text.indexOf(THINK_CLOSE)];
  // The thought was opened in the prompt.
  let rest = close >= 0 && (open < 0 || close < open) ? text.slice(close + THINK_CLOSE.length) : text;
  let said = '';
  for (let at = rest.indexOf(THINK_OPEN); at >= 0; at = rest.indexOf(THINK_OPEN)) {
    said += rest.slice(0, at);
    const end = rest.indexOf(THINK_CLOSE, at);
    rest = end < 0 ? '' : rest.slice(end + THINK_CLOSE.length);
  }
  return said + rest;
}

type Call = PolicyReply['calls'][number];

const OPEN = '<tool_call>';
const CLOSE = '</tool_call>';
/** Prefixes of calls without tags. */
const BARE = /^\s*(?:<\|python_tag\|>|\[TOOL_CALLS\])?\s*/;

/**
 * The tool calls in a reply, and the text around them: `<tool_call>{"name", "arguments"}</tool_call>` (Hermes, Qwen), the same
 * with `<function=name><parameter=key>` inside (Qwen Coder), or a reply that consists only of such JSON (Llama, Mistral). A
 * call with broken JSON still counts when its name can be read; its arguments stay as written.
 */
function splitCalls(reply: string, tools: readonly Tool[]): PolicyReply {
  if (tools.length === 0) return { text: reply, calls: [] };
  const bare = readBareCalls(reply.replace(BARE, ''), tools);
  if (bare.length > 0) return { text: '', calls: bare };
  const calls: Call[] = [];
  let text = '';
  let at = 0;
  for (let open = reply.indexOf(OPEN); open >= 0; open = reply.indexOf(OPEN, at)) {
    const start = open + OPEN.length;
    const ends = [reply.indexOf(CLOSE, start), reply.indexOf(OPEN, start)].filter((end) => end >= 0);
    const end = Math.min(reply.length, ...ends);
    const next = reply.startsWith(CLOSE, end) ? end + CLOSE.length : end;
    const call = readCall(reply.slice(start, end), tools);
    text += reply.slice(at, call === undefined ? next : open);
    if (call !== undefined) calls.push(call);
    at = next;
  }
  return { text: text + reply.slice(at), calls };
}

function readCall(block: string, tools: readonly Tool[]): Call | undefined {
  const value = parseJson(block);
  if (isObject(value)) return callIn(value, block);
  return readFunctionTag(block, tools) ?? readBroken(block);
}

function callIn(value: JsonObject, source: string): Call | undefined {
  const call = isObject(value.function) ? value.function : value;
  const name = asString(call.name);
  if (name === undefined || name === '') return undefined;
  const given = call.arguments ?? call.parameters ?? {};
  return { name, arguments: asString(given) ?? asWritten(given, source) };
}

const ARGUMENTS = /"(?:arguments|parameters)"\s*:\s*/;

/** The model's own characters: parsing would lose digits of numbers. */
function asWritten(value: Json, source: string): string {
  const key = ARGUMENTS.exec(source);
  const written = key === null ? '' : firstObject(source.slice(key.index + key[0].length));
  const isSame = JSON.stringify(parseJson(written)) === JSON.stringify(value);
  return isSame ? written : JSON.stringify(value);
}

function readBroken(block: string): Call | undefined {
  const [, name = ''] = /"name"\s*:\s*"([^"\\\n]+)"/.exec(block) ?? [];
  const key = ARGUMENTS.exec(block);
  if (name === '' || key === null) return undefined;
  const rest = block.slice(key.index + key[0].length).trim();
  return { name, arguments: firstObject(rest) || rest };
}

/** `<function=name>` with its parameters in tags. A parameter that the tool declares as a string stays a string. */
function readFunctionTag(block: string, tools: readonly Tool[]): Call | undefined {
  const [, name] = /<function=([^>\n]+)>/.exec(block) ?? [];
  if (name === undefined) return undefined;
  const declared = asObject(tools.find((tool) => tool.name === name)?.parameters.properties);
  const values = [...block.matchAll(/<parameter=([^>\n]+)>\n?([\s\S]*?)\n?<\/parameter>/g)].map(
    ([, key = '', text = '']): [string, Json] => {
      const isText = asObject(declared[key]).type === 'string';
      return [key, isText ? text : (parseJson(text) ?? text)];
    },
  );
  return { name, arguments: JSON.stringify(Object.fromEntries(values)) };
}

/** Only calls of offered tools count: a JSON answer is not a call. */
function readBareCalls(text: string, tools: readonly Tool[]): readonly Call[] {
  const calls: Call[] = [];
  const list = parseJson(text);
  if (Array.isArray(list)) {
    const read = list.map((one: Json) => (isObject(one) ? callIn(one, JSON.stringify(one)) : undefined));
    calls.push(...read.filter((call) => call !== undefined));
    if (calls.length < list.length) return [];
  } else {
    for (let rest = text; rest !== ''; ) {
      const source = firstObject(rest);
      const value = parseJson(source);
      const call = isObject(value) ? callIn(value, source) : undefined;
      if (call === undefined) return [];
      calls.push(call);
      rest = rest.slice(source.length).replace(/^[\s;,]+/, '');
    }
  }
  return calls.every(({ name }) => tools.some((tool) => tool.name === name)) ? calls : [];
}

/** The JSON object or array at the start of a text, by its brackets; empty when there is none or it is incomplete. */
function firstObject(text: string): string {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (sign === '"') {
      for (at++; at < text.length && text[at] !== '"'; at++) if (text[at] === '\\') at++;
    } else if (sign === '{' || sign === '[') depth++;
    else if (sign === '}' || sign === ']') depth--;
    if (depth <= 0) return at === 0 ? '' : text.slice(0, at + 1);
  }
  return '';
}
