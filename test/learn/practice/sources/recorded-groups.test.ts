import { describe, expect, it } from 'vitest';
import { findRecordedGroups } from '../../../../src/learn/practice/sources/recorded-groups.ts';
import { createRecordedWork, type WorkStep } from './recorded-work.ts';

const { signal } = new AbortController();
const ask = (words: string, ...rest: readonly WorkStep[]): readonly WorkStep[] => [{ user: words }, ...rest];
const RED: WorkStep = { run: 'npm test', out: 'Tests: 1 failed, 3 passed, 4 total', exit: 1 };
const GREEN: WorkStep = { run: 'npm test', out: 'Tests: 4 passed, 4 total' };
const EDIT: WorkStep = { edit: 'src/date.js' };

describe('offline practice', () => {
  it('makes groups of recorded attempts at similar requests, of one project and one generation', async () => {
    const work = createRecordedWork();
    work.record(
      's1',
      ask('Fix the month in the date parser', RED, EDIT, GREEN, { agent: 'It counts from one.' }),
    );
    work.record(
      's2',
      ask('please fix the month of the date parser', EDIT, RED, { agent: 'I could not fix it.' }),
    );
    work.record('s3', ask('Fix the month in the date parser', EDIT, GREEN, { agent: 'Done.' }), {
      generation: 2,
    });
    work.record('s4', ask('Fix the month in the date parser', EDIT, GREEN, { agent: 'Done.' }), {
      project: 'p2',
    });
    work.record('s5', ask('Fix the month in the date parser', EDIT, GREEN, { agent: 'Done.' }), {
      caller: 'anonymous',
    });
    const groups = await findRecordedGroups({ ...work }, signal);
    expect(groups).toHaveLength(1);
    const { gradedBy, attempts, task } = groups[0]?.group ?? { attempts: [] };
    expect(gradedBy).toBe('recorded');
    expect(task).toMatchObject({ isRecordOnly: true, isApproximate: true });
    const rewards = attempts.map(({ from, outcome }) => [
      from?.session,
      outcome.is === 'graded' ? outcome.reward : outcome.is,
    ]);
    expect(Object.fromEntries(rewards)).toEqual({ s1: 0.85, s2: 0.1 });
    expect(attempts[0]?.steps.length).toBeGreaterThan(0);
  });

  it("lets a person's later rating count for a similar answer to a similar request, and puts its group first", async () => {
    const work = createRecordedWork();
    const answer: WorkStep = { agent: 'The invoices of March are sorted by their date, newest first.' };
    const [first = ''] = work.record('s1', ask('Sort the invoices of March by date', answer));
    work.record(
      's2',
      ask(
        'sort the invoices of March by date please',
        answer,
        { user: 'thanks, perfect' },
        { agent: 'Good.' },
      ),
    );
    const before = await findRecordedGroups({ ...work }, signal);
    work.add({ type: 'reward-given', turn: first, source: 'person', score: -1 });
    const after = await findRecordedGroups({ ...work }, signal);
    const rewardOf = (groups: typeof after, session: string): number | undefined => {
      const one = groups.flatMap(({ group }) => group.attempts).find(({ from }) => from?.session === session);
      return one?.outcome.is === 'graded' ? one.outcome.reward : undefined;
    };
    expect(rewardOf(before, 's2') ?? 0.9).toBeGreaterThan(0.8);
    expect(rewardOf(after, 's1')).toBe(0);
    expect(rewardOf(after, 's2')).toBeLessThan(0.5);
    expect(after[0]).toMatchObject({ weight: 2, group: { gradedBy: 'person' } });
  });
});
