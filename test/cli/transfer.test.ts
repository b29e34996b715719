import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openHome } from '../../src/config/home.ts';
import { NOTHING_SPENT } from '../../src/core/budget.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { Fact } from '../../src/core/fact.ts';
import { lessonSubject } from '../../src/core/trial.ts';
import { lessonHash } from '../../src/lessons/compare-blocks.ts';
import { openLessons } from '../../src/lessons/open-lessons.ts';
import { toRecords } from '../../src/record/records.ts';
import { openSqliteStore } from '../../src/record/store/sqlite-store.ts';
import { makeHome } from '../support/daemon.ts';
import { lessonText } from '../support/lesson-text.ts';
import { runInProcess } from './run-cli.ts';

let home: ReturnType<typeof makeHome>;
const instar = (...args: string[]) => runInProcess([...args, '--home', home.dir]);

/** A trial of 20 pairs that ended like this. */
const trial = (
  subject: string,
  having: number,
  outcome: 'helpful' | 'harmful',
  why: string,
): readonly Fact[] => [
  { type: 'trial-opened', subject, place: 1, until: 0 },
  {
    type: 'trial-measured',
    subject,
    by: 'tasks',
    begun: 20,
    pairs: Array.from({ length: 20 }, (_, at) => ({
      task: 't',
      root: `r${at % 4}`,
      with: having,
      without: 1 - having,
    })),
    used: NOTHING_SPENT,
  },
  { type: 'trial-ended', subject, outcome, why },
];

beforeAll(async () => {
  home = makeHome({});
  const store = openSqliteStore({ file: openHome(home.dir).storeFile });
  const records = toRecords(store, Date.now);
  const { library } = await openLessons({
    records,
    clock: systemClock,
    newId: (prefix) => `${prefix}_1`,
    onFault: (error) => {
      throw error;
    },
  });
  const words = { description: 'When you write a report.', scope: { agent: 'ada' } };
  const soul = lessonText({
    ...words,
    name: 'soul-guarded',
    content: 'You are calm.',
    note: { tier: 'guarded' },
  });
  await library.publish({
    id: 'c1',
    by: { kind: 'person', name: 'person' },
    reason: 'test',
    changes: [
      {
        op: 'add',
        id: 'les-total',
        kind: 'skill',
        state: 'live',
        text: lessonText({ ...words, name: 'total-first', content: 'Put the total first.' }),
      },
      {
        op: 'add',
        id: 'les-plain',
        kind: 'skill',
        state: 'live',
        text: lessonText({ ...words, name: 'plain-words', content: 'Use plain words.' }),
      },
      { op: 'add', id: 'les-soul', kind: 'identity', state: 'proposed', text: soul },
    ],
  });
  const facts: readonly Fact[] = [
    ...trial(lessonSubject('les-total', 1), 1, 'helpful', '+1.00 [+0.50, +1.00] in 20 pairs of attempts'),
    ...trial(
      `identity/les-soul/${lessonHash(soul)}`,
      0,
      'harmful',
      '−1.00 [−1.00, −0.50] in 20 pairs of attempts',
    ),
    {
      type: 'job-ended',
      job: 'reflection',
      run: 'r',
      n: 1,
      end: 'done',
      isOver: true,
      note: '2 agents read',
      spent: { ms: 1, tokens: 0, usd: 0 },
    },
  ];
  await records.append(facts.map((fact) => ({ at: Date.now(), fact })));
  store.close();
});
afterAll(() => home.remove());

describe('instar lessons transfer', () => {
  it('puts a lesson that was measured to help on trial for another agent, once, and no other lesson', async () => {
    expect((await instar('lessons', 'transfer', 'plain-words', '--to', 'bob')).stderr).toContain(
      'no measurement shows',
    );
    expect((await instar('lessons', 'transfer', 'total-first')).stderr).toContain('--to AGENT');
    expect((await instar('lessons', 'transfer', 'total-first', '--to', 'ada')).stderr).toContain(
      'another agent',
    );
    expect((await instar('lessons', 'transfer', 'total-first', '--to', 'bob')).stdout).toContain(
      '“Put the total first” is on trial for bob',
    );
    expect((await instar('lessons', 'transfer', 'total-first', '--to', 'bob')).stderr).toContain(
      'bob has it already: “Put the total first” is trial',
    );
    expect(
      JSON.parse((await instar('lessons', 'show', 'total-first-for-bob', '--json')).stdout),
    ).toMatchObject({
      state: 'trial',
      scope: { agent: 'bob' },
      evidence: { transfer: { agent: 'ada', lesson: 'les-total', revision: 1 } },
      note: {
        context: expect.stringContaining('transferred from ada, lesson les-total: +1.00 [+0.50, +1.00]'),
      },
    });
  });
});

describe('instar status --why', () => {
  it('says what was learned from what, what it changed with intervals, and what waits with its measurement', async () => {
    const { stdout } = await instar('today');
    expect(stdout).toMatch(/Put the total first \(trial, .*\n +Learned from ada, lesson les-total\n/);
    expect(stdout).toContain('measured: helps: +1.00 [+0.50, +1.00] in 20 pairs of attempts');
    expect(stdout).toMatch(/waits +soul-guarded \(guarded part of ada\): harms: −1\.00 \[−1\.00, −0\.50\]/);
    expect(stdout).toMatch(/reflection +2 agents read/);
  });
});
