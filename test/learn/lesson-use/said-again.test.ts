import { describe, expect, it } from 'vitest';
import type { FailureCase } from '../../../src/core/learn.ts';
import { createDistiller } from '../../../src/learn/distiller/distiller.ts';
import { checkLessonText } from '../../../src/lessons/check-lesson-text.ts';
import { setOf } from '../../lessons/library/samples.ts';
import { failure, learnFrom, libraryWith } from '../evolver/samples.ts';

const scope = { agent: 'coder', project: 'shop' };
const corrected = (turn: string, quote: string, shown?: readonly string[]): FailureCase =>
  failure({
    ...{ turn, session: `s-${turn}`, scope, source: 'chat', task: 'add the export of orders' },
    passages: [
      { origin: 'user', text: 'add the export of orders' },
      { origin: 'assistant', text: 'I added it.' },
      { origin: 'user', text: quote },
    ],
    ...(shown === undefined ? {} : { shown }),
    appraisal: { source: 'chat', correction: { quotes: [quote], isStanding: true } },
  });

const distiller = createDistiller({ checkText: checkLessonText });
const FIRST = 'Always write dates in the export as ISO strings.';
const AGAIN = 'ISO strings for dates please, also in the footer of the report.';

/** A library with the lesson that the first correction became. */
async function taught() {
  const library = await libraryWith();
  const { proposals } = await learnFrom(distiller, [corrected('t1', FIRST)], { library });
  const [change] = proposals.map((one) => one.change);
  if (change?.op !== 'add') throw new Error('nothing was learned');
  await library.publish(setOf('taught', [{ ...change, state: 'trial' }]));
  return { library, id: change.id };
}

describe('a correction that had to be made again', () => {
  it('revises the lesson that was shown, with the newest words first, and adds no second one', async () => {
    const { library, id } = await taught();
    const { proposals } = await learnFrom(distiller, [corrected('t2', AGAIN, [id])], { library });
    expect(proposals).toMatchObject([{ change: { op: 'revise', id } }]);
    const [change] = proposals.map((one) => one.change);
    const content = change !== undefined && 'text' in change ? change.text.content : '';
    expect(content).toContain('The user said, 2 times:');
    expect(content.indexOf(AGAIN)).toBeLessThan(content.indexOf(FIRST));
  });

  it('is a lesson of its own when the other was not shown, or when it is about something else', async () => {
    const { library, id } = await taught();
    const alone = await learnFrom(distiller, [corrected('t2', AGAIN)], { library });
    expect(alone.proposals).toMatchObject([{ change: { op: 'add' } }]);
    const other = 'Never commit files of the dist folder.';
    const { proposals } = await learnFrom(distiller, [corrected('t3', other, [id])], { library });
    expect(proposals).toMatchObject([{ change: { op: 'add' } }]);
  });
});
