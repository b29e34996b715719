export interface JsonSyntaxFault {
  /** Both from 1, as in editors; columns in UTF-16 code units. */
  readonly line: number;
  readonly column: number;
  readonly what: string;
}

/** Settings are shallow; the limit protects every recursive reader of them. */
const MAX_DEPTH = 64;

const TOKEN =
  /[{}[\]:,]|"(?:[ !#-[\]-\u{10ffff}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/uy;

type Expected = 'value' | 'value-or-close' | 'key' | 'key-or-close' | 'colon' | 'comma-or-close' | 'end';

/**
 * The first syntax error, or a duplicate key in one object (where `JSON.parse` would silently keep the last). The message
 * of `JSON.parse` is not used: it has no line, and it repeats the file's text, which may contain a secret.
 */
export function findJsonFault(text: string): JsonSyntaxFault | undefined {
  const open: { readonly close: '}' | ']'; readonly keys: Set<string> }[] = [];
  let expected: Expected = 'value';
  let at = 0;
  const fault = (what: string): JsonSyntaxFault => ({ ...positionOf(text, at), what });
  const afterValue = (): Expected => (open.length === 0 ? 'end' : 'comma-or-close');

  for (;;) {
    while (' \t\n\r'.includes(text[at] ?? 'x')) at++;
    if (at >= text.length) return expected === 'end' ? undefined : fault('the file ends too early');
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)?.[0];
    const inside = open.at(-1);
    if (token === undefined) return fault(describeCharacter(text, at));
    if (expected === 'end') return fault('unexpected text after the end');

    if (token === '}' || token === ']') {
      const may =
        expected === 'comma-or-close' || expected === (token === '}' ? 'key-or-close' : 'value-or-close');
      if (inside?.close !== token || !may) {
        const trailing = inside?.close === token && (expected === 'key' || expected === 'value');
        return fault(trailing ? 'trailing comma' : `"${token}" is unexpected`);
      }
      open.pop();
      expected = afterValue();
    } else if (expected === 'colon') {
      if (token !== ':') return fault('expected ":" after the key');
      expected = 'value';
    } else if (expected === 'comma-or-close') {
      if (token !== ',') return fault(`expected "," or "${inside?.close ?? ''}"`);
      expected = inside?.close === '}' ? 'key' : 'value';
    } else if (expected === 'key' || expected === 'key-or-close') {
      if (!token.startsWith('"')) return fault('expected a key in double quotes');
      const key: string = JSON.parse(token);
      if (inside?.keys.has(key)) return fault('duplicate key in the same object');
      if (key === '__proto__') return fault('this key is not allowed');
      inside?.keys.add(key);
      expected = 'colon';
    } else if (token === '{' || token === '[') {
      if (open.length === MAX_DEPTH) return fault('nested too deep');
      open.push({ close: token === '{' ? '}' : ']', keys: new Set() });
      expected = token === '{' ? 'key-or-close' : 'value-or-close';
    } else if (token === ':' || token === ',') {
      return fault(`expected a value, not "${token}"`);
    } else {
      expected = afterValue();
    }
    at += token.length;
  }
}

function describeCharacter(text: string, at: number): string {
  if (text.startsWith('//', at) || text.startsWith('/*', at)) return 'comments are not allowed in JSON';
  if (text[at] === "'") return 'strings need double quotes';
  if (text[at] === '"') return 'string without an end, or with an invalid escape';
  return 'unexpected character';
}

function positionOf(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at);
  return { line: before.split('\n').length, column: at - before.lastIndexOf('\n') };
}
