export interface JsonSyntaxFault {
  /** Both from 1, as editors count; columns in UTF-16 units. */
  readonly line: number;
  readonly column: number;
  readonly what: string;
}

/** Settings are shallow; a file deeper than this is no settings file, and nothing that walks it need fear its depth. */
const DEEPEST = 64;

const TOKEN =
  /[{}[\]:,]|"(?:[ !#-[\]-\u{10ffff}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/uy;

type Expected = 'value' | 'value-or-close' | 'key' | 'key-or-close' | 'colon' | 'comma-or-close' | 'end';

/**
 * The first place where text stops being JSON, or a key that stands twice in one object (where `JSON.parse` would
 * silently keep the last). The parser's own message is not used: it names no line and repeats the file's text,
 * which may hold a secret.
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
    if (token === undefined) return fault(strangeCharacter(text, at));
    if (expected === 'end') return fault('there is more text after the end');

    if (token === '}' || token === ']') {
      const may =
        expected === 'comma-or-close' || expected === (token === '}' ? 'key-or-close' : 'value-or-close');
      if (inside?.close !== token || !may) {
        const trailing = inside?.close === token && (expected === 'key' || expected === 'value');
        return fault(
          trailing ? 'there is a comma before it that must go' : `"${token}" does not belong here`,
        );
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
      if (inside?.keys.has(key)) return fault('this key stands twice in the same object');
      if (key === '__proto__') return fault('this key is not allowed');
      inside?.keys.add(key);
      expected = 'colon';
    } else if (token === '{' || token === '[') {
      if (open.length === DEEPEST) return fault('nested too deep');
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

function strangeCharacter(text: string, at: number): string {
  if (text.startsWith('//', at) || text.startsWith('/*', at)) return 'JSON has no comments';
  if (text[at] === "'") return 'JSON has double quotes only';
  if (text[at] === '"') return 'this text does not end on its line, or holds a bad escape';
  return 'this is not JSON';
}

function positionOf(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at);
  return { line: before.split('\n').length, column: at - before.lastIndexOf('\n') };
}
