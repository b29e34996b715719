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
  it('colours on a terminal only, not with NO_COLOR, and in a pipe with FORCE_COLOR', () => {
    const write = (isTTY: boolean, env?: NodeJS.ProcessEnv): string => {
      const paper = createPaper(isTTY, env);
      paper.printer.line({ text: 'a', style: 'red' }, 'b');
      return paper.out();
    };
    expect(write(true)).toBe('\u001b[31ma\u001b[0mb\n');
    expect(write(true, { NO_COLOR: '1' })).toBe('ab\n');
    expect(write(false)).toBe('ab\n');
    expect(write(false, { FORCE_COLOR: '1' })).toBe('\u001b[31ma\u001b[0mb\n');
    expect(write(false, { FORCE_COLOR: '1', NO_COLOR: '1' })).toBe('ab\n');
  });

  it('neutralises text, cells, notes and documents', () => {
    const evil = 'x\u001b[2J\u202e';
    const paper = createPaper(true);
    paper.printer.line(evil);
    paper.printer.note(evil);
    paper.printer.table([], [[`${evil}\n`, 'b']], (row) => row);
    const json = createPaper(true, {}, true);
    json.printer.document({ evil });
    expect(paper.out() + paper.err() + json.out()).not.toMatch(/[\p{Cf}]|\p{Cc}(?<!\n)/u);
    expect(paper.out().split('\n')).toHaveLength(3);
    expect(json.out().split('\n')).toHaveLength(4);
  });

  it('aligns columns by visible width (not counting colour codes)', () => {
    const paper = createPaper(true);
    paper.printer.table(
      [],
      [
        [{ text: 'ok', style: 'green' }, 'first'],
        ['longer', 'second'],
      ],
      (row) => row,
    );
    expect(paper.out()).toBe('\u001b[32mok\u001b[0m      first\nlonger  second\n');
  });

  it('prints only documents with --json, and none without', () => {
    const say = (json: boolean): string => {
      const paper = createPaper(false, {}, json);
      const { line, note, text, table, fields, document } = paper.printer;
      line('line');
      note('note');
      text('text');
      table(['HEAD'], [1], (one) => [one]);
      fields([['label', 'field']]);
      document({ a: 1 });
      return paper.out() + paper.err();
    };
    expect(say(true)).toBe('{\n  "a": 1\n}\n');
    expect(say(false)).toBe('line\ntext\nHEAD\n1\nlabel  field\nnote\n');
  });

  it('cuts the longest cells so that rows fit the terminal, never the ids in the first column', () => {
    const paper = createPaper(true, { COLUMNS: '60' });
    paper.printer.table(
      [],
      [
        ['s_0123456789', 'claude-code', 'x'.repeat(100), 'y'.repeat(30)],
        ['s_1', 'codex', 'short', 'z'],
      ],
      (row) => row,
    );
    const lines = paper.out().trimEnd().split('\n');
    expect(lines.every((line) => line.length <= 60)).toBe(true);
    expect(lines[0]).toMatch(/^s_0123456789 {2}claude-code {2}x+… {2}y+…?$/);
    expect(lines[1]).toContain('short');
  });

  it('cuts nothing for a program that reads the output', () => {
    const paper = createPaper(false);
    paper.printer.table([], [['a', 'x'.repeat(300)]], (row) => row);
    expect(paper.out()).toContain('x'.repeat(300));
  });

  it('continues a long field under its text, and does not repeat a label', () => {
    const paper = createPaper(true, { COLUMNS: '40', NO_COLOR: '1' });
    paper.printer.fields([
      ['learning', 'Lessons are written by openai/gpt-5.2, at most $1.00 a day'],
      ['learning', 'second'],
      ['since', '3 min ago'],
    ]);
    expect(paper.out()).toBe(
      [
        'learning  Lessons are written by',
        '          openai/gpt-5.2, at most $1.00',
        '          a day',
        '          second',
        'since     3 min ago',
        '',
      ].join('\n'),
    );
  });
});
