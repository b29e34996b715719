import { describe, expect, it } from 'vitest';
import type { Lesson } from '../../src/core/lesson.ts';
import { readStoredTurn } from '../../src/record/stored-turn.ts';
import { createRecordedTasks } from '../../train/recorded-tasks.ts';
import { countTasks, sayRecordedTasks } from '../../train/task-sources.ts';
import { ruleCheck } from '../lessons/checks/make-check.ts';
import { lesson } from '../lessons/recall/sample-lessons.ts';
import { answer, DAY, ISO, isoRule, NOW, type Recorded, record } from './recorded-sessions.ts';

const { signal } = new AbortController();
const call = { content: [{ type: 'tool-call', id: 'c', name: 'look', arguments: '{}' }], stop: 'tool-calls' };

const ROWS = [
  { domain: 'math', kind: 'regex', pattern: '[0-9]' },
  { domain: 'exact', kind: 'exact' },
  { domain: 'costly', kind: 'rubric', criteria: [{ text: 'it is right' }] },
];

const THANKS = ruleCheck({
  appliesWhen: [{ is: 'pattern', pattern: 'Thanks' }],
  holdsWhen: [{ is: 'pattern', pattern: 'Thanks' }],
});
const thanksRule = lesson('thanks', { check: THANKS, note: { source: 'told' } });

const open = async (
  sessions: readonly Recorded[],
  rows: readonly object[] = ROWS,
  lessons: readonly Lesson[] = [],
) => {
  const records = await record(sessions);
  const tasks = createRecordedTasks({
    rows: rows as never,
    lessons: () => lessons,
    records,
    decodeTurn: (turn) => readStoredTurn(turn, records, new Map()),
    now: () => NOW,
  });
  return { records, ids: async () => (await tasks.gather(signal)).map(({ id }) => id), ...tasks };
};

describe('recorded tasks', () => {
  it("are the first request of a session, with the policy's sampling parameters", async () => {
    const { gather } = await open([{ session: 's', says: 'two and two' }]);
    expect(await gather(signal)).toEqual([
      {
        kind: 'recorded',
        tokens: { prompt: expect.any(Number), reply: 2 },
        id: 'recorded/s',
        request: {
          model: 'policy',
          system: [{ type: 'text', text: 'Be brief.' }],
          messages: [{ role: 'user', content: [{ type: 'text', text: 'two and two' }] }],
          tools: [expect.objectContaining({ name: 'look' })],
          maxTokens: 50,
          stream: false,
        },
        firstAt: expect.any(Number),
        text: 'two and two',
        domain: 'math',
        agent: 'ada',
        rules: [],
      },
    ]);
  });

  it('need a verifier that grades without a reference and without a model', async () => {
    const sessions = ['math', 'exact', 'costly', 'other'].map((domain) => ({ session: domain, domain }));
    expect(await (await open(sessions, [])).ids()).toEqual([]);
    expect(await (await open(sessions)).ids()).toEqual(['recorded/math']);
  });

  it('exclude sessions that began with a call, midway, as auxiliary or long ago; equal texts are one task', async () => {
    const { ids } = await open([
      { session: 'old', at: NOW - 31 * DAY },
      { session: 'first', at: NOW - 3, says: 'the same' },
      { session: 'calls', reply: call },
      {
        session: 'later',
        before: [
          { role: 'user', content: 'a' },
          { role: 'assistant', content: 'b' },
        ],
      },
      { session: 'title', role: 'aux' },
      { session: 'again', at: NOW + 1, says: 'the same' },
    ]);
    expect(await ids()).toEqual(['recorded/again']);
  });

  it('exclude erased sessions', async () => {
    const { ids, records } = await open([{ session: 'a' }, { session: 'b' }]);
    expect((await ids()).toSorted()).toEqual(['recorded/a', 'recorded/b']);
    await records.erase('a', 'asked for');
    expect(await ids()).toEqual(['recorded/b']);
  });

  it('are graded only by the verifier of their domain', async () => {
    const { grade } = await open([]);
    const of = { text: 'sum', agent: 'ada' };
    expect(await grade({ ...of, domain: 'math', answer: 'it is 4' }, signal)).toEqual({
      reward: 1,
      rules: [],
    });
    expect(await grade({ ...of, domain: 'math', answer: '' }, signal)).toEqual({ reward: 0, rules: [] });
    for (const domain of ['exact', 'costly', 'other'])
      expect(await grade({ ...of, domain, answer: '4' }, signal)).toBeUndefined();
  });

  describe('where nobody configured a verifier', () => {
    const REPORTS = [
      { session: 'kept', reply: answer('It left on 2026-11-17.') },
      { session: 'broken', reply: answer('It left on 17 Nov 2026.') },
      { session: 'undated', reply: answer('It left.') },
      { session: 'k_0123456789:theirs', reply: answer('It left on 2026-11-17.') },
    ];
    const graded = async (rules: readonly Lesson[]) => {
      const { gather } = await open(REPORTS, [], rules);
      return (await gather(signal)).map(({ id, rules: by }) => [id, by]).toSorted();
    };

    it('are those that a rule of the person applies to, also where the answer broke it; not those of other keys', async () => {
      expect(await graded([isoRule('iso')])).toEqual([
        ['recorded/broken', ['iso']],
        ['recorded/kept', ['iso']],
      ]);
    });

    it('are none where the check is provisional, or the rule is inferred, of another key or another agent', async () => {
      const provisional = { ...isoRule('a'), check: { ...ISO, standing: 'provisional' as const } };
      const inferred = lesson('b', { check: ISO, note: { source: 'inferred' } });
      const foreign = isoRule('c', { member: 'k_0123456789' });
      const others = isoRule('d', { agent: 'bob' });
      expect(await graded([provisional, inferred, foreign, others])).toEqual([]);
      expect((await open([], [], [provisional, inferred])).canGrade).toBe(false);
    });

    it('give an attempt the share of rules that it keeps, and no reward where it avoids the subject', async () => {
      const { grade, canGrade } = await open([], [], [isoRule('iso'), thanksRule]);
      expect(canGrade).toBe(true);
      const of = { text: 'When did it leave?', domain: 'general', agent: 'ada' };
      expect(await grade({ ...of, answer: 'On 17 Nov 2026. Thanks.' }, signal)).toEqual({
        reward: 0.5,
        rules: ['iso', 'thanks'],
      });
      expect(await grade({ ...of, answer: 'On 2026-11-17.' }, signal)).toEqual({ reward: 1, rules: ['iso'] });
      expect(await grade({ ...of, answer: 'Last week.' }, signal)).toBeUndefined();
    });

    it('are counted in one sentence with the rules that grade them', async () => {
      const { gather } = await open(REPORTS, [], [isoRule('iso')]);
      const count = countTasks(await gather(signal));
      expect(sayRecordedTasks(count, 108)).toMatch(
        /^2 tasks, graded by 1 of your rules \(\d to train on, \d held out\); about 108 must be held out$/,
      );
    });
  });
});
