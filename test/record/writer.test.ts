import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/core/json.ts';
import { type AsyncStore, type Store, StoreError } from '../../src/core/store.ts';
import { toAsyncStore } from '../../src/record/store/async-store.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';
import { createTurnEncoder } from '../../src/record/turn-encoder.ts';
import { createWriter } from '../../src/record/writer.ts';
import type { WriterJob, WriterMessage } from '../../src/record/writer-messages.ts';

/** A store that writes, or writes and then reports a failure, or refuses, as the test sets it. */
function withFaults(store: Store) {
  const fault = { mode: 'none' as 'none' | 'full' | 'execute-then-fail', seen: 0, commits: 0 };
  const append: Store['append'] = (batch) => {
    fault.commits++;
    if (fault.mode === 'none') return store.append(batch);
    fault.seen++;
    if (fault.mode === 'execute-then-fail') store.append(batch);
    throw new StoreError('full', 'no space is left');
  };
  return { fault, store: { ...store, append } };
}

/** Commits that have begun end when it is open. */
function createGate() {
  let end = (): void => undefined;
  let closed: Promise<void> | undefined;
  return {
    pass: async () => closed,
    close: () => {
      closed = new Promise((resolve) => {
        end = resolve;
      });
    },
    open: () => {
      closed = undefined;
      end();
    },
  };
}

async function open({ during = async (): Promise<void> => undefined } = {}) {
  const inner = createMemoryStore();
  const { fault, store } = withFaults(inner);
  const commit: AsyncStore['append'] = async (batch) => {
    try {
      return store.append(batch);
    } finally {
      await during();
    }
  };
  const words: WriterMessage[] = [];
  const timers: { ms: number; run: () => void }[] = [];
  const redactToText = (value: Json): string => JSON.stringify(value).replaceAll('hunter2', '[[secret]]');
  const keeper = createTurnEncoder({
    redactToText,
    redactJson: (value) => JSON.parse(redactToText(value)) as Json,
    redactText: (text) => text.replaceAll('hunter2', '[[secret]]'),
    redactName: (text) => text.replaceAll('hunter2', '[[secret]]'),
    digest: (text) => `#${text.length}`,
    setKeys: () => undefined,
  });
  const writer = createWriter({
    open: async () => ({ ...toAsyncStore(store), append: commit }),
    keeper,
    say: (word) => words.push(word),
    later: (ms, run) => timers.push({ ms, run }),
  });
  /** Until everything that can be written now is written: the memory store needs no time. */
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
  await writer.begin();
  timers.length = 0;
  const tick = () => {
    for (const { run } of timers.splice(0)) run();
    return settled();
  };
  const take = (jobs: readonly WriterJob[]) => {
    writer.take(jobs);
    return settled();
  };
  return { take, words, tick, settled, timers, fault, commits: () => fault.commits, store: inner };
}

