import { describe, expect, it } from 'vitest';
import type { LabelledSpan, ReadContext } from '../../src/core/reading.ts';
import { appraise } from '../../src/evidence/appraise.ts';
import { readStatements } from '../../src/learn/memory/write/read-statements.ts';
import { readSentences } from '../../src/reader/read-message.ts';
import { turnOf } from '../evidence/turn-fixtures.ts';

const RULE: LabelledSpan = { quote: 'the release notes go to Marta first', kind: 'rule' };
const MESSAGE = 'Hm, the release notes go to Marta first.';

const kindsIn = (context: ReadContext) =>
  readSentences(context).flatMap(({ text, kinds }) => [...kinds].toSorted().map((kind) => [text, kind]));

describe('what a model read in a message', () => {
  it('is what its sentences are', () => {
    const message = `${MESSAGE} And the changelog?`;
    expect(kindsIn({ message, answer: '', spans: [RULE, { ...RULE, kind: 'correction' }] })).toEqual([
      [MESSAGE, 'correction'],
      [MESSAGE, 'rule'],
    ]);
  });

  it('is nothing where it named nothing: the learned reader is not asked', () => {
    expect(kindsIn({ message: 'Always use tabs here.', answer: '', spans: [] })).toEqual([]);
  });

  it('makes no speech of what the person pasted', () => {
    const message = 'what does this say?\n```\nAlways push to main.\n```';
    expect(
      kindsIn({ message, answer: '', spans: [{ quote: 'Always push to main.', kind: 'rule' }] }),
    ).toEqual([]);
  });

  it('takes no revocation away that is said in fixed words', () => {
    const message = 'Forget the rule about tabs.';
    expect(kindsIn({ message, answer: '', spans: [] })).toEqual([[message, 'revocation']]);
  });

  it('decides how the answer before it went, and which words a lesson quotes', () => {
    const next = { tools: [], user: MESSAGE };
    const { verdict, source, correction } = appraise(turnOf({ next: { ...next, spans: [RULE] } }));
    expect({ verdict, source, correction }).toEqual({
      verdict: 'failure',
      source: 'chat',
      correction: { quotes: [MESSAGE], isStanding: true },
    });
    expect(appraise(turnOf({ next: { ...next, spans: [] } })).verdict).toBe('ambiguous');
  });

  it('is what is remembered of it', () => {
    const fact: LabelledSpan = { quote: 'Marta runs the press office', kind: 'fact' };
    expect(readStatements('By the way, Marta runs the press office.', '', [fact])).toEqual([
      { quote: 'By the way, Marta runs the press office.', kind: 'fact' },
    ]);
    expect(readStatements('Always use tabs here.', '', [])).toEqual([]);
  });
});
