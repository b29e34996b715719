import { asArray, asObject, asString, type Json, type JsonObject } from '../../core/json.ts';

export interface ReasoningTexts {
  readonly source: 'words' | 'summary';
  readonly texts: readonly string[];
}

/** What a reasoning item says: the model's own words where the provider gives them, else its summary of them. */
export function reasoningTexts(item: JsonObject): ReasoningTexts {
  const words = textsOf(item.content);
  return words.some((text) => text !== '')
    ? { source: 'words', texts: words }
    : { source: 'summary', texts: textsOf(item.summary) };
}

const textsOf = (list: Json | undefined): readonly string[] =>
  asArray(list).map((part) => asString(asObject(part).text) ?? '');
