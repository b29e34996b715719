import { describe, expect, it } from 'vitest';
import { withoutWordsOf } from '../../../src/record/store/erase-words.ts';
import { textOf } from '../../lessons/effect/sample-lessons.ts';

describe('a lesson without the words of an erased session', () => {
  const text = textOf({
    name: 'tabs',
    description: '"use tabs here"',
    content: 'The user said, 2 times:\n> use tabs here\nSaid earlier on the same matter:\n> no spaces please',
  });

  it('loses a quotation of two or three words too (five in a row were asked for)', () => {
    const left = withoutWordsOf(text, ['No spaces, please!'], ['Use tabs here.']);
    expect(left?.content).not.toContain('no spaces please');
    expect(left?.content).toContain('> use tabs here');
    expect(left?.description).toBe('"use tabs here"');
  });

  it('keeps what another session says as well', () => {
    expect(withoutWordsOf(text, ['use tabs here'], ['please use tabs here', 'no spaces please'])).toBe(text);
  });

  it('loses a quoting description', () => {
    expect(withoutWordsOf(text, ['use tabs here'], ['no spaces please'])?.description).toBe('tabs');
  });
});
