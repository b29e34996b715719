import type { JsonObject } from '../../core/json.ts';

/**
 * A freeform tool (`type: custom`) takes plain text, which the other wires have no place for: there it is a
 * function with this one string parameter. Its name is its mark: arguments that begin with it are a freeform call,
 * so a reply can be written without knowing the request it answers.
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

/** Where the text begins in freeform arguments; undefined when more must be seen; false for other arguments. */
export function findFreeformText(args: string): number | false | undefined {
  const head = HEAD_PATTERN.exec(args);
  if (head) return head[0].length;
  return HEAD.startsWith(args.replace(/\s/g, '')) ? undefined : false;
}

export interface FreeformReader {
  /** The text that these characters of the JSON string complete. */
  read(json: string): string;
}

/** A run of plain characters, the closing quote, or one escape; an escape that is not whole yet matches nothing. */
const TOKEN = /[^"\\]+|"|\\u[0-9a-fA-F]{4}|\\[^u]|\\u(?![0-9a-fA-F]{0,3}$)/y;
const LETTERS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** Reads a JSON string's inside in pieces, cut anywhere; what is not JSON is taken as it stands. */
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
