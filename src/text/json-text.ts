/** A syntax tree with offsets, for editing one part of a file and leaving the rest untouched. */
export type JsonNode =
  | { readonly kind: 'object'; readonly start: number; readonly end: number; readonly members: JsonMember[] }
  | { readonly kind: 'array'; readonly start: number; readonly end: number; readonly items: JsonNode[] }
  | { readonly kind: 'scalar'; readonly start: number; readonly end: number };

export interface JsonMember {
  readonly key: string;
  readonly keyStart: number;
  readonly value: JsonNode;
}

/** The dialect of a client's parser: JSON, JSON with comments and trailing commas, or JSON5. */
export type Dialect = 'json' | 'jsonc' | 'json5';

/** The text is not valid in its dialect. */
export class JsonTextError extends Error {
  override readonly name = 'JsonTextError';
}

const MAX_DEPTH = 200;
const STRICT_SCALAR = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w$.+-])/y;
const LOOSE_SCALAR = /[+\-.\w]+/y;
const DOUBLE_QUOTED = /"(?:[^"\\\r\n]|\\(?:\r\n|[\s\S]))*"/y;
const SINGLE_QUOTED = /'(?:[^'\\\r\n]|\\(?:\r\n|[\s\S]))*'/y;
const IDENTIFIER = /[\p{L}_$][\p{L}\p{N}_$]*/uy;
const GAP = /[ \t\r\n]+|\/\/[^\r\n]*|\/\*[\s\S]*?\*\//y;
const LOOSE_GAP = /\s+/y;

/** Throws `JsonTextError`. */
export function parseJsonText(text: string, dialect: Dialect): JsonNode {
  const match = (pattern: RegExp, at: number): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0];
  };
  const fail = (at: number, what: string): never => {
    const line = text.slice(0, at).split('\n').length;
    throw new JsonTextError(`line ${line}: ${what}`);
  };
  const skipGap = (from: number): number => {
    let at = from;
    for (;;) {
      const gap = match(GAP, at) ?? (dialect === 'json5' ? match(LOOSE_GAP, at) : undefined);
      if (gap === undefined) return at;
      if (dialect === 'json' && gap.startsWith('/')) fail(at, 'comments are not allowed in JSON');
      at += gap.length;
    }
  };

  const readKey = (at: number): { key: string; end: number } => {
    const quoted = match(DOUBLE_QUOTED, at);
    if (quoted !== undefined)
      return { key: unquote(quoted) ?? fail(at, 'a key has an invalid escape'), end: at + quoted.length };
    const loose = dialect === 'json5' ? (match(SINGLE_QUOTED, at) ?? match(IDENTIFIER, at)) : undefined;
    if (loose === undefined) return fail(at, 'expected a key in double quotes');
    return { key: loose.startsWith("'") ? loose.slice(1, -1) : loose, end: at + loose.length };
  };

  const readScalar = (at: number): JsonNode => {
    const strict = match(DOUBLE_QUOTED, at) ?? match(STRICT_SCALAR, at);
    const raw =
      strict ?? (dialect === 'json5' ? (match(SINGLE_QUOTED, at) ?? match(LOOSE_SCALAR, at)) : undefined);
    if (raw === undefined) return fail(at, 'a value is missing or invalid');
    if (dialect !== 'json5' && raw.startsWith('"') && unquote(raw) === undefined)
      fail(at, 'a string has an invalid escape');
    return { kind: 'scalar', start: at, end: at + raw.length };
  };

  /** Reads from after the opening bracket to after the closing one; `readItem` returns the item's end. */
  const readList = (from: number, close: string, readItem: (at: number) => number): number => {
    let at = skipGap(from);
    let isFirst = true;
    for (;;) {
      if (text[at] === close && (isFirst || dialect !== 'json')) return at + 1;
      at = skipGap(readItem(at));
      isFirst = false;
      if (text[at] === close) return at + 1;
      if (text[at] !== ',') return fail(at, `"," or "${close}" is missing`);
      at = skipGap(at + 1);
    }
  };

  const readValue = (at: number, depth: number): JsonNode => {
    if (depth > MAX_DEPTH) return fail(at, 'nested too deeply');
    if (text[at] === '{') {
      const members: JsonMember[] = [];
      const end = readList(at + 1, '}', (keyStart) => {
        const { key, end: keyEnd } = readKey(keyStart);
        const colon = skipGap(keyEnd);
        if (text[colon] !== ':') return fail(colon, '":" is missing');
        const value = readValue(skipGap(colon + 1), depth + 1);
        members.push({ key, keyStart, value });
        return value.end;
      });
      return { kind: 'object', start: at, end, members };
    }
    if (text[at] === '[') {
      const items: JsonNode[] = [];
      const end = readList(at + 1, ']', (itemAt) => {
        const item = readValue(itemAt, depth + 1);
        items.push(item);
        return item.end;
      });
      return { kind: 'array', start: at, end, items };
    }
    return readScalar(at);
  };

  const start = skipGap(text.startsWith('\ufeff') ? 1 : 0);
  const root = readValue(start, 0);
  const rest = skipGap(root.end);
  if (rest < text.length) fail(rest, 'unexpected text after the end');
  return root;
}

function unquote(raw: string): string | undefined {
  try {
    return String(JSON.parse(raw));
  } catch {
    return undefined;
  }
}

/** The value for comparisons; scalars that only JSON5 has are compared as text. */
export function plainValue(text: string, node: JsonNode): unknown {
  if (node.kind === 'object') {
    return Object.fromEntries(node.members.map(({ key, value }) => [`.${key}`, plainValue(text, value)]));
  }
  if (node.kind === 'array') return node.items.map((item) => plainValue(text, item));
  const raw = text.slice(node.start, node.end);
  return unquote(raw) === undefined ? { raw } : JSON.parse(raw);
}
