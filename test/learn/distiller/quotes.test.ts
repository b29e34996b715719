import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FailureCase } from '../../../src/core/learn.ts';
import { createDistiller } from '../../../src/learn/distiller/distiller.ts';
import { isFrameLine } from '../../../src/learn/distiller/write-lesson.ts';
import { checkLessonText } from '../../../src/lessons/check-lesson-text.ts';
import { oneLine, visibleText } from '../../../src/text/visible-text.ts';
import { runsOf } from '../../support/counts.ts';
import { proposedText } from '../../support/proposed-text.ts';
import { failure, learnFrom } from '../evolver/samples.ts';
import { COMPLAINTS, GENERAL_FEEDBACK, HOUSE_RULES } from './corpora.ts';
import { corrected } from './distill.ts';

const distiller = createDistiller({ checkText: checkLessonText });
const ALL = [...COMPLAINTS, ...GENERAL_FEEDBACK, ...HOUSE_RULES.map(({ feedback }) => feedback)];

const textOf = ({ task, passages }: FailureCase): string =>
  oneLine([task, ...passages.map(({ text }) => text)].join('\n'));
const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Every line that is not the frame is a passage of the evidence, letter by letter; and no word comes from elsewhere. */
async function expectQuotes(one: FailureCase): Promise<number> {
  const { proposals } = await learnFrom(distiller, [one]);
  const evidence = textOf(one);
  for (const proposal of proposals) {
    const { name, description, content, note } = proposedText(proposal);
    expect(checkLessonText(proposedText(proposal))).toBeUndefined();
    const lines = content.split('\n').filter((line) => line !== '' && !isFrameLine(line));
    for (const line of lines) {
      expect(line).toMatch(/^> /);
      expect(evidence).toContain(oneLine(line.slice(2)).replace(/ …$/, ''));
    }
    const index = description.replace(/^"|"$/g, '').replace(/ …$/, '');
    expect(oneLine(lines.map((line) => line.slice(2)).join('\n'))).toContain(index);
    const known = new Set([
      ...wordsOf(evidence),
      ...wordsOf(evidence.normalize('NFKD').replace(/[\p{M}'’]/gu, '')),
    ]);
    if (!/^said-[0-9a-f]{10}$/.test(name))
      for (const word of name.replace(/^about-/, '').split('-')) expect([...known].join(' ')).toContain(word);
    for (const trigger of note.triggers ?? []) expect(evidence).toContain(trigger.replace(/…$/, ''));
  }
  return proposals.length;
}

describe('a lesson says nothing that its evidence does not say', () => {
  it('has 200 complaints and more to prove it with', () => expect(COMPLAINTS.length).toBeGreaterThan(200));

  it.each(COMPLAINTS)('in the chat: %s', async (said) => {
    expect(await expectQuotes(corrected(1, said))).toBe(1);
  });

  it('as feedback of a person or a check', async () => {
    let learned = 0;
    for (const said of ALL)
      for (const origin of ['person', 'verifier'] as const)
        learned += await expectQuotes(failure({ source: origin, passages: [{ origin, text: said }] }));
    expect(learned).toBeGreaterThan(600);
  });

  it('keeps what each rule of a house needs, to the letter', async () => {
    const lost: string[] = [];
    for (const { feedback, essentials } of HOUSE_RULES) {
      const one = failure({ passages: [{ origin: 'person', text: feedback }] });
      const { proposals } = await learnFrom(distiller, [one]);
      const said = proposals
        .map((proposal) => proposedText(proposal).content)
        .join('\n')
        .toLowerCase();
      for (const essential of essentials)
        if (
          feedback.toLowerCase().includes(essential.toLowerCase()) &&
          !said.includes(essential.toLowerCase())
        )
          lost.push(feedback);
    }
    expect(lost).toEqual([]);
  });

  it('whatever the feedback contains', async () => {
    const word = fc.oneof(
      fc.constantFrom(
        'never',
        'use',
        'not',
        '.',
        '"',
        '\n',
        '- [ ]',
        '```',
        '> ',
        'The user said:',
        ':',
        '##',
      ),
      fc.constantFrom(...COMPLAINTS.slice(0, 20)),
      fc.string({ unit: 'binary', maxLength: 12 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 30 }), async (words) => {
        const said = words.join(' ');
        const one = failure({ passages: [{ origin: 'person', text: said }] });
        const { proposals, journal } = await learnFrom(distiller, [one]);
        expect(journal.filter((note) => !note.startsWith('waits'))).toEqual([]);
        const seen = oneLine(said);
        for (const proposal of proposals) {
          const { content } = proposedText(proposal);
          expect(checkLessonText(proposedText(proposal))).toBeUndefined();
          for (const line of content.split('\n').filter((line) => line.startsWith('> ')))
            expect(`${seen} ${one.task}`).toContain(oneLine(line.slice(2)).replace(/ …$/, ''));
          for (const quote of proposal.quotes) expect(visibleText(said)).toContain(visibleText(quote.text));
        }
      }),
      runsOf(40, 120),
    );
  });

  it('in a time that grows with the length of the feedback, and no faster', async () => {
    for (const piece of [
      'missing ',
      '"',
      '(',
      'a, ',
      'x'.repeat(50),
      'not a but b ',
      '- ',
      '> ',
      '。',
      ' not a',
    ])
      await learnFrom(distiller, [corrected(1, piece.repeat(200_000 / piece.length))]);
  });
});
