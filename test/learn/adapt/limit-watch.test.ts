import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import type { Fact } from '../../../src/core/fact.ts';
import type { Lesson } from '../../../src/core/lesson.ts';
import type { LimitOverlay } from '../../../src/core/overlay.ts';
import type { AppraisedTurn } from '../../../src/evidence/evidence-reader.ts';
import { createLimitWatch } from '../../../src/learn/adapt/limit-watch.ts';
import { endSession } from '../../../src/learn/end-session.ts';
import { openLessons } from '../../../src/lessons/open-lessons.ts';
import { toRecords } from '../../../src/record/records.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { end, start } from '../../record/store/facts.ts';
import { runsOf } from '../../support/counts.ts';
import { lessonText } from '../../support/lesson-text.ts';
import { runRows } from '../run-rows.ts';

const PERSON = { kind: 'person', name: 'person' } as const;
const FROM = { key: 'k', score: 70, draftScore: 70, matches: 3, mean: 70, records: ['1'] };
const TIMED_OUT = {
  status: 'upstream-error',
  httpStatus: 504,
  failure: 'timeout: p sent no reply for 30 s.',
} as const;
const BUSY = { status: 'upstream-error', httpStatus: 503, failure: 'overloaded: busy' } as const;
const GONE = { status: 'client-abort', httpStatus: 499 } as const;
const FINE = {};

async function open(limits: Omit<LimitOverlay, 'type'>, isLearned = true) {
  const records = toRecords(createMemoryStore(), () => 1);
  const { library } = await openLessons({
    ...{ records, clock: systemClock, newId: (prefix) => `${prefix}_1` },
    onFault: (error) => {
      throw error;
    },
  });
  const payload: LimitOverlay = { type: 'validator_policy_tweak', ...limits };
  const text = lessonText({
    ...{ name: 'few', description: 'Tightens limits.', content: 'See the overlay.' },
    scope: { agent: 'builder' },
    overlay: isLearned ? { payload, from: FROM } : { payload },
  });
  const changes = [{ op: 'add', id: 'few', kind: 'limit', state: 'live', text }] as const;
  await library.publish({ id: 'first', by: PERSON, reason: 'a test', changes });
  const watch = createLimitWatch(library);
  const run = runRows(library);
  let seq = 0;
  const add = (fact: Fact): void => watch.add({ seq: ++seq, at: seq, fact });
  /** One turn under the limit, or without it. */
  const serve = async (
    how: Partial<Fact & { type: 'turn-end' }>,
    lessons = ['few'],
  ): Promise<Lesson | undefined> => {
    const id = `t-${seq}`;
    add(start(id, 's', { lessons }));
    add(end(id, how));
    await run([watch]);
    return library.lesson('few');
  };
  return { library, serve };
}

