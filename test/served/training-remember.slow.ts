import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asObject, toJson } from '../../src/core/json.ts';
import { openSqliteReader } from '../../src/record/store/sqlite-store.ts';
import { lessonText } from '../support/lesson-text.ts';
import {
  openTrainingEnvironment,
  removeFolder,
  runWindow,
  type TrainingEnvironment,
} from './training-environment.ts';

const WHEN = 'When a line, a file or a field has a date or a time: append, set, write, plan, notes.';
const RULE = 'Say every date in words.';
/** Whatever the policy answers keeps it: how well weights learn a rule is measured elsewhere. */
const CHECK = {
  looksAt: 'reply',
  appliesWhen: [],
  holdsWhen: [{ is: 'pattern', pattern: '[A-Za-z]' }],
  standing: 'accepted',
  by: 'person',
  proof: 'set by a person',
};
const SESSIONS = 70;

let environment: TrainingEnvironment;
beforeAll(async () => {
  environment = await openTrainingEnvironment({
    hasTasks: false,
    train: { amount: 'light' },
    override: {
      tuning: { seed: 1, mostPairs: 1_000 },
      // Few tasks decide here, and no canary: what is shown is the way, not the statistics.
      promotion: {
        power: 0,
        mostRepeats: 1,
        fewestTasks: 5,
        canaryMargin: 0.6,
        canarySessions: 0,
        regressionMargin: 0.9,
      },
    },
  });
});
afterAll(async () => {
  await environment.close();
  removeFolder(environment.dir);
});

const readRecalls = (session: string) => {
  const reader = openSqliteReader(`${environment.dir}/instar.sqlite`);
  try {
    const id = reader.sessions({ limit: 1_000 }).find((one) => one.id.endsWith(session))?.id ?? '';
    return reader.recalls(id).flatMap(({ fact }) => (fact.type === 'lessons-recalled' ? [fact] : []));
  } finally {
    reader.close();
  }
};
/** What a session was shown, once that is in the record. */
const recalled = async (session: string) => {
  await expect.poll(() => readRecalls(session)).not.toEqual([]);
  return readRecalls(session);
};
const taskOf = (at: number) =>
  `t${1000 + at}, May ${1 + (at % 28)}, 2031, 10:00, from Ada. Set state to done in a.json.`;

describe('train run --remember', { timeout: 300_000 }, () => {
  it('moves a rule with a check into the weights, whose prompts are shorter by its lesson from then on', async () => {
    const text = lessonText({
      name: 'letters',
      description: WHEN,
      content: `The user said:\n\n> ${RULE}`,
      evidence: { turns: [], quotes: [], learner: 'distiller' },
    });
    await environment.lessonsApi.change({
      changes: [{ op: 'add', id: 'letters', kind: 'skill', state: 'live', text: toJson(text), check: CHECK }],
      reason: 'a test',
    });
    for (let at = 0; at < SESSIONS; at++) await environment.chat(taskOf(at), { session: `s${at}` });
    await environment.daemon.settle();
    expect(await recalled('s0')).toMatchObject([{ lessons: ['letters'], block: expect.any(String) }]);

    const news = await runWindow(environment.training, { remember: true });
    const moves = news.flatMap((one) => (one.type === 'moved' ? [one.moved] : []));
    expect(moves.map(({ to }) => to)).toEqual(['candidate', 'canary', 'live']);
    expect(moves[1]?.why).toContain('without the lessons of a rule that it remembers');
    expect(news.some(({ type }) => type === 'step-trained')).toBe(false);

    const { headers } = await environment.chat(taskOf(500), { session: 'after' });
    expect(headers['x-instar-lessons']).toContain('letters');
    const [after] = await recalled('after');
    expect(after).toMatchObject({ lessons: ['letters'], remembered: ['letters'] });
    expect(after?.block).toBeUndefined();
    const counts = async () => asObject((await environment.lessonsApi.show('letters'))?.adherence);
    await expect.poll(counts).toMatchObject({ shown: SESSIONS + 1, kept: SESSIONS + 1 });
    expect((await environment.api.training()).remembers).toMatch(
      /^1 rule without a lesson in the prompt, up to \d+ tokens less$/,
    );
  });

  it('shows the lesson again once the rule was changed, and says that the weights still have the old one', async () => {
    const changed = lessonText({
      name: 'letters',
      description: WHEN,
      content: `The user said:\n\n> ${RULE} Always.`,
      evidence: { turns: [], quotes: [], learner: 'distiller' },
    });
    await environment.lessonsApi.change({
      changes: [{ op: 'revise', id: 'letters', from: 1, text: toJson(changed) }],
      reason: 'a test',
    });
    await environment.chat(taskOf(600), { session: 'changed' });
    const [fact] = await recalled('changed');
    expect(fact).toMatchObject({ lessons: ['letters'], block: expect.any(String) });
    expect(fact).not.toHaveProperty('remembered');
    expect((await environment.api.training()).remembers).toMatch(
      /^no rule any more; 1 ended or changed since, and still in the weights: instar train rollback$/,
    );
  });
});
