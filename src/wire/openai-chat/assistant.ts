import type { AssistantPart, ToolCallPart } from '../../core/chat.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { arrayAt, isAbsent, objectAt, refuse, stringAt, textAt } from '../fields.ts';
import { decodeReasoning, encodeReasoning } from './reasoning.ts';

/** `legacyId` is used for a call in the old `function_call` form, which has no id. */
export function decodeAssistant(message: JsonObject, path: string, legacyId: string): AssistantPart[] {
  const texts = [...decodeTexts(message.content, `${path}.content`)];
  if (!isAbsent(message.refusal)) texts.push(stringAt(message.refusal, `${path}.refusal`));
  return [
    ...decodeReasoning(message),
    ...texts.filter((text) => text !== '').map((text) => ({ type: 'text' as const, text })),
    ...decodeCalls(message, path, legacyId),
  ];
}

function decodeTexts(value: Json | undefined, path: string): readonly string[] {
  if (isAbsent(value)) return [];
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value)) refuse(path, 'must be a string, null or an array of parts');
  return arrayAt(value, path).map((entry, index) => {
    const part = objectAt(entry, `${path}[${index}]`);
    if (part.type === 'text') return stringAt(part.text, `${path}[${index}].text`);
    if (part.type === 'refusal') return stringAt(part.refusal, `${path}[${index}].refusal`);
    return refuse(`${path}[${index}].type`, 'must be "text" or "refusal" in an assistant message');
  });
}

function decodeCalls(message: JsonObject, path: string, legacyId: string): ToolCallPart[] {
  if (!isAbsent(message.tool_calls)) {
    return arrayAt(message.tool_calls, `${path}.tool_calls`).map((entry, index) => {
      const here = `${path}.tool_calls[${index}]`;
      const call = objectAt(entry, here);
      if (!isAbsent(call.type) && call.type !== 'function') {
        refuse(`${here}.type`, 'only calls of type "function" can be translated');
      }
      return decodeFunction(call.function, `${here}.function`, textAt(call.id, `${here}.id`));
    });
  }
  if (isAbsent(message.function_call)) return [];
  return [decodeFunction(message.function_call, `${path}.function_call`, legacyId)];
}

function decodeFunction(value: Json | undefined, path: string, id: string): ToolCallPart {
  const call = objectAt(value, path);
  return {
    type: 'tool-call',
    id,
    name: textAt(call.name, `${path}.name`),
    arguments: stringAt(call.arguments, `${path}.arguments`),
  };
}

/** Text is one string, since several servers refuse an array here; text after a call moves before it. */
export function encodeAssistant(parts: readonly AssistantPart[], withReasoning: boolean): JsonObject {
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const calls = parts.filter((part) => part.type === 'tool-call');
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(withReasoning ? encodeReasoning(parts.filter((part) => part.type === 'reasoning')) : {}),
    ...(calls.length > 0 ? { tool_calls: calls.map(encodeCall) } : {}),
  };
}

const encodeCall = (call: ToolCallPart): JsonObject => ({
  id: call.id,
  type: 'function',
  // Clients parse the arguments as JSON, so a call without arguments must contain an empty object.
  function: { name: call.name, arguments: call.arguments === '' ? '{}' : call.arguments },
});
