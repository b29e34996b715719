import type { Tool } from '../core/chat.ts';
import { asObject, asString, isObject, type Json, type JsonObject, parseJson } from '../core/json.ts';
import { readLooseJson, TooDeepError } from './loose-json.ts';

/** A tool call that a model wrote as text. */
export interface WrittenCall {
  readonly name: string;
  /** As the model wrote them; they may be malformed. */
  readonly arguments: string;
}

const NAMES = ['name', 'tool', 'tool_name', 'function', 'action'] as const;
const ARGUMENTS = ['arguments', 'parameters', 'args', 'input', 'tool_input', 'action_input'] as const;
const ARGUMENTS_KEY = /"(?:arguments|parameters|args|input|tool_input|action_input)"\s*:\s*/;

/**
 * The call between two tags: `{"name", "arguments"}` (Hermes, Qwen), or `<function=name><parameter=key>` (Qwen Coder). A call
 * with broken JSON still counts when its name can be read; its arguments stay as written.
 */
export function readTaggedCall(block: string, tools: readonly Tool[]): WrittenCall | undefined {
  const value = parseJson(block);
  if (isObject(value)) return callIn(value, block, tools);
  return readFunctionTag(block, tools) ?? readBroken(block, tools);
}

/**
 * The calls that a JSON object or list stands for. Only calls of offered tools count, and a list only when all of its members
 * are such calls: an answer in JSON is not a call.
 */
export function readBareCalls(source: string, tools: readonly Tool[]): readonly WrittenCall[] {
  const value = parseJson(source) ?? looseValue(source);
  const listed = isObject(value) ? (value.tool_calls ?? value) : value;
  const members: readonly Json[] = Array.isArray(listed) ? listed : isObject(listed) ? [listed] : [];
  const isList = Array.isArray(listed);
  const calls = members.flatMap((member) => {
    const call = isObject(member)
      ? callIn(member, isList ? JSON.stringify(member) : source, tools)
      : undefined;
    return call !== undefined && tools.some(({ name }) => name === call.name) ? [call] : [];
  });
  return calls.length === members.length ? calls : [];
}

function looseValue(source: string): Json | undefined {
  try {
    const read = readLooseJson(source, 0);
    return read === undefined || read.isCut ? undefined : read.value;
  } catch (error) {
    if (error instanceof TooDeepError) return undefined;
    throw error;
  }
}

function callIn(value: JsonObject, source: string, tools: readonly Tool[]): WrittenCall | undefined {
  const call = isObject(value.function) ? value.function : value;
  const name = NAMES.flatMap((key) => asString(call[key]) ?? [])[0];
  if (name === undefined || name === '') return undefined;
  const given = ARGUMENTS.flatMap((key) => (call[key] === undefined ? [] : [call[key]]))[0] ?? {};
  return { name: offeredName(name, tools), arguments: asString(given) ?? asWritten(given, source) };
}

/** Some models write the name of a tool with other capitals. */
function offeredName(name: string, tools: readonly Tool[]): string {
  if (tools.some((tool) => tool.name === name)) return name;
  const alike = tools.filter((tool) => tool.name.toLowerCase() === name.toLowerCase());
  return alike.length === 1 ? (alike[0]?.name ?? name) : name;
}

/** The model's own characters: parsing would lose digits of numbers. */
function asWritten(value: Json, source: string): string {
  const key = ARGUMENTS_KEY.exec(source);
  const written = key === null ? '' : firstJson(source.slice(key.index + key[0].length));
  const isSame = JSON.stringify(parseJson(written)) === JSON.stringify(value);
  return isSame ? written : JSON.stringify(value);
}

function readBroken(block: string, tools: readonly Tool[]): WrittenCall | undefined {
  const [, name = ''] = /"name"\s*:\s*"([^"\\\n]+)"/.exec(block) ?? [];
  const key = ARGUMENTS_KEY.exec(block);
  if (name === '' || key === null) return undefined;
  const rest = block.slice(key.index + key[0].length).trim();
  return { name: offeredName(name, tools), arguments: firstJson(rest) || rest };
}

/** `<function=name>` with its parameters in tags. A parameter that the tool declares as a string stays a string. */
function readFunctionTag(block: string, tools: readonly Tool[]): WrittenCall | undefined {
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

/** The JSON object or list at the start of a text, by its brackets; empty when there is none or it is incomplete. */
export function firstJson(text: string): string {
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
