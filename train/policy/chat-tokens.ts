import { Tokenizer } from '@huggingface/tokenizers';
import { asArray, asNumber, asObject, asString, type JsonObject } from '../../src/core/json.ts';
import { TrainingError } from '../../src/core/training.ts';

/** A model's own tokenizer. It adds no special tokens by itself. */
export interface ChatTokens {
  encode(text: string): readonly number[];
  /** Unknown ids are skipped; never throws. */
  decode(ids: readonly number[]): string;
  idOf(text: string): number | undefined;
  /** Special tokens by their text: only the template may write them. */
  readonly marks: ReadonlyMap<string, number>;
  /**
   * Escapes special tokens in a text: otherwise a message, or a file that a tool reads, could end the turn and speak as
   * another role. `encode` sees the same characters as plain text.
   */
  withoutMarks(text: string): string;
}

/** A Unicode noncharacter: no text has a reason to contain it. */
const BREAK = '\uFDD0';

export function createChatTokens(tokenizer: JsonObject, config: JsonObject): ChatTokens {
  const inner = openTokenizer(tokenizer, config);
  const marks = marksOf(tokenizer);
  const anyMark = patternOf(marks.keys());
  const isKnown = (id: number): boolean =>
    Number.isSafeInteger(id) && id >= 0 && inner.id_to_token(id) !== undefined;
  return {
    marks,
    encode: (text) =>
      text
        .split(BREAK)
        .flatMap((piece) => (piece === '' ? [] : inner.encode(piece, { add_special_tokens: false }).ids)),
    decode: (ids) => {
      const known = ids.filter(isKnown);
      if (known.length === 0) return '';
      return inner.decode(known, { skip_special_tokens: false, clean_up_tokenization_spaces: false });
    },
    idOf: (text) => inner.token_to_id(text),
    withoutMarks: (text) => {
      const clean = text.replaceAll(BREAK, '');
      if (anyMark === undefined) return clean;
      return clean.replace(anyMark, ([first = '', ...rest]) => first + BREAK + rest.join(''));
    },
  };
}

function openTokenizer(tokenizer: JsonObject, config: JsonObject): Tokenizer {
  try {
    return new Tokenizer(tokenizer, config);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new TrainingError('user', `tokenizer.json cannot be used here: ${reason}`);
  }
}

function marksOf(tokenizer: JsonObject): ReadonlyMap<string, number> {
  const marks = asArray(tokenizer.added_tokens)
    .map(asObject)
    .flatMap(({ content, id, special }): [string, number][] => {
      const [text, number] = [asString(content) ?? '', asNumber(id)];
      // A mark of a single character cannot be split.
      return special === true && number !== undefined && text.length > 1 ? [[text, number]] : [];
    });
  return new Map(marks);
}

function patternOf(texts: Iterable<string>): RegExp | undefined {
  const longestFirst = [...texts].sort((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return undefined;
  return new RegExp(longestFirst.map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'), 'g');
}
