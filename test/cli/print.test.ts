import { describe, expect, it } from 'vitest';
import { createPrinter } from '../../src/cli/print.ts';

function createPaper(isTTY: boolean, env: NodeJS.ProcessEnv = {}, json = false) {
  let out = '';
  let err = '';
  const stdout = { isTTY, write: (text: string) => (out += text) };
  const stderr = { isTTY, write: (text: string) => (err += text) };
  return { printer: createPrinter({ stdout, stderr, env, json }), out: () => out, err: () => err };
}

describe('createPrinter', () => {
  it('colours on a terminal only, and not with NO_COLOR', () => {
    const write = (isTTY: boolean, env?: NodeJS.ProcessEnv): string => {
      const paper = createPaper(isTTY, env);
      paper.printer.line({ text: 'a', style: 'red' }, 'b');
      return paper.out();
    };
    expect(write(true)).toBe('\u001b[31ma\u001b[0mb\n');
    expect(write(true, { NO_COLOR: '1' })).toBe('ab\n');
    expect(write(false)).toBe('ab\n');
  });

  it('neutralises text, cells, notes and documents', () => {
    const evil = 'x\u001b[2J\u202e';
    const paper = createPaper(true);
    paper.printer.line(evil);
    paper.printer.note(evil);
    paper.printer.document({ evil });
    paper.printer.table([[`${evil}\n`, 'b']]);
    expect(paper.out() + paper.err()).not.toMatch(/[\p{Cf}]|\p{Cc}(?<!\n)/u);
    expect(paper.out().split('\n')).toHaveLength(6);
  });

  it('aligns columns by visible width (not counting colour codes)', () => {
    const paper = createPaper(true);
    paper.printer.table([
      [{ text: 'ok', style: 'green' }, 'first'],
      ['longer', 'second'],
    ]);
    expect(paper.out()).toBe('\u001b[32mok\u001b[0m      first\nlonger  second\n');
  });

  it('prints no notes with --json', () => {
    const paper = createPaper(false, {}, true);
    paper.printer.note('hello');
    expect(paper.err()).toBe('');
  });
});
