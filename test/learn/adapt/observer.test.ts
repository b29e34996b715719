import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../../src/core/clock.ts';
import type { Fact } from '../../../src/core/fact.ts';
import type { ChangeSet } from '../../../src/core/lesson.ts';
import { createObserver } from '../../../src/learn/adapt/observer.ts';
import { createLessonEffects } from '../../../src/lessons/effect/lesson-effects.ts';
import { toRecords } from '../../../src/record/records.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { add, instar, learner, openOn, setOf, text } from '../../lessons/library/samples.ts';
import { type Round, turnsOf } from '../live/worked-session.ts';

const MINUTE = 60_000;
const fail = (fields: object | string): never => {
  throw new Error(JSON.stringify(fields));
};
const log = { debug: () => undefined, info: () => undefined, warn: fail, error: fail };

const started = (turn: string, session: string, agent: string, more: object = {}): Fact => ({
  ...{ type: 'turn-start', turn, session, agent, role: 'main', wire: 'openai-chat', model: 'm' },
  ...{ generation: 0, policy: 'own/m', lessons: [], caller: 'k_1', project: { id: 'p1', label: 'shop' } },
  ...more,
});

/** A record with a library, and an observer that reads what is new in it. */
async function open(sessions: Readonly<Record<string, readonly Round[]>> = {}) {
  const store = createMemoryStore();
  const records = toRecords(store, () => 0);
  const { library } = await openOn(store, { clock: createManualClock(MINUTE) });
  const observer = createObserver({
    records,
    evidence: {
      turns: async (session) =>
        turnsOf('a task', sessions[session] ?? []).map((turn) => {
          const id = `${session}-${turn.evidence.turn}`;
          return { ...turn, evidence: { ...turn.evidence, turn: id } };
        }),
    },
    library,
    effects: createLessonEffects(),
    log,
  });
  let read = 0;
  return {
    append: (fact: Fact, at = 0) => void store.append({ facts: [{ at, fact }] }),
    publish: (set: ChangeSet) => library.publish(set),
    session: (id: string) => observer.session(id, [], 0),
    seen: async () => {
      for (const stored of store.facts(read, 100)) {
        observer.note(stored);
        read = stored.seq;
      }
      return (await observer.take()).map(({ fact }) => (fact.type === 'event-reported' ? fact : undefined));
    },
  };
}

describe('a change of the library', () => {
  it('is an approval when a person puts a lesson into use, and nothing when a learner does', async () => {
    const { publish, seen } = await open();
    await publish(
      setOf('a', [add('l1', { state: 'proposed', text: text({ scope: { agent: 'coder' } }) })], learner),
    );
    expect(await seen()).toEqual([]);
    await publish(setOf('b', [{ op: 'move', id: 'l1', to: 'live' }]));
    expect(await seen()).toMatchObject([
      { kind: 'human_approval', agent: 'coder', by: 'instar', data: { lesson: 'l1', why: 'live' } },
    ]);
    await publish(setOf('c', [{ op: 'move', id: 'l1', to: 'trial' }], instar));
    expect(await seen()).toEqual([]);
  });

  it('tells of harm that was measured and of words that were replaced, not of other retirements', async () => {
    const { publish, seen } = await open();
    await publish(
      setOf(
        'a',
        ['l1', 'l2', 'l3'].map((id) => add(id)),
      ),
    );
    await publish(
      setOf('b', [{ op: 'retire', id: 'l1', reason: 'harmful: 9 sessions with it scored 0.2' }], instar),
    );
    await publish(
      setOf('c', [{ op: 'retire', id: 'l2', reason: 'the user has said otherwise since' }], learner),
    );
    await publish(setOf('d', [{ op: 'retire', id: 'l3', reason: 'tidied up' }]));
    expect(await seen()).toMatchObject([
      { kind: 'guidance_noisy', data: { lesson: 'l1', why: 'harmful' } },
      { kind: 'stale_guidance', data: { lesson: 'l2', why: 'superseded' } },
    ]);
  });

  it.each([
    ['a worker to its leader', 'lead/coder', 'lead', 'lead'],
    ['one agent to all', 'coder', undefined, 'coder'],
    ['a leader to its worker', 'lead', 'lead/coder', undefined],
    ['an agent to another', 'coder', 'writer', undefined],
  ])('that moves a scope from %s', async (_, before, after, reported) => {
    const { publish, seen } = await open();
    await publish(setOf('a', [add('l1', { text: text({ scope: { agent: before } }) })]));
    const scope = after === undefined ? {} : { agent: after };
    await publish(setOf('b', [{ op: 'revise', id: 'l1', from: 1, text: text({ scope }) }]));
    expect(await seen()).toMatchObject(
      reported === undefined
        ? []
        : [{ kind: 'successful_bubble', agent: reported, data: { lesson: 'l1', why: 'widened' } }],
    );
  });
});

