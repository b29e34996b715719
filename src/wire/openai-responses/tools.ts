import type { ChatRequest, Tool } from '../../core/chat.ts';
import { asArray, asObject, asString, type Json, type JsonObject } from '../../core/json.ts';
import { optionalField, rejectField, requireArray, requireObject, requireString } from '../fields.ts';

type Value = Json | undefined;
type ToolChoice = NonNullable<ChatRequest['toolChoice']>;

/** The tools that the client runs; server-side tools (web_search, local_shell, …) have no counterpart. */
export function decodeResponsesTools(list: Value, path: string): Tool[] {
  return requireArray(list, path).flatMap((entry, n) => {
    const at = `${path}[${n}]`;
    const tool = requireObject(entry, at);
    if (tool.type !== 'namespace') return decodeTool(tool, at);
    const namespace = requireString(tool.name, `${at}.name`);
    return requireArray(tool.tools, `${at}.tools`).flatMap((inner, m) =>
      decodeTool(requireObject(inner, `${at}.tools[${m}]`), `${at}.tools[${m}]`, namespace),
    );
  });
}

function decodeTool(tool: JsonObject, at: string, namespace?: string): readonly Tool[] {
  if (tool.type !== 'function' && tool.type !== 'custom') return [];
  const name = joinQualifiedName({ name: requireString(tool.name, `${at}.name`), namespace });
  const description = describe(tool, at);
  const parameters = tool.type === 'custom' ? freeformParameters : decodeParameters(tool.parameters, at);
  return [{ name, ...(description === undefined ? {} : { description }), parameters }];
}

const decodeParameters = (parameters: Value, at: string): JsonObject =>
  optionalField(parameters, `${at}.parameters`, requireObject) ?? { type: 'object', properties: {} };

/** A freeform tool's grammar cannot be enforced on other wires, so it goes into the description. */
function describe(tool: JsonObject, at: string): string | undefined {
  const description = optionalField(tool.description, `${at}.description`, requireString);
  const { definition, syntax } = asObject(tool.format);
  if (tool.type !== 'custom' || typeof definition !== 'string') return description;
  const grammar = `The input must match this ${asString(syntax) ?? ''} grammar:\n${definition.trim()}`;
  return description ? `${description}\n\n${grammar}` : grammar;
}

/** The choice and the remaining tools: a list of allowed tools is translated by leaving out the others. */
export function decodeResponsesToolChoice(
  choice: Value,
  tools: readonly Tool[],
): { readonly tools: readonly Tool[]; readonly toolChoice: ToolChoice | undefined } {
  const allowed = asObject(choice).type === 'allowed_tools' ? asObject(choice) : undefined;
  if (!allowed) return { tools, toolChoice: tools.length === 0 ? undefined : decodeChoice(choice) };
  const names = new Set(asArray(allowed.tools).map((entry) => choiceName(asObject(entry))));
  const left = tools.filter((tool) => names.has(tool.name));
  return { tools: left, toolChoice: left.length === 0 ? undefined : decodeChoice(allowed.mode ?? 'auto') };
}

function decodeChoice(choice: Value): ToolChoice | undefined {
  if (choice === undefined || choice === null) return undefined;
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  const entry = asObject(choice);
  const type = asString(entry.type);
  if (type === undefined)
    return rejectField('tool_choice', 'must be auto, none, required or an object with a type');
  if (type !== 'function' && type !== 'custom') return undefined;
  return { name: choiceName(entry) ?? rejectField('tool_choice.name', 'must be a string') };
}

function choiceName(entry: JsonObject): string | undefined {
  const name = asString(entry.name);
  return name === undefined ? undefined : joinQualifiedName({ name, namespace: asString(entry.namespace) });
}

/** `strict` defaults to true on this wire, and a schema written for another wire is seldom strict. */
export const encodeResponsesTool = (tool: Tool): JsonObject => ({
  type: 'function',
  name: tool.name,
  ...(tool.description === undefined ? {} : { description: tool.description }),
  parameters: tool.parameters,
  strict: false,
});

export const encodeResponsesToolChoice = (choice: ToolChoice): Json =>
  typeof choice === 'string' ? choice : { type: 'function', name: choice.name };

