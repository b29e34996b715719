import type { Random } from '../../../../src/base/random.ts';

/*
 * A context-free grammar in strings. `@name` is any production of that name, `[a|b|]` one of the alternatives, which may nest; all else is
 * text. `{gap}` is text too: gaps are filled after the expansion, so that a value may have any sign.
 */
export type Grammar = Readonly<Record<string, readonly string[]>>;

type Part = string | { readonly name: string } | { readonly either: readonly (readonly Part[])[] };

const parsed = new Map<string, readonly Part[]>();

/** One sentence of the grammar. Throws for a name that it does not have. */
export function expand(text: string, grammar: Grammar, random: Random): string {
  let parts = parsed.get(text);
  if (parts === undefined) {
    parts = parse(text);
    parsed.set(text, parts);
  }
  return join(parts, grammar, random);
}

function join(parts: readonly Part[], grammar: Grammar, random: Random): string {
  let out = '';
  for (const part of parts) {
    if (typeof part === 'string') out += part;
    else if ('name' in part) {
      const productions = grammar[part.name];
      const chosen = productions?.[random.below(productions.length)];
      if (chosen === undefined) throw new Error(`the grammar has no @${part.name}`);
      out += expand(chosen, grammar, random);
    } else out += join(part.either[random.below(part.either.length)] ?? [], grammar, random);
  }
  return out;
}

const TOKEN = /@(\w+)|([[\]|])|[^@[\]|]+|@/gy;

function parse(text: string): readonly Part[] {
  const open: Part[][][] = [[[]]];
  const last = (): Part[] => open.at(-1)?.at(-1) ?? [];
  for (const [all, name, sign] of text.matchAll(TOKEN)) {
    if (name !== undefined) last().push({ name });
    else if (sign === '[') open.push([[]]);
    else if (sign === '|' && open.length > 1) open.at(-1)?.push([]);
    else if (sign === ']' && open.length > 1) {
      const either = open.pop() ?? [];
      last().push({ either });
    } else last().push(all);
  }
  if (open.length > 1) throw new Error(`a bracket stays open: ${text}`);
  return open[0]?.[0] ?? [];
}
