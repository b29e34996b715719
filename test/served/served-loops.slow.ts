import path from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { NOTHING_SPENT } from '../../src/core/budget.ts';
import { systemClock } from '../../src/core/clock.ts';
import { asArray, asObject, type JsonObject } from '../../src/core/json.ts';
import { lessonSubject } from '../../src/core/trial.ts';
import { openLessons } from '../../src/lessons/open-lessons.ts';
import { transferId } from '../../src/lessons/transfer.ts';
import { toRecords } from '../../src/record/records.ts';
import { openSqliteStore } from '../../src/record/store/sqlite-store.ts';
import { createStage, type InstarHere, replyWith } from '../config/settings/instar-here.ts';
import { startIcsServer } from '../schedule/calendar/busy-servers.ts';
import { lessonText } from '../support/lesson-text.ts';

/** Generous: each wait ends as soon as the condition holds. */
const SOON = { timeout: 100_000, interval: 100 };
const stage = createStage();
afterAll(() => stage.close());

const practice = (here: InstarHere, what: string, body: JsonObject = {}) =>
  here.owner('POST', `/api/practice/${what}`, body);

describe('two lessons that contradict each other', () => {
  it('become a task in the words of the request that taught one of them, and practice attempts it', async () => {
    const attempts: string[] = [];
    const provider = await stage.provider('p', (request, response) => {
      const text = request.body.toString();
      if (text.includes('reindent the yaml file')) attempts.push(text);
      replyWith(response, 'done');
    });
    const here = await stage.open(
      'contradiction',
      {
        providers: { p: { wire: 'openai', baseUrl: `${provider.url}/v1`, keyEnv: 'P_KEY' } },
        models: { default: 'p/m', practice: 'p/m', evolver: 'off', judge: 'off' },
      },
      { env: { P_KEY: 'provider-key-0123456789' } },
    );
    for (const [at, unit] of ['tabs', 'spaces'].entries()) {
      const { headers } = await here.chat(`Please reindent the yaml file of release job number ${at}`, {
        session: `s-${at}`,
      });
      await here.addLesson({
        name: `indent-${unit}`,
        description: 'When working on yaml files.',
        content: `Always indent yaml files with ${unit}.`,
        evidence: { turns: [String(headers['x-instar-turn'])], quotes: [], learner: 'evolver' },
      });
    }
    const asked = attempts.length;
    expect(await practice(here, 'run', { kind: 'maintenance' })).toEqual({ started: true });
    await vi.waitFor(async () => expect((await practice(here, 'status')).running).toBeUndefined(), SOON);
    const { tasks } = await practice(here, 'tasks');
    expect(asArray(tasks).map(asObject)).toContainEqual(
      expect.objectContaining({ origin: 'gap', prompt: expect.stringContaining('reindent the yaml file') }),
    );
    expect((await practice(here, 'status')).problem).toBeUndefined();
    expect(attempts.length).toBeGreaterThan(asked);
  });
});

const REPORTS = {
  ada: ['Write the sales report of June for the board', 'Prepare the quarterly sales report for investors'],
  bob: [
    'Draft the yearly sales report of the bakery',
    'Write a sales report on train tickets sold in spring',
  ],
};

/** A home with a lesson of the agent ada, live and proven by a trial, as practice records it. */
async function provenForAda(dir: string): Promise<void> {
  const store = openSqliteStore({ file: path.join(dir, 'instar.sqlite') });
  const records = toRecords(store, systemClock.now);
  let ids = 0;
  const { library } = await openLessons({
    records,
    clock: systemClock,
    newId: (prefix) => `${prefix}_${++ids}`,
    onFault: (error) => {
      throw error;
    },
  });
  const text = lessonText({
    name: 'total-first',
    description: 'When you write a sales report.',
    content: 'Put the total of the report first.',
    scope: { agent: 'ada' },
  });
  await library.publish({
    id: 'add',
    by: { kind: 'person', name: 'person' },
    reason: 'a test',
    changes: [{ op: 'add', id: 'total-first', kind: 'skill', state: 'live', text }],
  });
  const subject = lessonSubject('total-first', 1);
  const pairs = Array.from({ length: 20 }, () => ({ task: 't', root: 'r', with: 1, without: 0 }));
  const facts = [
    { type: 'trial-opened' as const, subject, place: 1, until: 0 },
    { type: 'trial-measured' as const, subject, by: 'tasks' as const, begun: 20, pairs, used: NOTHING_SPENT },
    { type: 'trial-ended' as const, subject, outcome: 'helpful' as const, why: 'measured' },
  ];
  await records.append(facts.map((fact) => ({ at: Date.now(), fact })));
  store.close();
}

describe('a lesson that was measured to help one agent', () => {
  it('goes on trial for another agent with tasks of the same kind, and is in its next prompt', async () => {
    const prompts: string[] = [];
    const provider = await stage.provider('q', (request, response) => {
      prompts.push(request.body.toString());
      replyWith(response, 'done');
    });
    const here = await stage.open(
      'transfer',
      {
        providers: { q: { wire: 'openai', baseUrl: `${provider.url}/v1`, keyEnv: 'P_KEY' } },
        models: { default: 'q/m', evolver: 'off', judge: 'off' },
      },
      { env: { P_KEY: 'provider-key-0123456789' }, prepare: provenForAda },
    );
    const text = Object.entries(REPORTS)
      .flatMap(([agent, prompts]) => prompts.map((prompt) => JSON.stringify({ prompt, agent })))
      .join('\n');
    expect(await practice(here, 'add', { text, file: 'tasks.jsonl' })).toMatchObject({
      duplicates: 0,
      faults: [],
    });
    const { said, transferred } = await practice(here, 'reflect');
    expect([said, transferred]).toEqual([expect.any(String), 1]);
    const lesson = await here.owner('GET', `/api/lessons/${transferId('total-first', 'bob')}`);
    expect(lesson).toMatchObject({
      state: 'trial',
      writtenBy: expect.stringContaining('a transfer from ada'),
    });
    // Of a lesson on trial a few sessions go without.
    for (const month of ['August', 'October', 'December'])
      await here.chat(`Write the sales report of ${month}`, {
        model: 'q/m',
        session: month,
        headers: { 'x-instar-agent': 'bob' },
      });
    expect(
      prompts.filter((prompt) => prompt.includes('Put the total of the report first')).length,
    ).toBeGreaterThan(0);
  });
});

describe('a Google calendar', () => {
  it('counts a meeting as away, read by its secret address, which no answer shows', async () => {
    const now = Date.now();
    const server = await startIcsServer(() => [{ start: now - 600_000, end: now + 3_600_000 }]);
    const google = `${server.url}/calendar/ical/me%40example.com/private-0a1b2c/basic.ics`;
    const here = await stage.open('google', { schedule: { sleep: 'off', calendar: { google } } });
    const calendar = async (): Promise<JsonObject> =>
      asObject(
        asArray((await here.owner('GET', '/api/schedule')).signals).find(
          (one) => asObject(one).source === 'calendar',
        ),
      );
    await vi.waitFor(async () => expect((await calendar()).state).toBe('away'), SOON);
    expect(JSON.stringify(await here.owner('GET', '/api/schedule'))).not.toContain('private-0a1b2c');
    await server.close();
  });
});
