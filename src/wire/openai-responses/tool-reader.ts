import type { ChatEvent } from '../../core/chat.ts';
import { asString, type JsonObject } from '../../core/json.ts';
import { freeformHead, freeformPiece, freeformTail } from './freeform.ts';
import { joinName } from './qualified-name.ts';

/** One tool call being decoded; each method returns the events it causes. */
export interface ToolReader {
  add(delta: string): readonly ChatEvent[];
  /** Takes the complete text and returns what the deltas lacked. */
  settle(whole: string | undefined): readonly ChatEvent[];
}

export const isToolItem = (item: JsonObject): boolean =>
  item.type === 'function_call' || item.type === 'custom_tool_call';

/** The item's arguments or its freeform input. */
export const toolText = (item: JsonObject): string | undefined => asString(item.input ?? item.arguments);

export function toolName(item: JsonObject): string | undefined {
  const name = asString(item.name);
  const namespace = asString(item.namespace);
  return name && namespace ? joinName({ name, namespace }) : name || undefined;
}

export function createToolReader(id: string, freeform: boolean): ToolReader {
  let seen = '';
  let open = false;
  let closed = false;

  const event = (json: string): readonly ChatEvent[] =>
    json === '' ? [] : [{ type: 'tool-delta', id, json }];

  function add(delta: string): readonly ChatEvent[] {
    if (closed) return [];
    seen += delta;
    if (!freeform) return event(delta);
    const head = open ? '' : freeformHead;
    open = true;
    return event(head + freeformPiece(delta));
  }

  return {
    add: (delta) => (delta === '' ? [] : add(delta)),
    settle(whole) {
      const rest = whole?.startsWith(seen) ? whole.slice(seen.length) : '';
      if (!freeform) return rest === '' ? [] : add(rest);
      if (closed) return [];
      const events = rest === '' && open ? [] : add(rest);
      closed = true;
      return [...events, ...event(freeformTail)];
    },
  };
}
