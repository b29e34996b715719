import { expect, it } from 'vitest';
import type { Author, Change } from '../../../src/core/lesson.ts';
import { createReturnToldRow } from '../../../src/learn/memory/return-told.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { appendTo, openOn, person } from '../../lessons/library/samples.ts';
import { lessonText } from '../../support/lesson-text.ts';
import { runRows } from '../run-rows.ts';

const told = (id: string, state: 'trial' | 'live' = 'live'): Change => ({
  op: 'add',
  id,
  kind: 'skill',
  state,
  text: lessonText({
    name: id,
    description: `"${id}"`,
    content: `The user said:\n\n> Always mind ${id}.`,
    evidence: { turns: [`t-${id}`], quotes: [], learner: 'distiller' },
  }),
});
const measurement: Author = { kind: 'instar', name: 'measurement' };

it('lists what a measurement of an earlier version retired for one decision, with the person’s words, and once', async () => {
  const store = createMemoryStore();
  let sets = 0;
  /** As an earlier version recorded it. */
  const record = (by: Author, ...changes: readonly Change[]) =>
    appendTo(store, {
      at: ++sets,
      fact: {
        type: 'library-changed',
        set: `set-${sets}`,
        by,
        reason: 'an earlier version',
        generation: sets,
        changes: changes.map((change) => JSON.parse(JSON.stringify(change))),
      },
    });
  await record(person, told('dates'), told('units'), told('names', 'trial'), told('old'), told('colours'));
  await record(measurement, { op: 'retire', id: 'dates', reason: 'harmful' });
  await record(measurement, { op: 'retire', id: 'old', reason: 'superseded', supersededBy: 'units' });
  await record(person, { op: 'retire', id: 'colours', reason: 'retired by a person' });
  const { library } = await openOn(store);
  expect(library.lesson('dates')?.state).toBe('retired');
  const run = runRows(library);
  await run([createReturnToldRow(library)]);
  expect(library.lesson('dates')).toMatchObject({ state: 'proposed' });
  expect(library.lesson('dates')?.reason).toContain('you said: "Always mind dates."');
  expect(['names', 'units', 'old', 'colours'].map((id) => library.lesson(id)?.state)).toEqual([
    'live',
    'live',
    'retired',
    'retired',
  ]);
  await library.publish({
    id: 'no',
    by: person,
    reason: 'no',
    changes: [{ op: 'move', id: 'dates', to: 'rejected' }],
  });
  await run([createReturnToldRow(library)]);
  expect(library.lesson('dates')?.state).toBe('rejected');
});
