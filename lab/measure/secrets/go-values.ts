/** A text of Go source with the secrets in it that were generated. */
export interface GoText {
  readonly text: string;
  readonly secrets: readonly string[];
}
export type GoValue = GoText | readonly GoText[];

/** What a function of Go returns here; a function that is not listed cannot be read. */
export type GoCall = (values: readonly GoValue[]) => GoValue;

export interface GoToken {
  readonly kind: 'name' | 'text' | 'sign';
  readonly value: string;
  readonly startsLine: boolean;
}

const TOKEN =
  /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/|(?<raw>`[^`]*`)|(?<quoted>"(?:[^"\\\n]|\\.)*")|'(?:[^'\\]|\\.)+'|(?<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)|(?<sign>:=|\.\.\.|[^\s])/gy;
const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  a: '\u0007',
  b: '\b',
  f: '\f',
  v: '\v',
};

const unquote = (quoted: string): string =>
  quoted
    .slice(1, -1)
    .replace(
      /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))/g,
      (_, hex?: string, unicode?: string, letter = '') =>
        hex || unicode
          ? String.fromCharCode(Number.parseInt(hex ?? unicode ?? '', 16))
          : (ESCAPES[letter] ?? letter),
    );

/** Cuts Go source into names (`a.b` is one), texts and signs. Comments are left out. */
export function readGoTokens(source: string): readonly GoToken[] {
  const tokens: GoToken[] = [];
  let startsLine = true;
  for (const { 0: all, groups } of source.matchAll(TOKEN)) {
    if (groups?.raw !== undefined) tokens.push({ kind: 'text', value: groups.raw.slice(1, -1), startsLine });
    else if (groups?.quoted !== undefined)
      tokens.push({ kind: 'text', value: unquote(groups.quoted), startsLine });
    else if (groups?.name !== undefined) tokens.push({ kind: 'name', value: groups.name, startsLine });
    else if (groups?.sign !== undefined) tokens.push({ kind: 'sign', value: groups.sign, startsLine });
    startsLine = /^\s/.test(all) ? startsLine || all.includes('\n') : false;
  }
  return tokens;
}

const joined = (texts: readonly GoText[]): GoText => ({
  text: texts.map(({ text }) => text).join(''),
  secrets: texts.flatMap(({ secrets }) => secrets),
});
export const isGoList = (value: GoValue): value is readonly GoText[] => Array.isArray(value);
export const asGoText = (value: GoValue | undefined): GoText => {
  if (value === undefined || isGoList(value)) throw new Error('a text was expected');
  return value;
};

/** Evaluates expressions of texts: literals, `+`, lists, maps (their values), `append`, variables and the given calls. */
export function createGoEvaluator(tokens: readonly GoToken[], calls: ReadonlyMap<string, GoCall>) {
  let at = 0;
  const isSign = (sign: string): boolean => tokens[at]?.kind === 'sign' && tokens[at]?.value === sign;
  const expect = (sign: string): void => {
    if (!isSign(sign)) throw new Error(`"${sign}" was expected, not "${tokens[at]?.value}"`);
    at++;
  };
  type Variables = ReadonlyMap<string, GoValue>;

  const evaluate = (variables: Variables): GoValue => {
    let value = operand(variables);
    while (isSign('+')) {
      at++;
      value = joined([asGoText(value), asGoText(operand(variables))]);
    }
    return value;
  };

  const listUntil = (close: string, variables: Variables): GoText[] => {
    const list: GoText[] = [];
    while (!isSign(close)) {
      let value = evaluate(variables);
      // The key of a map: only the value is a text to measure.
      if (isSign(':')) {
        at++;
        value = evaluate(variables);
      }
      if (isSign('...')) at++;
      list.push(...(isGoList(value) ? value : [value]));
      if (isSign(',')) at++;
    }
    expect(close);
    return list;
  };

  const argumentsOf = (variables: Variables): GoValue[] => {
    const values: GoValue[] = [];
    expect('(');
    while (!isSign(')')) {
      values.push(evaluate(variables));
      if (isSign('...')) at++;
      if (isSign(',')) at++;
    }
    expect(')');
    return values;
  };

  const operand = (variables: Variables): GoValue => {
    const token = tokens[at];
    if (token?.kind === 'text') {
      at++;
      return { text: token.value, secrets: [] };
    }
    if (isSign('[')) {
      at++;
      expect(']');
      at++;
      expect('{');
      return listUntil('}', variables);
    }
    if (token?.kind !== 'name') throw new Error(`cannot read "${token?.value}"`);
    at++;
    if (token.value === 'map' && isSign('[')) {
      at += 4;
      expect('{');
      return listUntil('}', variables);
    }
    if (token.value === 'nil') return [];
    if (!isSign('(')) {
      const value = variables.get(token.value);
      if (value === undefined) throw new Error(`no variable ${token.value}`);
      return value;
    }
    if (token.value === 'append') return argumentsOf(variables).flat();
    const call = calls.get(token.value);
    if (call === undefined) throw new Error(`no function ${token.value}`);
    return call(argumentsOf(variables));
  };

  return {
    /** The value of the expression that begins at this token. Throws where it cannot be read. */
    valueAt: (start: number, variables: Variables): GoValue => {
      at = start;
      return evaluate(variables);
    },
  };
}
