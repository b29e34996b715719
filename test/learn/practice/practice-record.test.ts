import { describe, expect, it } from 'vitest';
import { createSessionsApi } from '../../../src/api/sessions-api.ts';
import type { Fact } from '../../../src/core/fact.ts';
import { createTrainingBuffer } from '../../../src/evidence/training-buffer.ts';
import { toRecords } from '../../../src/record/records.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { practise, taskOf } from './scripted-practice.ts';

const start = (session: string, turn: string): Fact => ({
  type: 'turn-start',
  turn,
  session,
  agent: 'a',
  role: 'main',
  wire: 'openai-chat',
  model: 'm',
  generation: 0,
  policy: 'p/m',
  lessons: [],
});

describe('practice in the record', () => {
  it('is not in the list of sessions, unless asked for', async () => {
    const store = createMemoryStore();
    const sessions = ['people', ...Array.from({ length: 30 }, (_, nth) => `attempt:run/0/t/${nth}`)];
    store.append({ facts: sessions.map((session, at) => ({ at: at + 1, fact: start(session, `t${at}`) })) });
    const api = createSessionsApi(toRecords(store, () => 100));
    expect(await api.sessions({ limit: 10 })).toMatchObject([{ id: 'people' }]);
    expect(await api.sessions({ limit: 10, practice: true })).toHaveLength(10);
  });

  it('is no support data of training', async () => {
    const { store } = await practise();
    const buffer = createTrainingBuffer({ cap: 10 });
    for (const stored of store.facts(0, 10_000)) buffer.add(stored);
    expect(buffer.counts()).toMatchObject({ support: 0, generation: 1 });
  });

  it('goes with the session that a task was mined from: attempts, replies and the lesson', async () => {
    const store = createMemoryStore();
    store.append({ facts: [{ at: 1, fact: start('s1', 'turn1') }] });
    const run = await practise({
      store,
      tasks: [taskOf('daily', { origin: 'mined', from: { session: 's1', turn: 'turn1' } })],
    });
    const [lesson] = run.library.lessons();
    expect(lesson?.text.evidence.turns).toContain('turn1');
    expect(JSON.stringify(store.facts(0, 10_000))).toContain('currency sign');
    store.erase('s1', 2_000, 'asked');
    expect(JSON.stringify(store.facts(0, 10_000))).not.toContain('currency sign');
  });
});
