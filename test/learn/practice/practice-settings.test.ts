import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { asObject, type JsonObject } from '../../../src/core/json.ts';
import type { AttemptOrder } from '../../../src/core/practice.ts';
import { createEvidenceReader } from '../../../src/evidence/evidence-reader.ts';
import { createGate } from '../../../src/learn/gate/gate.ts';
import { openPractice, type PracticeConfig } from '../../../src/learn/practice/open-practice.ts';
import { createPracticeJob } from '../../../src/learn/practice/practice-job.ts';
import { splitOf } from '../../../src/learn/practice/sources/split.ts';
import { checkLessonText } from '../../../src/lessons/check-lesson-text.ts';
import { openLessons } from '../../../src/lessons/open-lessons.ts';
import { toRecords } from '../../../src/record/records.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { lessonText } from '../../support/lesson-text.ts';
import { FREE } from '../ask/samples.ts';
import { attemptOf, scriptedModel } from './scripted-practice.ts';

const CONFIG: PracticeConfig = {
  groupSize: 3,
  temperature: 0.7,
  taskMinutes: 5,
  tasks: [],
  budget: { usd: 5, tokens: 1_000_000, calls: 10_000, minutes: 10_000 },
  trials: { pairs: 12, repeats: 1, days: 14 },
};
const TOPICS = [
  'bread',
  'diesel',
  'rent',
  'salaries',
  'power',
  'seeds',
  'ice',
  'apples',
  'oil',
  'tickets',
  'olives',
  'phones',
  'horses',
  'flowers',
  'museums',
  'tents',
];
const quietLog = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
const NEVER = new AbortController().signal;

function tasksFile(): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'instar-tasks-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const file = path.join(dir, 'tasks.jsonl');
  const line = (topic: string) =>
    JSON.stringify({
      prompt: `${topic} ${topic}: write the ${topic} report`,
      domain: 'reports',
      answer: topic,
    });
  writeFileSync(file, TOPICS.map(line).join('\n'));
  return file;
}

/** Practice over a real library and gate; attempts are scripted. */
async function open(config: Partial<PracticeConfig>) {
  const clock = { now: () => 1_800_000_000_000, monotonic: () => performance.now() };
  const store = createMemoryStore();
  const records = toRecords(store, clock.now);
  let ids = 0;
  const newId = (prefix: string): string => `${prefix}_${++ids}`;
  const lessons = await openLessons({
    records,
    clock,
    newId,
    onFault: (error) => {
      throw error;
    },
  });
  const orders: AttemptOrder[] = [];
  const practice = await openPractice({
    config: { ...CONFIG, ...config },
    ports: {
      lessonsFor: async (_, force) => {
        const shown = lessons.library.shown(clock.now()).map(({ id }) => id);
        return {
          text: '',
          lessons: shown.filter((id) => force?.without?.includes(id) !== true),
          generation: lessons.library.generation,
        };
      },
      openAttempts: async ({ name }) => ({
        agent: name,
        make: async (order) => {
          orders.push(order);
          return attemptOf(order);
        },
      }),
    },
    records,
    evidence: createEvidenceReader({ ...records, decoder: () => async () => undefined }),
    lessons,
    gate: createGate({
      autonomy: 'guarded',
      checkText: checkLessonText,
      hasSecret: () => false,
      findSimilar: async () => [],
      voteDay: String,
    }),
    nearest: async () => [],
    embed: async () => {
      throw new Error('there is no sentence model here');
    },
    model: async () => ({ name: 'test/m', title: 'test/m', price: FREE, chat: scriptedModel().model }),
    isOn: () => true,
    mayPromote: true,
    clock,
    newId,
    log: quietLog,
  });
  const command = (what: string, body: JsonObject = {}) => practice.command({ ...body, do: what }, NEVER);
  const finish = async (): Promise<JsonObject> => {
    for (;;) {
      const status = await command('status');
      if (status.running === undefined) return status;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  return { command, finish, orders, lessons, records };
}

describe('a session of practice', () => {
  it('finds the tasks of the files that the config names', async () => {
    const { command } = await open({ tasks: [tasksFile()] });
    await command('plan');
    const { tasks } = await command('status');
    expect(tasks).toMatchObject({ count: TOPICS.length });
    const without = await open({});
    await without.command('plan');
    expect((await without.command('status')).tasks).toMatchObject({ count: 0 });
  });

  it('gives each attempt the minutes of the config', async () => {
    const { command, finish, orders } = await open({ tasks: [tasksFile()], taskMinutes: 2 });
    expect(await command('run', { kind: 'micro' })).toEqual({ started: true });
    expect(await finish()).toMatchObject({ sessions: [{ end: 'done', kind: 'micro' }] });
    expect(new Set(orders.map(({ timeoutMs }) => timeoutMs))).toEqual(new Set([120_000]));
  });

  it('tests a lesson with the pairs, repeats and days of the config', async () => {
    const { command, finish, orders, lessons, records } = await open({
      tasks: [tasksFile()],
      trials: { pairs: 10, repeats: 2, days: 3 },
    });
    const text = lessonText({
      name: 'check-totals',
      description: 'When a report is written.',
      content: 'Check the totals twice.',
    });
    await lessons.library.publish({
      id: 'p',
      by: { kind: 'learner', name: 'evolver' },
      reason: 'r',
      changes: [{ op: 'add', id: 'l1', kind: 'skill', state: 'trial', text }],
    });
    await command('run', { kind: 'micro' });
    await finish();
    const gate = orders.filter(({ task }) => splitOf(task.root) === 'gate');
    expect(gate.length).toBeGreaterThan(0);
    const pairsOf = gate.length / 4;
    expect(Number.isInteger(pairsOf)).toBe(true);
    expect(pairsOf).toBeLessThanOrEqual(12);
    const facts = (await records.events('library/trials')).map(({ fact }) => fact);
    const opened = facts.find(({ type }) => type === 'trial-opened');
    expect(asObject({ ...opened }).until).toBe(1_800_000_000_000 + 3 * 86_400_000);
  });

  it('begins by itself never (off), when it costs nothing (free), or always (on)', async () => {
    const readyWith = (scheduled: 'off' | 'free' | 'on', isFree: boolean) =>
      createPracticeJob({
        when: () => scheduled,
        command: async () => ({ due: { kind: 'micro', why: 'it is due' }, isFree }),
      }).isReady();
    expect([
      await readyWith('off', true),
      await readyWith('free', true),
      await readyWith('on', true),
    ]).toEqual([false, true, true]);
    expect([
      await readyWith('off', false),
      await readyWith('free', false),
      await readyWith('on', false),
    ]).toEqual([false, false, true]);
    const idle = createPracticeJob({ when: () => 'on', command: async () => ({}) });
    expect(await idle.isReady()).toBe(false);
  });
});