describe('a learned limit', () => {
  it('is taken back with its reason when three of its last five requests ended by it, not before', async () => {
    const { serve } = await open({ headersMs: 30_000 });
    for (const how of [TIMED_OUT, FINE, FINE, TIMED_OUT]) expect((await serve(how))?.state).toBe('live');
    expect(await serve(TIMED_OUT)).toMatchObject({
      state: 'retired',
      reason: expect.stringContaining('3 of the last 5 requests of the agent builder'),
    });
  });

  it('stays where the requests between went well, where it had no part, and where nobody can tell', async () => {
    const waits = await open({ headersMs: 30_000 });
    for (let nth = 0; nth < 12; nth++) await waits.serve(nth % 3 === 0 ? TIMED_OUT : FINE);
    for (let nth = 0; nth < 6; nth++) {
      await waits.serve(BUSY);
      await waits.serve(GONE);
      await waits.serve(TIMED_OUT, ['another']);
    }
    expect((await waits.serve(FINE))?.state).toBe('live');
    const tries = await open({ retries: 1 });
    for (let nth = 0; nth < 4; nth++) await tries.serve(TIMED_OUT);
    expect((await tries.serve(FINE))?.state).toBe('live');
  });

  it('is taken back for want of a further try, too', async () => {
    const { serve } = await open({ retries: 1 });
    for (let nth = 0; nth < 2; nth++) await serve(BUSY);
    expect((await serve(BUSY))?.state).toBe('retired');
  });

  it('stays where a person brought it back, and so does one that a person wrote', async () => {
    const learned = await open({ headersMs: 30_000 });
    for (let nth = 0; nth < 3; nth++) await learned.serve(TIMED_OUT);
    expect((await learned.serve(FINE))?.state).toBe('retired');
    const changes = [{ op: 'move', id: 'few', to: 'live' }] as const;
    await learned.library.publish({ id: 'again', by: PERSON, reason: 'meant so', changes });
    for (let nth = 0; nth < 5; nth++) await learned.serve(TIMED_OUT);
    expect((await learned.serve(FINE))?.state).toBe('live');
    const written = await open({ headersMs: 300 }, false);
    for (let nth = 0; nth < 5; nth++) await written.serve(TIMED_OUT);
    expect((await written.serve(FINE))?.state).toBe('live');
  });

  it('is in force exactly as long as no five requests in a row have three that it ended', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 12 }), async (cuts) => {
        const { serve } = await open({ idleMs: 30_000 });
        let state: string | undefined = 'live';
        for (const [at, isCut] of cuts.entries()) {
          if (state !== 'live') return;
          state = (await serve(isCut ? TIMED_OUT : FINE))?.state;
          const last = cuts.slice(Math.max(0, at - 4), at + 1).filter(Boolean).length;
          expect(state).toBe(last >= 3 ? 'retired' : 'live');
        }
      }),
      runsOf(13, 40),
    );
  });
});

describe('a time-out that a learned limit made', () => {
  const lessonOf = (id: string): Lesson | undefined => {
    const told = { name: id, description: 'x', content: 'x' };
    const payload: LimitOverlay = { type: 'validator_policy_tweak', headersMs: 30_000 };
    const base = { id, state: 'live', revision: 1, pinned: false, frozen: false } as const;
    const times = { createdAt: 0, changedAt: 0 };
    return id === 'few'
      ? { ...base, ...times, kind: 'limit', text: lessonText({ ...told, overlay: { payload, from: FROM } }) }
      : { ...base, ...times, kind: 'skill', text: lessonText(told) };
  };
  const appraised = (id: string, failure: string, shown: readonly string[]): AppraisedTurn => ({
    evidence: {
      ...{ turn: id, session: 's', agent: 'builder', role: 'main', status: 'upstream-error', failure },
      ...{ task: '', tools: [], reply: [], earlier: [], given: [], attempts: [] },
    },
    appraisal: { turn: id, verdict: 'infrastructure', signals: [], digests: [] },
    generation: 0,
    shown,
  });
  const scored = async (turns: readonly AppraisedTurn[]) => {
    const records = toRecords(createMemoryStore(), () => 1);
    const facts = turns.map(({ evidence, shown = [] }) => start(evidence.turn, 's', { lessons: shown }));
    await records.append(facts.map((fact) => ({ at: 1, fact })));
    const made = await endSession('s', { records, evidence: { turns: async () => turns }, lessonOf }, 5);
    return made.flatMap(({ fact }) => (fact.type === 'session-scored' ? [fact] : []))[0];
  };

  it('counts against the limit, and against no other lesson', async () => {
    expect(await scored([appraised('t1', TIMED_OUT.failure, ['few', 'skill'])])).toMatchObject({
      ...{ score: 0, lessons: ['few', 'skill'], unmeasured: ['skill'] },
    });
  });

  it('is nobody’s fault without a limit: the session has no score', async () => {
    for (const turn of [
      appraised('t1', TIMED_OUT.failure, ['skill']),
      appraised('t1', BUSY.failure, ['few']),
    ])
      expect(await scored([turn])).not.toHaveProperty('score');
  });
});
