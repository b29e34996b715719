import { asArray, asObject, isObject, type Json, type JsonObject } from '../../../src/core/json.ts';
import type { WireName } from '../../../src/core/wire.ts';
import { wires } from '../../../src/wire/wires.ts';

/** A request as a provider's cache sees it: prompt-cache marks are not content, and a text is a list of one text. */
export interface RenderedRequest {
  /** Tools and everything else outside of the messages. */
  readonly head: string;
  readonly messages: readonly string[];
  /** The bytes of the list of messages, without its end. */
  readonly rawList: string;
}

export function renderRequest(wire: WireName, body: Buffer): RenderedRequest {
  const listName = wire === 'openai-responses' ? 'input' : 'messages';
  const text = body.toString();
  const clean = text.includes('"cache_control"') ? withoutMarks : (value: Json) => value;
  const { [listName]: list, system, instructions, tools } = JSON.parse(text) as JsonObject;
  const [start, end] = wires[wire].outline(body)?.member(listName) ?? [0, 0];
  return {
    head: JSON.stringify([tools ?? null, asParts(clean(system ?? null)), instructions ?? null]),
    messages: asArray(list).map((message) => {
      const { content, ...rest } = asObject(clean(message));
      return JSON.stringify({ ...rest, content: asParts(content) });
    }),
    rawList: body.toString('utf8', start, end).slice(0, -1).trimEnd(),
  };
}

export const marksIn = (body: Buffer): number => body.toString().split('"cache_control"').length - 1;

/** The number of equal messages at the start of two requests. */
export function commonLength(a: readonly string[], b: readonly string[]): number {
  const differs = a.findIndex((one, n) => one !== b[n]);
  return differs < 0 ? a.length : differs;
}

function withoutMarks(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutMarks);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => key !== 'cache_control');
  return Object.fromEntries(kept.map(([key, one]) => [key, withoutMarks(one ?? null)]));
}

const asParts = (content: Json | undefined): Json | undefined =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;
