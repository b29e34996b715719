import { describe, expect, it } from 'vitest';
import type { IdentityTier, Lesson, LessonText } from '../../../src/core/lesson.ts';
import type { IdentityJudge } from '../../../src/learn/identity/reward-shaping.ts';
import { withRulings } from '../../../src/learn/identity/rule-answers.ts';
import { lessonText } from '../../support/lesson-text.ts';

const { signal } = new AbortController();
const withTier = (text: LessonText, tier: IdentityTier): LessonText => ({
  ...text,
  note: { ...text.note, tier },
});
const identity = (tier: IdentityTier, content: string): Lesson => ({
  id: tier,
  kind: 'identity',
  state: 'live',
  revision: 1,
  text: withTier(
    lessonText({ name: `${tier}-lines`, description: 'Who it is.', content, scope: { agent: 'ada' } }),
    tier,
  ),
  pinned: false,
  frozen: false,
  createdAt: 0,
  changedAt: 0,
});
const JUDGE: IdentityJudge = {
  model: 'p/judge',
  rule: async (_, __, reply) =>
    reply === '' ? undefined : { score: reply === 'neun' ? 1 : 0, reason: '', isBroken: reply !== 'neun' },
};
const rule = async (lessons: readonly Lesson[], agent: string, judge: IdentityJudge | undefined = JUDGE) => {
  let opened = 0;
  const practice = withRulings(
    { command: async () => ({ passed: true }), close: async () => undefined },
    {
      library: { lessons: () => lessons },
      openJudge: async () => {
        opened++;
        return judge;
      },
    },
  );
  const told = await practice.command(
    { do: 'rule', agent, task: '3 × 3?', answers: ['neun', 'nine', ''] },
    signal,
  );
  return { told, opened, other: await practice.command({ do: 'status' }, signal) };
};

describe('the judge of an identity, asked by training', () => {
  it('says of each answer how far it keeps the lines of its agent; other commands pass', async () => {
    const { told, other } = await rule([identity('core', 'Answer in German.')], 'ada');
    expect(told).toEqual({
      judge: 'p/judge',
      rulings: [{ score: 1, isBroken: false }, { score: 0, isBroken: true }, null],
    });
    expect(other).toEqual({ passed: true });
  });

  it('calls no answer broken where it may mean a line that is not of the core', async () => {
    const { told } = await rule(
      [identity('core', 'Answer in German.'), identity('guarded', 'Be brief.')],
      'ada',
    );
    expect(told.rulings).toMatchObject([{ isBroken: false }, { score: 0, isBroken: false }, null]);
  });

  it('is not asked about an agent without lines', async () => {
    expect(await rule([identity('core', 'Answer in German.')], 'bob')).toMatchObject({
      told: { rulings: [] },
      opened: 0,
    });
  });
});
