import type { JsonObject } from '../../core/json.ts';

/**
 * A freeform tool (`type: custom`) takes plain text, which the other wires do not support: there it is a function with
 * this one string parameter. Arguments that begin with the parameter's name are a freeform call, so a reply can be encoded
 * without its request.
 */
const PARAMETER = 'freeform_input';
const HEAD = `{"${PARAMETER}":"`;
const HEAD_PATTERN = new RegExp(`^\\s*\\{\\s*"${PARAMETER}"\\s*:\\s*"`);

export const freeformParameters: JsonObject = {
  type: 'object',
  properties: { [PARAMETER]: { type: 'string', description: 'The whole input of the tool, as plain text.' } },
  required: [PARAMETER],
  additionalProperties: false,
};

export const freeformArguments = (input: string): string => `${HEAD}${freeformPiece(input)}${freeformTail}`;

/** The arguments of a freeform call in pieces: the head, any number of pieces, the tail. */
export const freeformHead = HEAD;
export const freeformPiece = (input: string): string => JSON.stringify(input).slice(1, -1);
export const freeformTail = '"}';

/** The offset of the text in freeform arguments; undefined when more input is needed; false for other arguments. */
export function findFreeformText(args: string): number | false | undefined {
  const head = HEAD_PATTERN.exec(args);
  if (head) return head[0].length;
  return HEAD.startsWith(args.replace(/\s/g, '')) ? undefined : false;
}

export interface FreeformReader {
  /** The decoded text of these characters of the JSON string. */
  read(json: string): string;
}

/** A run of plain characters, the closing quote, or one escape; an incomplete escape does not match. */
const TOKEN = /[^"\\]+|"|\\u[0-9a-fA-F]{4}|\\[^u]|\\u(?![0-9a-fA-F]{0,3}$)/y;
const LETTERS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** Decodes the inside of a JSON string in pieces, split anywhere; invalid escapes are copied. */
export function createFreeformReader(): FreeformReader {
  let rest = '';
  let closed = false;
  return {
    read(json) {
      if (closed) return '';
      const source = rest + json;
      let text = '';
      let at = 0;
      for (;;) {
        TOKEN.lastIndex = at;
        const token = TOKEN.exec(source)?.[0];
        closed = token === '"';
        if (token === undefined || closed) break;
        text += plain(token);
        at += token.length;
      }
      rest = source.slice(at);
      return text;
    },
  };
}

function plain(token: string): string {
  if (!token.startsWith('\\')) return token;
  if (token.length === 6) return String.fromCharCode(Number.parseInt(token.slice(2), 16));
  return LETTERS[token.slice(1)] ?? token.slice(1);
}
