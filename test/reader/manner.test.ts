import { describe, expect, it } from 'vitest';
import { readStatements } from '../../src/learn/memory/write/read-statements.ts';
import { readSentences } from '../../src/reader/read-message.ts';

const ANSWER = 'Here is the summary: the meeting went well, and three points are open.';
const rulesIn = (message: string, answer: string) =>
  readStatements(message, answer).filter(({ kind }) => kind === 'rule');

describe('how a person wants to be answered, in a few words', () => {
  it.each(['be concise', 'no emojis', 'shorter please, always', 'less chatty from now on', 'stay in scope'])(
    '"%s" holds for later work, behind an answer and at the beginning',
    (message) => {
      for (const answer of ['', ANSWER]) {
        const [sentence] = readSentences({ message, answer });
        expect([...(sentence?.kinds ?? [])].some((kind) => kind === 'preference' || kind === 'rule')).toBe(
          true,
        );
        expect(rulesIn(message, answer)).toMatchObject([{ quote: message }]);
      }
    },
  );

  it('beside a request it is about that request (not about later work)', () => {
    for (const message of ['Summarise the meeting. Be concise.', 'Draft the letter, no emojis'])
      expect(rulesIn(message, ''), message).toEqual([]);
  });

  it('is none in a request, a remark, an answer to a question or a greeting of few words', () => {
    for (const message of [
      ...[
        'run it again',
        'commit and push',
        'open a PR',
        'add tests',
        'sounds good',
        'no problem',
        'be right back',
      ],
      ...['no output', 'no data', 'still nothing', 'ok', 'try again', 'have a nice weekend', 'Keep going!'],
    ])
      expect(rulesIn(message, ANSWER), message).toEqual([]);
    expect(rulesIn('no emojis', 'Shall I put emojis into the titles?')).toEqual([]);
  });
});