/**
 * A freeform tool (`type: custom`) takes plain text, which the other wires do not support: there it is a function with
 * this one string parameter. Arguments that begin with the parameter's name are a freeform call, so a reply can be encoded
 * without its request.
 */
const PARAMETER = 'freeform_input';
const HEAD = `{"${PARAMETER}":"`;
const HEAD_PATTERN = new RegExp(`^\\s*\\{\\s*"${PARAMETER}"\\s*:\\s*"`);

const freeformParameters: JsonObject = {
  type: 'object',
  properties: { [PARAMETER]: { type: 'string', description: 'The whole input of the tool, as plain text.' } },
  required: [PARAMETER],
  additionalProperties: false,
};

export const freeformArguments = (input: string): string => `${HEAD}${freeformPiece(input)}${freeformTail}`;

/** The arguments of a freeform call in pieces: the head, any number of pieces, the tail. */
export const freeformHead = HEAD;
export const freeformPiece = (input: string): string => JSON.stringify(input).slice(1, -1);
export const freeformTail = '"}';

/** The offset of the text in freeform arguments; undefined when more input is needed; false for other arguments. */
export function findFreeformText(args: string): number | false | undefined {
  const head = HEAD_PATTERN.exec(args);
  if (head) return head[0].length;
  return HEAD.startsWith(args.replace(/\s/g, '')) ? undefined : false;
}

export interface FreeformReader {
  /** The decoded text of these characters of the JSON string. */
  read(json: string): string;
}

/** A run of plain characters, the closing quote, or one escape; an incomplete escape does not match. */
const TOKEN = /[^"\\]+|"|\\u[0-9a-fA-F]{4}|\\[^u]|\\u(?![0-9a-fA-F]{0,3}$)/y;
const LETTERS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** Decodes the inside of a JSON string in pieces, split anywhere; invalid escapes are copied. */
export function createFreeformReader(): FreeformReader {
  let rest = '';
  let closed = false;
  return {
    read(json) {
      if (closed) return '';
      const source = rest + json;
      let text = '';
      let at = 0;
      for (;;) {
        TOKEN.lastIndex = at;
        const token = TOKEN.exec(source)?.[0];
        closed = token === '"';
        if (token === undefined || closed) break;
        text += plain(token);
        at += token.length;
      }
      rest = source.slice(at);
      return text;
    },
  };
}

function plain(token: string): string {
  if (!token.startsWith('\\')) return token;
  if (token.length === 6) return String.fromCharCode(Number.parseInt(token.slice(2), 16));
  return LETTERS[token.slice(1)] ?? token.slice(1);
}

/**
 * Responses groups tools in namespaces; the other wires have flat names of letters, digits, `_` and `-`. A flat name
 * therefore carries its namespace after a mark, so that a reply's call can be mapped back without the request. A plain
 * name that would be split gets an empty namespace. Every flat name is what comes back of its two parts.
 */
const MARK = '__in__';
/** The namespace of ungrouped tools; such a name is written without it. */
const DEFAULT_NAMESPACE = 'functions';

interface QualifiedName {
  readonly name: string;
  readonly namespace?: string;
}

export function joinQualifiedName({
  name,
  namespace,
}: {
  name: string;
  namespace?: string | undefined;
}): string {
  if (namespace !== undefined && namespace !== '' && namespace !== DEFAULT_NAMESPACE) {
    return `${name}${MARK}${namespace}`;
  }
  return isSplit(name) ? `${name}${MARK}` : name;
}

export function splitQualifiedName(flat: string): QualifiedName {
  const at = flat.lastIndexOf(MARK);
  if (at <= 0) return { name: flat };
  const name = flat.slice(0, at);
  const namespace = flat.slice(at + MARK.length);
  if (namespace === '') return { name: isSplit(name) ? name : flat };
  return namespace === DEFAULT_NAMESPACE ? { name: flat } : { name, namespace };
}

/** Whether a plain name would be taken for one with a namespace. Marks at its end change nothing about that. */
function isSplit(name: string): boolean {
  let end = name.length;
  while (end >= MARK.length && name.startsWith(MARK, end - MARK.length)) end -= MARK.length;
  const at = name.lastIndexOf(MARK, end - MARK.length);
  return at > 0 && name.slice(at + MARK.length, end) !== DEFAULT_NAMESPACE;
}
