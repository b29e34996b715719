import { describe, expect, it } from 'vitest';
import type { Judgement } from '../../../src/core/learn.ts';
import type { Change, LessonText } from '../../../src/core/lesson.ts';
import type { Library } from '../../../src/core/library.ts';
import type { GateOptions } from '../../../src/learn/gate/gate.ts';
import { add, learner, setOf } from '../../library/shelf/samples.ts';
import { proposalOf } from './corpus/cases.ts';
import { CLEAN, gateWith, libraryWith, twoFailures } from './samples.ts';

const cases = twoFailures();
const text = (over: Partial<LessonText> = {}): LessonText => ({
  ...proposalOf(CLEAN, cases).change.text,
  ...over,
});
const other = { name: 'another-name', content: 'Something else.' };

async function judge(
  changes: readonly Change[],
  over: Partial<GateOptions> = {},
  change: Change = { op: 'add', id: 'new', kind: 'skill', state: 'live', text: text() },
): Promise<Judgement & { readonly library: Library }> {
  const library = await libraryWith(changes);
  if (change.op !== 'add' && change.op !== 'revise') throw new Error('not for learners');
  return { ...(await gateWith(over)({ change, quotes: [] }, cases, library)), library };
}
const revise = (over: Partial<LessonText> = {}, from = 1): Change => ({
  op: 'revise',
  id: 'a',
  from,
  text: text({ content: `${CLEAN.content}\n3. Name it.`, ...over }),
});

describe('a lesson that is there already', () => {
  it('is none where it does not hold: what another agent learned may be learned here', async () => {
    const elsewhere = text({ scope: { agent: 'someone-else' } });
    const here = text({ scope: { agent: 'me' } });
    const change = { op: 'add', id: 'new', kind: 'skill', state: 'live', text: here } as const;
    const findSimilar = async () => [{ id: 'a', cosine: 0.99 }];
    const { outcome } = await judge([add('a', { text: elsewhere })], { findSimilar }, change);
    expect(outcome).toBe('trial');
  });

  it('is refused by its name, with the id of the one to revise', async () => {
    const { outcome, why } = await judge([add('a', { text: text({ content: 'Something else.' }) })]);
    expect([outcome, why]).toEqual([
      'refused',
      ['a has the name guard-optional-lists already: revise that one'],
    ]);
  });

  it('is refused by its words, whatever its marks and its case', async () => {
    const content = CLEAN.content.toUpperCase().replaceAll('.', ' !');
    const { why } = await judge([add('a', { state: 'proposed', text: text({ name: 'b-name', content }) })]);
    expect(why).toEqual(['a says the same already: revise that one']);
  });

  it('is refused from a cosine of 0.9 to one in use, and not by one that is gone or unknown', async () => {
    const near = (id: string, cosine: number): Partial<GateOptions> => ({
      findSimilar: async () => [{ id, cosine }],
    });
    const shelf = [add('a', { text: text(other) }), add('b', { text: text({ ...other, name: 'b-name' }) })];
    const gone: Change = { op: 'retire', id: 'b', reason: 'old' };
    expect((await judge([...shelf, gone], near('a', 0.9))).why).toEqual([
      'a says nearly the same (0.90): revise that one',
    ]);
    expect((await judge([...shelf, gone], near('a', 0.89))).outcome).toBe('trial');
    expect((await judge([...shelf, gone], near('b', 1))).outcome).toBe('trial');
    expect((await judge([...shelf, gone], near('ghost', 1))).outcome).toBe('trial');
  });

  it('is compared by names and words alone when meanings cannot be compared', async () => {
    const findSimilar = () => Promise.reject(new Error('no model'));
    expect((await judge([add('a', { text: text(other) })], { findSimilar })).outcome).toBe('trial');
  });
});

describe('a lesson that was let go', () => {
  it('is refused when a person turned its words down, under whatever name', async () => {
    const shelf: readonly Change[] = [
      add('a', { state: 'proposed', text: text({ name: 'old-name' }) }),
      { op: 'move', id: 'a', to: 'rejected', reason: 'not true' },
    ];
    expect((await judge(shelf)).why).toEqual(['a person turned the same text down (a): not true']);
  });

  it('is refused when it was measured harmful, also if it was revised before it was retired', async () => {
    const shelf: readonly Change[] = [
      add('a', { text: text({ name: 'old-name' }) }),
      { op: 'revise', id: 'a', from: 1, text: text({ ...other, name: 'old-name' }) },
      { op: 'retire', id: 'a', reason: 'harmful' },
    ];
    expect((await judge(shelf)).why).toEqual(['the same text was retired (a): harmful']);
  });
});

describe('a revision', () => {
  const shown = add('a', { state: 'live', text: text() });

  it('of something frozen, gone, unknown, newer or just the same is refused', async () => {
    const refusals = [
      await judge([shown, { op: 'mark', id: 'a', frozen: true }], {}, revise()),
      await judge([shown, { op: 'retire', id: 'a', reason: '' }], {}, revise()),
      await judge([], {}, revise()),
      await judge([shown], {}, revise({}, 2)),
      await judge([shown], {}, revise({ content: CLEAN.content })),
    ];
    expect(refusals.map(({ outcome, why }) => `${outcome} ${why.join()}`)).toEqual([
      'refused a is frozen: only a person may change it',
      'refused a is retired: only a person may take it up again',
      'refused there is no lesson a to revise',
      'refused a has been revised since',
      'refused a says just that already',
    ]);
  });

  it('that is clean is published as it is', async () => {
    const { outcome, change, library } = await judge([shown], {}, revise());
    expect([outcome, change?.op]).toEqual(['trial', 'revise']);
    const { results } = await library.publish(setOf('s', change === undefined ? [] : [change], learner));
    expect(results.map(({ status }) => status)).toEqual(['applied']);
  });

  it('that a person has to see waits beside what is shown, and is not offered twice', async () => {
    const doubtful = revise({ content: `${CLEAN.content}\n3. Email the vendor.` });
    const { outcome, change, library } = await judge([shown], {}, doubtful);
    expect([outcome, change?.op, change?.text.name]).toEqual([
      'proposed',
      'add',
      'guard-optional-lists-revised',
    ]);
    expect(change?.text.note.links).toEqual(['a']);
    const { results } = await library.publish(setOf('s', change === undefined ? [] : [change], learner));
    expect(results.map(({ status }) => status)).toEqual(['applied']);
    expect(library.lesson('a')?.revision).toBe(1);
    if (doubtful.op !== 'revise') throw new Error('a revision');
    const again = await gateWith()({ change: doubtful, quotes: [] }, cases, library);
    expect(again.outcome).toBe('refused');
  });

  it('of something that waits goes on waiting, and taint stays', async () => {
    const waiting = await judge([add('a', { state: 'proposed', text: text() })], {}, revise());
    const tainted = await judge([add('a', { state: 'live', text: text({ taint: ['web'] }) })], {}, revise());
    expect([waiting.outcome, waiting.change?.op]).toEqual(['proposed', 'revise']);
    expect([tainted.outcome, tainted.change?.text.taint]).toEqual(['proposed', ['web']]);
  });

  it('does not change where a lesson holds, or its name, without a person', async () => {
    expect((await judge([shown], {}, revise({ scope: {} }))).why).toEqual([
      'it changes where a lesson holds',
    ]);
    expect((await judge([shown], {}, revise({ name: 'new-name' }))).why).toEqual([
      'it changes the name of a lesson',
    ]);
  });
});
