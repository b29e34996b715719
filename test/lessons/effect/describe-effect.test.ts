import { describe, expect, it } from 'vitest';
import { createDescribeEffect } from '../../../src/lessons/effect/describe-trial.ts';
import type { TrialRecord } from '../../../src/lessons/effect/fold-trials.ts';
import { createLessonEffects } from '../../../src/lessons/effect/lesson-effects.ts';
import { lessonOf, scored, textOf } from './sample-lessons.ts';

const told = textOf({ note: { ...textOf().note, source: 'told' } });
const lessons = [
  lessonOf('first', { state: 'trial', createdAt: 1 }),
  lessonOf('second', { state: 'trial', createdAt: 2 }),
  lessonOf('said', { state: 'trial', text: told }),
];
const trial = (subject: string, until: string): TrialRecord => ({
  subject,
  place: 1,
  openedAt: 0,
  until: Date.parse(until),
  differences: { tasks: new Map(), replay: new Map() },
  begun: { tasks: 0, replay: 0 },
  used: { calls: 0, tokens: 0, usd: 0, unpriced: 0, ms: 0 },
});
const trials = new Map([
  ['lesson/first/1', trial('lesson/first/1', '2027-01-03T12:00:00Z')],
  ['lesson/second/1', trial('lesson/second/1', '2027-02-17T12:00:00Z')],
]);

describe('the effect of a lesson, in words', () => {
  const effects = createLessonEffects();
  for (let at = 0; at < 14; at++) effects.add(scored(at + 1, `s${at}`, at % 2, ['first', 'second']));
  for (let at = 14; at < 17; at++) effects.add(scored(at + 1, `s${at}`, at % 2, ['second'], ['first']));
  const library = { lessons: () => lessons, generation: 1 };
  const describeEffect = createDescribeEffect({
    library,
    effects,
    trials: { of: (subject) => trials.get(subject) },
  });
  const of = (id: string) => {
    const lesson = lessons.find((one) => one.id === id);
    return lesson && describeEffect(lesson);
  };

  it('has a date, what was counted, and how much more it takes', () => {
    expect(of('first')).toEqual({
      verdict: 'unknown',
      with: 14,
      without: 3,
      decideBy: '2027-01-03T12:00:00.000Z',
      needed: expect.any(Number),
      words: expect.stringMatching(
        /^on trial until 3 January: 14 sessions with it, 3 without; too early to tell \(about \d+ more\)$/,
      ),
    });
  });

  it('of one that waits for its turn is the date of its decision', () => {
    expect(of('second')?.words).toBe('in use, waits for its test, decided by 17 February');
  });

  it('is nothing for a person’s word', () => {
    expect(of('said')).toBeUndefined();
  });

  it('is the verdict once there is one, and the next lesson is on trial', () => {
    const fact = {
      type: 'trial-ended',
      subject: 'lesson/first/1',
      outcome: 'no-difference',
      why: '',
    } as const;
    effects.add({ seq: 99, at: 0, fact });
    expect(of('first')).toEqual({
      verdict: 'no-difference',
      with: 14,
      without: 3,
      words: 'no difference seen: 14 sessions with it, 3 without',
    });
    expect(of('second')?.words).toMatch(/^on trial until 17 February: 17 sessions with it, 0 without/);
  });
});
