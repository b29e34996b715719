import { isObject, type Json, type JsonObject } from '../../src/core/json.ts';

/** The parsed body that is expected after the block was inserted, and the rule that placed it; computed on values. */
interface Expected {
  readonly branch: string;
  readonly body: JsonObject;
}

export type Oracle = (body: JsonObject, block: string) => Expected;

const isSystem = (item: Json): item is JsonObject =>
  isObject(item) && (item.role === 'system' || item.role === 'developer');

function inList(
  list: readonly Json[],
  block: string,
  isLead: (item: Json) => boolean,
  partType: string,
  message: JsonObject,
): { branch: string; list: readonly Json[] } {
  const firstOther = list.findIndex((item) => !isLead(item));
  const count = firstOther < 0 ? list.length : firstOther;
  if (count === 0)
    return { branch: list.length === 0 ? 'empty list' : 'before first', list: [message, ...list] };
  const last = list[count - 1] as JsonObject;
  const content = last.content;
  const swap = (next: Json): readonly Json[] => list.with(count - 1, { ...last, content: next });
  if (typeof content === 'string') return { branch: 'string', list: swap(`${content}\n\n${block}`) };
  if (Array.isArray(content)) {
    const branch = content.length === 0 ? 'empty parts' : 'parts';
    return { branch, list: swap([...content, { type: partType, text: block }]) };
  }
  return { branch: 'no text', list: list.toSpliced(count, 0, message) };
}

export const expectChat: Oracle = (body, block) => {
  const messages = body.messages;
  if (!Array.isArray(messages)) return { branch: 'nowhere', body };
  const { branch, list } = inList(messages, block, isSystem, 'text', { role: 'system', content: block });
  return { branch, body: { ...body, messages: list } };
};

export const expectResponses: Oracle = (body, block) => {
  const { instructions, input } = body;
  if (typeof instructions === 'string') {
    return { branch: 'instructions', body: { ...body, instructions: `${instructions}\n\n${block}` } };
  }
  const message = { type: 'message', role: 'developer', content: block };
  if (typeof input === 'string') {
    const user = { type: 'message', role: 'user', content: input };
    return { branch: 'text', body: { ...body, input: [message, user] } };
  }
  if (!Array.isArray(input)) return { branch: 'nowhere', body };
  const isLead = (item: Json) => isSystem(item) && (!Object.hasOwn(item, 'type') || item.type === 'message');
  const { branch, list } = inList(input, block, isLead, 'input_text', message);
  return { branch, body: { ...body, input: list } };
};

export const expectAnthropic: Oracle = (body, block) => {
  const system = body.system;
  if (!Object.hasOwn(body, 'system')) {
    const branch = Object.keys(body).length === 0 ? 'empty object' : 'absent';
    return { branch, body: { ...body, system: block } };
  }
  if (typeof system === 'string')
    return { branch: 'string', body: { ...body, system: `${system}\n\n${block}` } };
  if (!Array.isArray(system)) return { branch: 'nowhere', body };
  const branch = system.length === 0 ? 'empty parts' : 'parts';
  return { branch, body: { ...body, system: [...system, { type: 'text', text: block }] } };
};
