import type { ChatEvent, ChatRequest, Tool } from '../../core/chat.ts';
import {
  asNumber,
  asObject,
  asString,
  isObject,
  type Json,
  type JsonObject,
  parseJson,
} from '../../core/json.ts';
import {
  isAbsent,
  optionalField,
  rejectField,
  requireArray,
  requireBoolean,
  requireObject,
  requireString,
  requireText,
} from '../fields.ts';

type ToolUse = Pick<ChatRequest, 'tools' | 'toolChoice' | 'parallelTools'>;

/** Function tools only: other providers have neither free-form (`custom`) tools nor the provider's own tools. */
export function decodeChatTools(body: JsonObject): ToolUse {
  const tools = isAbsent(body.tools) ? decodeLegacyTools(body.functions) : decodeTools(body.tools);
  if (tools.length === 0) return { tools };
  const toolChoice = isAbsent(body.tool_choice)
    ? decodeLegacyChoice(body.function_call)
    : decodeChoice(body.tool_choice);
  const parallelTools = optionalField(body.parallel_tool_calls, 'parallel_tool_calls', requireBoolean);
  return {
    tools,
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(parallelTools === undefined ? {} : { parallelTools }),
  };
}

const decodeTools = (value: Json | undefined): Tool[] =>
  requireArray(value, 'tools').flatMap((entry, index) => {
    const path = `tools[${index}]`;
    const tool = requireObject(entry, path);
    const type = requireString(tool.type, `${path}.type`);
    return type === 'function' ? [decodeTool(tool.function, `${path}.function`)] : [];
  });

const decodeLegacyTools = (value: Json | undefined): Tool[] =>
  (optionalField(value, 'functions', requireArray) ?? []).map((entry, index) =>
    decodeTool(entry, `functions[${index}]`),
  );

function decodeTool(value: Json | undefined, path: string): Tool {
  const tool = requireObject(value, path);
  const description = optionalField(tool.description, `${path}.description`, requireString);
  return {
    name: requireText(tool.name, `${path}.name`),
    ...(description === undefined ? {} : { description }),
    parameters: optionalField(tool.parameters, `${path}.parameters`, requireObject) ?? {
      type: 'object',
      properties: {},
    },
  };
}

function decodeChoice(value: Json | undefined): ToolUse['toolChoice'] {
  if (value === 'auto' || value === 'none' || value === 'required') return value;
  if (typeof value === 'string')
    rejectField('tool_choice', 'must be "none", "auto", "required" or an object');
  const choice = requireObject(value, 'tool_choice');
  if (choice.type === 'function') {
    const named = requireObject(choice.function, 'tool_choice.function');
    return { name: requireText(named.name, 'tool_choice.function.name') };
  }
  if (choice.type === 'allowed_tools') {
    const allowed = requireObject(choice.allowed_tools, 'tool_choice.allowed_tools');
    return allowed.mode === 'required' ? 'required' : 'auto';
  }
  if (choice.type === 'custom') return 'auto';
  return rejectField('tool_choice.type', 'must be "function", "allowed_tools" or "custom"');
}

function decodeLegacyChoice(value: Json | undefined): ToolUse['toolChoice'] {
  if (isAbsent(value)) return undefined;
  if (value === 'auto' || value === 'none') return value;
  if (typeof value === 'string') rejectField('function_call', 'must be "none", "auto" or an object');
  return { name: requireText(requireObject(value, 'function_call').name, 'function_call.name') };
}

/** Empty without tools, since servers refuse a tool choice without tools. */
export function encodeChatTools({ tools, toolChoice, parallelTools }: ToolUse): JsonObject {
  if (tools.length === 0) return {};
  return {
    tools: tools.map((tool) => ({ type: 'function', function: { ...tool } })),
    ...(toolChoice === undefined
      ? {}
      : {
          tool_choice:
            typeof toolChoice === 'string' ? toolChoice : { type: 'function', function: { ...toolChoice } },
        }),
    ...(parallelTools === undefined ? {} : { parallel_tool_calls: parallelTools }),
  };
}

interface Call {
  readonly index: number | undefined;
  /** The server's id; `id` differs from it when it is missing or already taken. */
  readonly serverId: string | undefined;
  readonly id: string;
  started: boolean;
  json: string;
}

interface ToolCallReader {
  /** The events of the `tool_calls` of one chunk or of a complete message. */
  read(calls: readonly Json[]): readonly ChatEvent[];
  /** Whether any call began. */
  called(): boolean;
}

/**
 * Separates the calls of one reply. By the specification a call has an index, and its id and name only once; servers also
 * repeat the id, invent one per chunk, leave the index out, or give every call the same index or id. So a chunk begins a
 * new call when it names a function and has an id of its own, or comes after complete arguments.
 */
export function createToolCallReader(makeId: (prefix: string) => string): ToolCallReader {
  const calls: Call[] = [];
  const ids = new Set<string>();
  let called = false;

  function open(index: number | undefined, serverId: string | undefined): Call {
    const id = serverId !== undefined && !ids.has(serverId) ? serverId : makeId('call_');
    const call: Call = { index, serverId, id, started: false, json: '' };
    ids.add(id);
    calls.push(call);
    return call;
  }

  function find(index: number | undefined, id: string | undefined, named: boolean, json: string): Call {
    const isNext = (call: Call) => named && json !== '' && isComplete(call.json);
    const known = calls.findLast(
      (call) => id !== undefined && call.serverId === id && (index === undefined || call.index === index),
    );
    if (known !== undefined) return isNext(known) ? open(index, id) : known;
    const last = index === undefined ? calls.at(-1) : calls.findLast((call) => call.index === index);
    if (last === undefined) return open(index, id);
    if (!named) return last;
    if (id !== undefined && last.serverId !== undefined) return open(index, id);
    if (!last.started) return last;
    return index === undefined || isNext(last) ? open(index, id) : last;
  }

  function readCall(entry: JsonObject): readonly ChatEvent[] {
    const body = asObject(entry.function);
    const name = asString(body.name) || undefined;
    const json = jsonOf(body.arguments);
    const call = find(asNumber(entry.index), asString(entry.id) || undefined, name !== undefined, json);
    call.json += json;
    if (call.started) return json === '' ? [] : [{ type: 'tool-delta', id: call.id, json }];
    // Arguments that arrive before the name wait for it; a call without a name cannot be made.
    if (name === undefined) return [];
    call.started = true;
    called = true;
    const start: ChatEvent = { type: 'tool-start', id: call.id, name };
    return call.json === '' ? [start] : [start, { type: 'tool-delta', id: call.id, json: call.json }];
  }

  return {
    read: (list) => list.flatMap((entry) => (isObject(entry) ? readCall(entry) : [])),
    called: () => called,
  };
}

/** Bounded, since a server that repeats the name in every chunk has all its arguments parsed again each time. */
const isComplete = (json: string): boolean =>
  json.length <= 65_536 && json.trimEnd().endsWith('}') && isObject(parseJson(json));

/** Arguments are JSON text; some servers send the object itself. */
function jsonOf(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  if (!isObject(value)) return '';
  try {
    return JSON.stringify(value);
  } catch {
    // Nested too deep for JSON.stringify.
    return '';
  }
}
