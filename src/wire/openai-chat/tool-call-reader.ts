import type { ChatEvent } from '../../core/chat.ts';
import {
  asNumber,
  asObject,
  asString,
  isObject,
  type Json,
  type JsonObject,
  parseJson,
} from '../../core/json.ts';

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
