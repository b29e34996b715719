import { describe, expect, it } from 'vitest';
import { setOf } from '../../lessons/library/samples.ts';
import { libraryWith } from '../evolver/samples.ts';
import { hear, toldOf } from './distill.ts';

/** Distills one feedback after another and publishes each result before the next. */
async function hearInTurn(...said: readonly string[]) {
  const library = await libraryWith();
  const steps: string[] = [];
  for (const [index, feedback] of said.entries()) {
    const { proposals, known } = await hear([toldOf(index + 1, feedback)], library);
    const changes = proposals.map(({ change }) => change);
    if (changes.length > 0) await library.publish(setOf(`c${index}`, changes));
    steps.push(...changes.map(({ op }) => op), ...known.map(() => 'known'));
  }
  return { steps, lessons: library.lessons() };
}

describe('a repeated rule', () => {
  it('with another date, file or number is known, and nothing is proposed', async () => {
    const { steps, lessons } = await hearInTurn(
      'Times must look like 2031-04-02T09:15:00Z in every file.',
      'Times must look like 2031-11-23T17:40:00Z in every file.',
      'Every time in a file has to be written as 2032-01-05T08:00:00Z.',
    );
    expect(steps).toEqual(['add', 'known', 'known']);
    expect(lessons).toHaveLength(1);
  });

  it('in other words is the same skill', async () => {
    const { steps, lessons } = await hearInTurn(
      'Before you change a file that is already there, copy it to a/plan.json.old.',
      'You have to save the old version as b/list.json.old before you touch b/list.json; the same goes for every existing file.',
      'We never edit an existing file before there is a .old of it: copy c/figures.json to c/figures.json.old first.',
    );
    expect(lessons).toHaveLength(1);
    expect(steps.filter((step) => step === 'add')).toHaveLength(1);
  });

  it.each([
    [
      'a literal',
      'Reports need a footer with the editor.',
      'Reports need a footer with the editor and `review_date`.',
    ],
    ['a measure', 'Indent nested lists with 4 spaces.', 'Indent nested lists with 2 spaces.'],
    [
      'more of the same',
      'Column names must be lower case.',
      'Column names have to be lower case with underscores.',
    ],
  ])('with %s that is new becomes a revision', async (_, first, second) => {
    const { steps, lessons } = await hearInTurn(first, second);
    expect(steps).toEqual(['add', 'revise']);
    expect(lessons[0]?.text.content.split('\n')[2]).toContain(second.slice(second.lastIndexOf(' ') + 1, -1));
  });

  it('is revised at most three times, however often it is reworded', async () => {
    const { steps, lessons } = await hearInTurn(
      ...['neatly', 'plainly', 'without haste', 'in ink', 'twice', 'by hand', 'on paper', 'in blue'].map(
        (how) => `Every delivery note must be signed ${how}.`,
      ),
    );
    expect(lessons).toHaveLength(1);
    expect(steps.filter((step) => step === 'revise').length).toBeLessThanOrEqual(3);
    expect(steps.filter((step) => step === 'known').length).toBeGreaterThan(0);
  });

  it('reports which lesson covers which failures', async () => {
    const library = await libraryWith();
    const first = await hear([toldOf(1, 'Invoices must name the buyer.')], library);
    await library.publish(
      setOf(
        'c1',
        first.proposals.map(({ change }) => change),
      ),
    );
    const again = await hear(
      [
        toldOf(2, 'Invoices must name the buyer.'),
        toldOf(3, 'An invoice must name the buyer.'),
        toldOf(4, 'B is wrong.'),
      ],
      library,
    );
    expect(again.proposals).toEqual([]);
    expect(again.known.map(({ known, turns }) => [known, turns.toSorted()])).toEqual([
      [library.lessons()[0]?.id, ['t2', 't3']],
    ]);
  });
});

describe('two rules', () => {
  it.each([
    ['File names must be lower case.', 'Column names must be lower case.'],
    [
      'Start each file you create with `# internal` on top.',
      'List each file you create in `index.txt` with its size.',
    ],
    ['Commit messages must name the ticket.', 'Error messages must name the cause.'],
  ])('stay two: %s %s', async (first, second) => {
    expect((await hearInTurn(first, second)).lessons).toHaveLength(2);
  });
});

describe('a skill', () => {
  it('is named after its verb and object, and has a fitting trigger', async () => {
    const { lessons } = await hearInTurn(
      'A time in a file has to look like 2030-06-26T09:15:00Z; it always ends in Z.',
      'Please sort the keys of every JSON file you write alphabetically.',
      'Plots need a scale bar.',
    );
    expect(lessons.map(({ text }) => text.name).toSorted()).toEqual([
      'plots-scale-bar',
      'sort-keys-json-file',
      'times-file',
    ]);
    const descriptions = lessons.map(({ text }) => text.description).join('\n');
    expect(descriptions).toContain('When you write a date or a time into a file: ');
    expect(descriptions).toContain('When you deal with plots: ');
  });

  it('contains the file name of the case in its example only', async () => {
    const { lessons } = await hearInTurn(
      'You forgot to copy day1/plan.json to day1/plan.json.old before changing it.',
    );
    const lines = lessons[0]?.text.content.split('\n') ?? [];
    expect(lines).toContain('1. Copy `<file>` to `<file>.old` before changing it.');
    expect(lines).toContain('Example: day1/plan.json.old');
  });
});
