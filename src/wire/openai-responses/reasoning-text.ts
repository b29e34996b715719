import { asArray, asObject, asString, type Json, type JsonObject } from '../../core/json.ts';

export interface ReasoningTexts {
  readonly source: 'words' | 'summary';
  readonly texts: readonly string[];
}

/** The texts of a reasoning item: the model's reasoning if the provider sends it, else its summary. */
export function reasoningTexts(item: JsonObject): ReasoningTexts {
  const words = textsOf(item.content);
  return words.some((text) => text !== '')
    ? { source: 'words', texts: words }
    : { source: 'summary', texts: textsOf(item.summary) };
}

const textsOf = (list: Json | undefined): readonly string[] =>
  asArray(list).map((part) => asString(asObject(part).text) ?? '');
