/** The names and numbers of a task, by what they are. */
export type TaskFacts = Readonly<Record<string, string>>;

/** `{v}` and `{port}` are gaps; in a pattern `{=day}` takes a pattern, the others a text as it is. A brace behind a backslash is none. */
const GAP = /(?<!\\)\{(=?)([a-z]\w*)\}/g;

const SYNTAX = /[$()*+./?[\\\]^{|}]/g;

/** A text as a part of a regular expression that matches it alone. */
const literal = (text: string): string => text.replaceAll(SYNTAX, '\\$&');

function valueIn(name: string, facts: TaskFacts, template: string): string {
  const value = facts[name];
  if (value === undefined) throw new Error(`{${name}} has no value in: ${template}`);
  return value;
}

/** Throws for a gap without a value, which is a mistake in a table. */
export const fillGaps = (template: string, facts: TaskFacts): string =>
  template.replaceAll(GAP, (_, __, name: string) => valueIn(name, facts, template));

/** A pattern whose gaps match what they stand for. */
export const fillPattern = (template: string, facts: TaskFacts): string =>
  template.replaceAll(GAP, (_, raw: string, name: string) => {
    const value = valueIn(name, facts, template);
    return raw === '' ? literal(value) : value;
  });

/** The pattern of a text with gaps. */
export function patternOfText(template: string): string {
  const ends = [...template.matchAll(GAP)].map((match) => match.index + match[0].length);
  const pieces = [0, ...ends].map((from, at) => template.slice(from, ends[at]));
  return pieces
    .map((piece) => {
      const [gap = ''] = piece.match(GAP) ?? [];
      return `${literal(piece.slice(0, piece.length - gap.length))}${gap}`;
    })
    .join('');
}
