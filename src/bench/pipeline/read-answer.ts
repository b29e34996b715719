import { isObject, type JsonObject, parseJson } from '../../core/json.ts';

/** The JSON object in a reply, without the text around it; undefined when there is none. */
export function readAnswer(text: string): JsonObject | undefined {
  const from = text.indexOf('{');
  const to = text.lastIndexOf('}');
  const value = from < 0 || to < from ? undefined : parseJson(text.slice(from, to + 1));
  return isObject(value) ? value : undefined;
}
