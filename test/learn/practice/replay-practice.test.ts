import { describe, expect, it } from 'vitest';
import { createCalibration } from '../../../src/evidence/judge/calibration.ts';
import { readTrials } from '../../../src/lessons/effect/fold-trials.ts';
import { lessonText } from '../../support/lesson-text.ts';
import { openScripted } from './open-scripted.ts';
import { attemptOf } from './scripted-practice.ts';
import { createRecordedWork } from './sources/recorded-work.ts';

/** A judge that people were found to agree with. */
function trustedJudge() {
  const calibration = createCalibration();
  for (let at = 0; at < 40; at++)
    for (const source of ['judge', 'person'] as const)
      calibration.hear({ turn: `t${at}`, source, score: 1, at: 1 });
  return calibration;
}

/** Requests in words that were answered at once; nothing says how well. */
function recordRequests() {
  const work = createRecordedWork();
  for (const topic of ['trains', 'bread', 'horses', 'museums', 'tents', 'flowers'])
    work.record(`s-${topic}`, [{ user: `Tell me about the cost of ${topic}` }, { agent: 'It is high.' }]);
  return work;
}

type Opened = Awaited<ReturnType<typeof openScripted>>;

const addLesson = ({ lessons }: Opened): Promise<unknown> =>
  lessons.library.publish({
    id: 'p',
    by: { kind: 'learner', name: 'evolver' },
    reason: 'r',
    changes: [
      {
        op: 'add',
        id: 'signs',
        kind: 'skill',
        state: 'trial',
        text: lessonText({
          name: 'currency-signs',
          description: 'When costs are told.',
          content: 'Put the currency sign before every amount.',
          note: { source: 'practice' },
        }),
      },
    ],
  });

/** With the lesson the answer is better, and nothing but a comparison can tell. */
const attempt = async (order: Parameters<typeof attemptOf>[0]) =>
  attemptOf(order, {
    ...(order.task.id.startsWith('replay/') ? { outcome: { is: 'ungraded' } } : {}),
    output: order.shown.lessons.includes('signs')
      ? `Every amount carries its currency sign: ${order.seed}`
      : `The amounts have none: ${order.seed}`,
  });
const TRIALS = { trials: { pairs: 40, repeats: 1 } };
const comparisons = ({ asked }: Opened) => asked.filter(({ stage }) => stage === 'compare');

describe('a lesson that no task fits', () => {
  it('is measured on recorded requests that a trusted judge compares in both orders', async () => {
    const work = recordRequests();
    const practice = await openScripted(
      {},
      {
        ...work,
        limits: TRIALS,
        now: 5_000,
        calibration: trustedJudge(),
        attempt,
      },
    );
    await addLesson(practice);
    await practice.command('add', { text: '{"prompt": "What is the cost of rent?", "answer": "high"}' });
    await practice.command('run', { kind: 'micro' });
    await practice.finish();
    expect(practice.lessons.library.lesson('signs')?.state).toBe('live');
    expect(practice.lessons.library.history('signs').at(-1)?.reason).toContain('a judge compared');
    expect(comparisons(practice).length).toBeGreaterThan(10);
    // The session pays for what was asked.
    expect((await practice.command('report')).stages).toContainEqual(
      expect.objectContaining({ stage: 'compare', calls: comparisons(practice).length }),
    );
  });

  it('is not decided by a judge that nobody compared with people: real sessions decide, or its date comes', async () => {
    const work = recordRequests();
    const practice = await openScripted(
      {},
      {
        ...work,
        limits: TRIALS,
        now: 5_000,
        calibration: createCalibration(),
        attempt,
      },
    );
    await addLesson(practice);
    await practice.command('add', { text: '{"prompt": "What is the cost of rent?", "answer": "high"}' });
    await practice.command('run', { kind: 'micro' });
    await practice.finish();
    const trial = (await readTrials(practice.records)).of('lesson/signs/1');
    expect(trial).toBeDefined();
    expect(trial?.end).toBeUndefined();
    expect(comparisons(practice)).toEqual([]);
  });
});
