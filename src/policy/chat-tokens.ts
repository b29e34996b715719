import { Tokenizer } from '@huggingface/tokenizers';
import { asArray, asNumber, asObject, asString, type JsonObject } from '../core/json.ts';
import { TrainingError } from '../core/training.ts';

/** A model's own tokenizer, with nothing added to what it is given. */
export interface ChatTokens {
  encode(text: string): readonly number[];
  /** Whatever stands for nothing says nothing; never throws. */
  decode(ids: readonly number[]): string;
  idOf(text: string): number | undefined;
  /** Tokens that structure a conversation, by their text: only a template writes them. */
  readonly marks: ReadonlyMap<string, number>;
  /**
   * The text, with nothing in it that is a mark: whoever writes one into a message, or into a file that a tool reads, would
   * otherwise end the turn and speak as somebody else. `encode` reads the same characters out of it.
   */
  withoutMarks(text: string): string;
}

/** Unicode keeps it for programs' own use: no text has a reason to contain it. */
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
      // One of a single character could not be broken.
      return special === true && number !== undefined && text.length > 1 ? [[text, number]] : [];
    });
  return new Map(marks);
}

function patternOf(texts: Iterable<string>): RegExp | undefined {
  const longestFirst = [...texts].sort((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return undefined;
  return new RegExp(longestFirst.map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'), 'g');
}