let n = 0;
function turn(text = 'hi'): { id: string; jobs: WriterJob[] } {
  const id = `t${++n}`;
  const body = new TextEncoder().encode(
    JSON.stringify({ model: 'm', messages: [{ role: 'user', content: text }] }),
  );
  const reply = new TextEncoder().encode(
    JSON.stringify({
      id: 'r',
      model: 'm',
      choices: [{ message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    }),
  );
  const shared = { session: 's', wire: 'openai-chat' } as const;
  const intent = {
    ...shared,
    turn: id,
    agent: 'a',
    role: 'main',
    model: 'm',
    generation: 3,
    policy: 'p/m',
    lessons: [],
    caller: 'k_test',
  } as const;
  const outcome = { status: 'complete', httpStatus: 200, policy: 'p/m', totalMs: 5 } as const;
  const replyBytes = reply.length;
  const head = { contentType: 'application/json', contentEncoding: undefined, firstByteMs: 1, replyBytes };
  return {
    id,
    jobs: [
      { type: 'start', at: 1, intent, body },
      { type: 'end', at: 2, turn: id, asked: 'p/m', outcome, reply, ...shared, ...head },
    ],
  };
}
const append = (id: number, key?: string, at = 1): WriterJob & { type: 'append' } => ({
  type: 'append',
  id,
  blocks: [],
  isPatient: false,
  facts: [
    {
      at,
      fact: { type: 'event-reported', kind: 'k', data: { note: 'hunter2' } },
      ...(key ? { key } : {}),
    },
  ],
});

describe('the writer', () => {
  it('commits turns in groups, with request and reply, and without secrets', async () => {
    const { take, tick, store, words } = await open();
    const turns = [turn('my password is hunter2'), turn()];
    await take(turns.flatMap(({ jobs }) => jobs));
    expect(store.totals().facts).toBe(0);
    await tick();
    for (const { id } of turns)
      expect(store.turn(id)).toMatchObject({ status: 'complete', generation: 3, session: 's' });
    const kept = store.turn(turns[0]?.id ?? '');
    expect(store.block(kept?.reply ?? '')).toContain('[[secret]]');
    expect(JSON.stringify([store.facts(0, 100), store.block(kept?.reply ?? '')])).not.toContain('hunter2');
    expect(words).toContainEqual(expect.objectContaining({ type: 'done', jobs: 4, recorded: 2, lost: 0 }));
  });

  it('lets a turn that has only begun, and what it was shown, wait for an end, and an end at most 50 ms', async () => {
    const { take, tick, settled, timers, store, commits } = await open();
    const { id, jobs } = turn();
    await take(jobs.slice(0, 1));
    await take([{ ...append(1), isPatient: true }]);
    expect(timers.map(({ ms }) => ms > 50)).toEqual([true]);
    await take(turn().jobs);
    const [late, soon] = timers.splice(0);
    expect(soon?.ms).toBeLessThan(50);
    soon?.run();
    await settled();
    expect(commits()).toBe(1);
    expect(store.turn(id)).toBeDefined();
    // The timer of the start has nothing left to do, and takes nothing of what waits now.
    await take(jobs.slice(1));
    late?.run();
    await settled();
    expect(commits()).toBe(1);
    await tick();
    expect(store.turn(id)?.status).toBe('complete');
    expect(commits()).toBe(2);
  });

  it('writes what comes during a commit with the next group, by a timer of its own', async () => {
    const gate = createGate();
    const { take, tick, settled, timers, store, commits } = await open({ during: gate.pass });
    gate.close();
    await take(turn().jobs);
    await tick();
    expect(commits()).toBe(1);
    const [early, next] = [turn(), turn()];
    await take(early.jobs);
    const [soon, ...others] = timers.splice(0);
    expect([soon?.ms, others]).toEqual([35, []]);
    soon?.run();
    // Before the group that is due has begun: it is taken along, without another timer.
    await take(next.jobs);
    expect(timers).toEqual([]);
    gate.open();
    await settled();
    expect(commits()).toBe(2);
    for (const { id } of [early, next]) expect(store.turn(id)?.status).toBe('complete');
    await take(turn().jobs);
    expect(timers.map(({ ms }) => ms)).toEqual([35]);
  });

  it('keeps its pause when turns come while a commit fails', async () => {
    const gate = createGate();
    const { take, tick, settled, timers, fault, commits } = await open({ during: gate.pass });
    fault.mode = 'full';
    gate.close();
    await take(turn().jobs);
    await tick();
    await take(turn().jobs);
    const [soon] = timers;
    gate.open();
    await settled();
    expect(timers.map(({ ms }) => ms)).toEqual([35, 100]);
    soon?.run();
    await settled();
    expect(commits()).toBe(1);
    await tick();
    expect(commits()).toBe(2);
  });

  it('commits a control action with the waiting turns, and a patient one with the next group', async () => {
    const { take, words, tick, store, commits } = await open();
    const { jobs } = turn();
    await take(jobs);
    expect(commits()).toBe(0);
    await take([append(1)]);
    expect(commits()).toBe(1);
    expect(words).toMatchObject([
      { type: 'done', jobs: 2, recorded: 1 },
      { type: 'answer', id: 1, value: [{ seq: 3, isNew: true }] },
    ]);
    await take([{ ...append(2), isPatient: true }, ...turn().jobs, { ...append(3), isPatient: true }]);
    expect(commits()).toBe(1);
    await tick();
    expect(commits()).toBe(2);
    expect(words.slice(-2)).toMatchObject([
      { type: 'answer', id: 2, value: [{ seq: 6 }] },
      { type: 'answer', id: 3, value: [{ seq: 7 }] },
    ]);
    expect(store.facts(0, 10).map(({ fact }) => fact.type)).toEqual(
      'turn-start turn-end event-reported turn-start turn-end event-reported event-reported'.split(' '),
    );
  });

  it('writes a turn and a valid action beside one that can never be written', async () => {
    const { take, words, tick, store } = await open();
    const bad = append(2, undefined, Number.NaN);
    await take([...turn().jobs, { ...append(1), isPatient: true }, { ...bad, isPatient: true }]);
    await tick();
    expect(store.facts(0, 10)).toHaveLength(3);
    expect(words.filter(({ type }) => type !== 'state')).toMatchObject([
      { type: 'done', recorded: 0 },
      { type: 'done', recorded: 1 },
      { type: 'answer', id: 1 },
      { type: 'refusal', id: 2 },
    ]);
  });

  it('answers a control action only after its commit, and refuses it when the commit fails', async () => {
    const { take, words, fault, store } = await open();
    await take([append(1)]);
    expect(words.at(-1)).toMatchObject({ type: 'answer', id: 1 });
    fault.mode = 'full';
    await take([append(2)]);
    expect(words.at(-1)).toMatchObject({ type: 'refusal', id: 2, code: 'full' });
    expect(store.facts(0, 10)).toHaveLength(1);
    expect(JSON.stringify(store.facts(0, 10))).not.toContain('hunter2');
  });

  it('holds turns while the disk is full, reports it, and writes them all when there is space again', async () => {
    const { take, words, tick, fault, store } = await open();
    fault.mode = 'full';
    const turns = [turn(), turn(), turn()];
    await take(turns.flatMap(({ jobs }) => jobs));
    for (let n = 0; n < 5; n++) await tick();
    expect(fault.seen).toBeGreaterThan(2);
    expect(words).toContainEqual({ type: 'state', degraded: 'no space is left' });
    expect(store.totals().turns).toBe(0);
    fault.mode = 'none';
    await tick();
    for (const { id } of turns) expect(store.turn(id)?.status).toBe('complete');
    expect(words.at(-1)).toEqual({ type: 'state', degraded: undefined });
    expect(words.filter((word) => word.type === 'done').map((word) => word.lost)).toEqual([0]);
  });

  it('doubles its pause between tries, up to a limit', async () => {
    const { take, tick, timers, fault } = await open();
    fault.mode = 'full';
    await take(turn().jobs);
    const pauses: number[] = [];
    for (let n = 0; n < 12; n++) {
      await tick();
      pauses.push(timers[0]?.ms ?? 0);
    }
    expect(pauses.slice(0, 4)).toEqual([100, 200, 400, 800]);
    expect(Math.max(...pauses)).toBe(5000);
  });

  it('drops the oldest turns beyond its limit, and counts them', async () => {
    const { take, words, tick, fault, store } = await open();
    fault.mode = 'full';
    const turns = Array.from({ length: 6000 }, () => turn());
    await take(turns.flatMap(({ jobs }) => jobs));
    await tick();
    const lost = words
      .flatMap((word) => (word.type === 'done' ? [word.lost] : []))
      .reduce((a, b) => a + b, 0);
    expect(lost).toBe(1000);
    fault.mode = 'none';
    await tick();
    expect(store.totals().turns).toBe(5000);
    expect(store.turn(turns.at(-1)?.id ?? '')?.status).toBe('complete');
  });

  it('drops a turn that can never be written (and no others)', async () => {
    const { take, tick, store, words, timers } = await open();
    const [bad, fine] = [turn(), turn()];
    const jobs = bad.jobs.map((job) => (job.type === 'end' ? { ...job, at: Number.NaN } : job));
    await take([...jobs, ...fine.jobs]);
    await tick();
    expect(store.turn(fine.id)?.status).toBe('complete');
    expect(store.turn(bad.id)?.status).toBeUndefined();
    expect(words.flatMap((word) => (word.type === 'done' ? [word.lost] : []))).toContain(1);
    expect(timers).toEqual([]);
  });

  it('writes nothing twice after a commit that succeeded but reported a failure', async () => {
    const { take, tick, fault, store } = await open();
    fault.mode = 'execute-then-fail';
    const one = turn();
    await take([...one.jobs, append(1, 'once')]);
    await tick();
    fault.mode = 'none';
    await tick();
    await take([append(2, 'once')]);
    const facts = store.facts(0, 100).map(({ fact }) => fact);
    expect(facts.filter((fact) => 'turn' in fact && fact.turn === one.id)).toHaveLength(2);
    expect(store.facts(0, 100).filter(({ fact }) => fact.type === 'event-reported')).toHaveLength(1);
  });
});
