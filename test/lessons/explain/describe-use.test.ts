import { describe, expect, it } from 'vitest';
import { createLessonEffects } from '../../../src/lessons/effect/lesson-effects.ts';
import { describeUse } from '../../../src/lessons/explain/describe-use.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { add, openOn, setOf, text } from '../library/samples.ts';

describe('what practice found', () => {
  it('is counted with how much of it a scored session was shown', async () => {
    const { library } = await openOn(createMemoryStore());
    const effects = createLessonEffects();
    const trials = { of: () => undefined };
    expect(describeUse(library, trials, effects).practised).toBeUndefined();
    const { note } = text();
    const found = text({ note: { ...note, source: 'practice' } });
    await library.publish(
      setOf('s', [
        add('recalled', { text: { ...found, name: 'recalled' } }),
        add('never', { text: { ...found, name: 'never' } }),
        add('told', { text: text({ name: 'told' }) }),
      ]),
    );
    effects.add({
      seq: 100,
      at: 1,
      fact: { type: 'session-scored', session: 's', score: 1, lessons: ['recalled', 'told'], heldOut: [] },
    });
    expect(describeUse(library, trials, effects).practised).toEqual({ inUse: 2, shown: 1 });
  });
});