it('tells of quotas that are used up, once for a session, and not of a rate limit or of an unknown caller', async () => {
  const { append, seen } = await open();
  const end = (turn: string, httpStatus: number, failure: string): Fact => ({
    ...{ type: 'turn-end', turn, status: 'upstream-error', httpStatus, failure, totalMs: 1 },
  });
  append(started('t1', 's1', 'lead/coder', { runKind: 'nightly' }));
  append(end('t1', 429, 'rate-limited: You exceeded your current quota'));
  append(started('t2', 's2', 'coder'));
  append(end('t2', 429, 'rate-limited: slow down'));
  append(started('t3', 's3', 'coder', { caller: 'anonymous' }));
  append(end('t3', 402, 'payment required'));
  expect(await seen()).toMatchObject([
    {
      kind: 'budget_incident',
      session: 's1',
      agent: 'lead/coder',
      runKind: 'nightly',
      data: { leader: 'lead' },
    },
  ]);
});

it('tells that practice or the tidying of the library is over, when it is', async () => {
  const { append, seen } = await open();
  const ended = {
    type: 'job-ended',
    job: 'library-consolidation',
    run: 'r1',
    n: 1,
    spent: { ms: 1, tokens: 0, usd: 0 },
  } as const;
  append({ ...ended, end: 'paused', isOver: false });
  expect(await seen()).toEqual([]);
  append({ ...ended, n: 2, end: 'done', isOver: true });
  expect(await seen()).toMatchObject([{ kind: 'teaching_refresh', data: { of: 'consolidation' } }]);
});

describe('two agents', () => {
  const edit = (file: string): Round => ({
    tool: 'Edit',
    input: { file_path: `/srv/shop/${file}`, old_string: 'a', new_string: 'b' },
    result: `The file /srv/shop/${file} has been updated.`,
  });

  it.each([
    ['edit one file within an hour', 'cart.ts', 'lead/tester', 50, 1],
    ['edit one file at other times', 'cart.ts', 'lead/tester', 90, 0],
    ['edit two files', 'price.ts', 'lead/tester', 50, 0],
    ['are one', 'cart.ts', 'lead/coder', 50, 0],
  ])('that %s', async (_, file, agent, minutes, conflicts) => {
    const { append, session } = await open({ s1: [edit('cart.ts')], s2: [edit(file)] });
    append(started('s1-t0', 's1', 'lead/coder'), 0);
    append(started('s2-t0', 's2', agent), minutes * MINUTE);
    const [mine, other] = [await session('s1'), await session('s2')];
    const found = mine.filter(({ fact }) => fact.type === 'event-reported' && fact.kind === 'task_conflict');
    expect(found).toHaveLength(conflicts);
    if (conflicts === 0) return;
    expect(found[0]?.fact).toMatchObject({
      agent: 'lead',
      data: { file: 'cart.ts', sessions: ['s1', 's2'] },
    });
    expect(other.map(({ key }) => key)).toContain(found[0]?.key);
  });
});
