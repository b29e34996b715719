import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { createMiniLmEmbed } from '../../../src/embed/minilm-embed.ts';
import { createQuoteComparison } from '../../../src/learn/compare-words.ts';
import { runCycle } from '../../../src/learn/cycle.ts';
import { createDistiller } from '../../../src/learn/distiller/distiller.ts';
import { checkLessonText } from '../../../src/lessons/check-lesson-text.ts';
import { libraryWith } from '../evolver/samples.ts';
import { gateWith } from '../gate/samples.ts';
import { corrected } from './distill.ts';

const model = createMiniLmEmbed();
afterAll(() => model.close());
const learner = createDistiller({
  checkText: checkLessonText,
  compareQuotes: createQuoteComparison(model.embed),
});
const gate = gateWith();
let cycles = 0;

/** Said one after the other in the chat, each answered with all lessons in force; the words that lessons in force quote. */
async function sayAll(said: readonly string[], task: (nth: number) => string): Promise<string> {
  const library = await libraryWith();
  const inUse = () => library.lessons().filter(({ state }) => state === 'live');
  for (const [nth, words] of said.entries()) {
    const shown = inUse().map(({ id }) => id);
    const cases = [{ ...corrected(nth + 1, words, { task: task(nth) }), shown }];
    await runCycle(
      { id: `c${++cycles}`, learner, material: cases, cases, items: [] },
      {
        library,
        ask: undefined,
        gate: (proposal, all) => gate(proposal, all, library),
        clock: systemClock,
        newId: (prefix) => `${prefix}-${++cycles}`,
        journal: () => undefined,
        signal: new AbortController().signal,
      },
    );
  }
  return inUse()
    .map(({ text }) => text.content)
    .join('\n\n======\n');
}

describe('what a person says one after the other', () => {
  it('is kept for each of the numbered things that it is about', async () => {
    const rules = [0, 1, 2, 3].flatMap((nth) => [
      `No. We use the short names of list ${nth} here, not the long ones.`,
      `No. We never use floats for the sums of ledger ${nth}.`,
    ]);
    const kept = await sayAll(rules, (nth) => `Add the totals of client ${nth >> 1} to summary.md`);
    for (const rule of rules) expect(kept).toContain(rule.replace('No. ', ''));
  });

  it('is kept where a lesson on something near has no room for further words', async () => {
    const rules = [
      'Never use floats for sums.',
      'Always write the currency behind every total.',
      'Amounts always have two decimals.',
      'Always put a blank line in front of the totals.',
      'Negative amounts are always written in brackets.',
      'Always sort the clients of the summary by name.',
      'Every amount is rounded half to even.',
    ];
    const kept = await sayAll(rules, () => 'Add the totals to summary.md');
    for (const rule of rules) expect(kept).toContain(rule);
  });

  it('holds in its newest words where the number is what is chosen', async () => {
    const kept = await sayAll(
      ['Always run the server on port 80.', 'From now on always run the server on port 81.'],
      () => 'Start the server',
    );
    expect(kept).toContain('port 81');
    expect(kept).not.toContain('port 80.');
  });
});
