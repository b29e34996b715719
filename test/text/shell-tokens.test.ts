import { describe, expect, it } from 'vitest';
import { readShellQuote, readShellTokens } from '../../src/text/shell-tokens.ts';

describe('a quotation in a shell line', () => {
  it('is literal between single quotes, backslashes included', () => {
    expect(readShellQuote(`echo 'a\\"b $x' c`, 5)).toEqual({ text: `a\\"b $x`, end: 14, isClosed: true });
  });

  it('keeps a backslash between double quotes unless it escapes a character that is special there', () => {
    expect(readShellQuote('"a\\.b \\"c\\" \\$d \\\\"', 0).text).toBe('a\\.b "c" $d \\');
    expect(readShellQuote('"one\\\nline"', 0).text).toBe('oneline');
  });

  it('reports the first expansion, and a lone dollar sign is none', () => {
    expect(readShellQuote('"5 $ and $HOME `x`"', 0).expansionAt).toBe(9);
    expect(readShellQuote("'$HOME'", 0).expansionAt).toBeUndefined();
  });

  it('takes the rest of the line when the quote is not closed, and says so', () => {
    expect(readShellQuote('"a b', 0)).toEqual({ text: 'a b', end: 4, isClosed: false });
  });
});

describe('the tokens of a shell command', () => {
  const read = (line: string) =>
    readShellTokens(line).map((token) =>
      token.kind === 'word' ? token.text : token.kind === 'sign' ? [token.sign] : '<<',
    );

  it.each([
    ['a "b c"d && e', ['a', 'b cd', ['&&'], 'e']],
    ['a>b 2>&1 x2>c &>d', ['a', ['>'], 'b', ['2>&1'], 'x2', ['>'], 'c', ['&>'], 'd']],
    ["cat <<'E' >f\nrm x\nE\nls|wc&", ['cat', '<<', ['>'], 'f', ['\n'], ['\n'], 'ls', ['|'], 'wc', ['&']]],
    ['a "b', ['a', 'b']],
  ])('%j', (line, tokens) => expect(read(line)).toEqual(tokens));
});
