import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import type { Json } from '../../../src/core/json.ts';
import { type AsyncStore, type Batch, type Store, StoreError } from '../../../src/core/store.ts';
import { toRecords } from '../../../src/record/records.ts';
import { toAsyncStore } from '../../../src/record/store/async-store.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { readStoredTurn } from '../../../src/record/stored-turn.ts';
import { createTurnEncoder } from '../../../src/record/turn-encoder.ts';
import { createWriter } from '../../../src/record/writer.ts';
import type { WriterJob, WriterMessage } from '../../../src/record/writer-messages.ts';
import { drainSpool } from '../../../team/spool/replay-spool.ts';
import { openSpool } from '../../../team/spool/spool.ts';
import { createSpooling } from '../../../team/spool/spooling.ts';

const dir = mkdtempSync(join(tmpdir(), 'instar-spool-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
let files = 0;
const newFile = (): string => join(dir, `spool-${++files}.sqlite`);

/**
 * `lost-answer`: it commits, and the answer never comes. `hangs`: it neither answers nor fails. `stale`: what waits for an answer
 * is refused because another process has erased something; `odd`: for a reason that nobody expects. It answers after either.
 * `lingers`: it commits and answers when the mode is set again.
 */
type Mode = 'answers' | 'refuses' | 'lost-answer' | 'hangs' | 'lingers' | 'stale' | 'odd';

/** A database that outlives the processes that write to it. */
function createDatabase() {
  const inner = createMemoryStore();
  const state = { mode: 'answers' as Mode, appends: 0 };
  const hung: (() => void)[] = [];
  const append = async (batch: Batch) => {
    state.appends++;
    const fail = (): never => {
      throw new StoreError('away', 'PostgreSQL (test) does not answer');
    };
    const failOnce = (): void => {
      const { mode } = state;
      if (mode === 'stale' || mode === 'odd') state.mode = 'answers';
      if (mode === 'stale') throw new StoreError('stale', 'another process has erased bodies since');
      if (mode === 'odd') throw new Error('a rule failed');
    };
    if (state.mode === 'hangs') {
      await new Promise<void>((resolve) => hung.push(resolve));
      failOnce();
      return fail();
    }
    failOnce();
    if (state.mode === 'lingers') await new Promise<void>((resolve) => hung.push(resolve));
    if (state.mode === 'refuses') return fail();
    const appended = inner.append(batch);
    return state.mode === 'lost-answer' ? fail() : appended;
  };
  const store: AsyncStore = { ...toAsyncStore(inner), append, close: async () => undefined };
  return {
    inner,
    store,
    state,
    setMode: (mode: Mode) => {
      state.mode = mode;
      for (const end of hung.splice(0)) end();
    },
  };
}

/** A process with this spool. `kill` leaves it without another step. */
async function startProcess(database: ReturnType<typeof createDatabase>, file: string, mostBytes = 1e9) {
  let isDead = false;
  const words: WriterMessage[] = [];
  const timers: { ms: number; run: () => void }[] = [];
  const redactToText = (value: Json): string => JSON.stringify(value).replaceAll('hunter2', '[[secret]]');
  const keeper = createTurnEncoder({
    redactToText,
    redactJson: (value) => JSON.parse(redactToText(value)) as Json,
    redactText: (text) => text.replaceAll('hunter2', '[[secret]]'),
    redactName: (text) => text,
    digest: (text) => `#${text.length}`,
    setKeys: () => undefined,
  });
  const spool = openSpool(file, mostBytes);
  spool.endCrashed(1);
  const stopped = <T>(): Promise<T> => new Promise<T>(() => undefined);
  // A dead process does not learn what the database answered.
  const append: AsyncStore['append'] = async (batch) => {
    const answer = database.store.append(batch);
    await answer.catch(() => undefined);
    return isDead ? stopped() : answer;
  };
  const writer = createWriter({
    open: async () => ({ ...database.store, append }),
    ready: async (store) => void (await store.endCrashed(1)),
    spooling: createSpooling({ spool, keeper, now: () => 5 }),
    keeper,
    say: (word) => {
      if (!isDead) words.push(word);
    },
    later: (ms, run) => {
      if (!isDead) timers.push({ ms, run });
    },
  });
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
  await Promise.race([writer.begin(), settled()]);
  return {
    words,
    spool,
    writer,
    take: (jobs: readonly WriterJob[]) => {
      writer.take(jobs);
      return settled();
    },
    /** Lets the timers run that are due within `ms`. */
    tick: async (ms = 100_000) => {
      const due = timers.filter((timer) => timer.ms <= ms);
      for (const timer of due) timers.splice(timers.indexOf(timer), 1);
      for (const { run } of due) run();
      await settled();
    },
    kill: () => {
      isDead = true;
      timers.length = 0;
      spool.close();
    },
  };
}

const start = (turn: string, session: string, said = turn): WriterJob => ({
  type: 'start',
  at: 10,
  intent: {
    turn,
    session,
    link: `link ${turn}`,
    agent: 'a',
    role: 'main',
    wire: 'openai-chat',
    model: 'm',
    generation: 0,
    policy: 'p/m',
    lessons: [],
    caller: 'owner',
  },
  body: Buffer.from(
    JSON.stringify({
      model: 'm',
      messages: [
        { role: 'user', content: `the beginning of ${session} ${'x'.repeat(1500)}` },
        { role: 'user', content: said },
      ],
    }),
  ),
});
const end = (turn: string, session: string): WriterJob => ({
  type: 'end',
  at: 11,
  turn,
  session,
  wire: 'openai-chat',
  asked: 'p/m',
  outcome: { status: 'complete', httpStatus: 200, policy: 'p/m', totalMs: 1 },
  firstByteMs: 1,
  contentType: 'application/json',
  contentEncoding: undefined,
  replyBytes: 60,
  reply: Buffer.from(
    JSON.stringify({
      model: 'm',
      choices: [{ message: { content: `reply to ${turn}` }, finish_reason: 'stop' }],
    }),
  ),
});
const said = (id: number, session: string, why = 'new'): WriterJob => ({
  type: 'append',
  id,
  isPatient: true,
  blocks: [{ hash: `aa${id}`, text: `block of ${session}`, session }],
  facts: [
    {
      at: 10,
      fact: {
        type: 'lessons-recalled',
        turn: `t${id}`,
        session,
        thread: 'main m',
        generation: 1,
        why: why as 'new',
        lessons: [],
        heldOut: [],
        considered: [],
        domain: { name: 'general', reason: 'default' },
        engine: 'none',
        block: `aa${id}`,
      },
    },
  ],
});
const feedback = (id: number, turn: string): WriterJob => ({
  type: 'append',
  id,
  isPatient: false,
  blocks: [],
  facts: [{ at: 12, fact: { type: 'reward-given', turn, source: 'person', score: 1 } }],
});

const typesOf = (store: Store): readonly string[] =>
  store.facts(0, 100_000).map(({ fact }) => `${fact.type} ${'turn' in fact ? fact.turn : ''}`);
const stateOf = (words: readonly WriterMessage[]) => words.findLast(({ type }) => type === 'state');

describe('a database that is away', () => {
  it('gets what happened once it is back, in order, with its bodies, and without secrets on the way', async () => {
    const database = createDatabase();
    const file = newFile();
    const here = await startProcess(database, file);
    database.setMode('refuses');
    await here.take([
      start('t1', 's1', 'my password is hunter2'),
      end('t1', 's1'),
      said(1, 's1'),
      start('t2', 's1'),
    ]);
    await here.tick();
    expect(stateOf(here.words)).toMatchObject({
      degraded: undefined,
      spool: { reason: expect.stringContaining('PostgreSQL'), turns: 1 },
    });
    expect(here.words).toContainEqual({ type: 'answer', id: 1, value: [] });
    expect(database.inner.totals().facts).toBe(0);
    for (const name of [file, `${file}-wal`]) expect(readFileSync(name).includes('hunter2')).toBe(false);
    database.setMode('answers');
    await here.take([end('t2', 's1')]);
    for (let n = 0; n < 4; n++) await here.tick();
    expect(typesOf(database.inner)).toEqual([
      'turn-start t1',
      'turn-end t1',
      'turn-start t2',
      'lessons-recalled t1',
      'turn-end t2',
    ]);
    expect(stateOf(here.words)).toMatchObject({ degraded: undefined, spool: undefined });
    const view = database.inner.turn('t1');
    if (view === undefined) throw new Error('the turn is missing');
    const records = toRecords(database.inner, () => 0);
    const turn = await readStoredTurn(view, records, new Map());
    expect(JSON.stringify(turn)).toContain('reply to t1');
    expect(JSON.stringify(turn)).toContain('[[secret]]');
    expect(database.inner.block('aa1')).toBe('block of s1');
    expect(database.inner.chains(9)).toEqual([{ session: 's1', link: 'link t2' }]);
  });

  it('is not told what it did not answer within a second twice', async () => {
    const database = createDatabase();
    const here = await startProcess(database, newFile());
    database.setMode('hangs');
    await here.take([start('t1', 's1'), end('t1', 's1'), said(1, 's1'), feedback(2, 't1')]);
    // The feedback was committed at once, with the turn: both wait for the answer.
    await here.tick(500);
    expect(here.spool.size().rows).toBe(0);
    await here.tick(1000);
    expect(here.spool.size()).toMatchObject({ rows: 3, turns: 1 });
    // What comes now is spooled without waiting for it, a second feedback waits for the answer.
    await here.take([start('t2', 's1'), end('t2', 's1'), feedback(3, 't1')]);
    await here.tick(40);
    expect(here.spool.size().turns).toBe(2);
    expect(here.words.some(({ type }) => type === 'refusal')).toBe(false);
    database.setMode('lost-answer');
    await here.tick();
    await here.tick();
    expect(here.words.filter(({ type }) => type === 'refusal')).toMatchObject([{ id: 2 }, { id: 3 }]);
    database.setMode('answers');
    for (let n = 0; n < 6; n++) await here.tick();
    expect(typesOf(database.inner)).toEqual([
      'turn-start t1',
      'turn-end t1',
      'lessons-recalled t1',
      'turn-start t2',
      'turn-end t2',
    ]);
  });

  it('has all that it missed soon, though a turn ends during each of its commits', async () => {
    const database = createDatabase();
    const here = await startProcess(database, newFile());
    database.setMode('refuses');
    await here.take([start('t0', 's1'), end('t0', 's1')]);
    await here.tick(100);
    database.setMode('lingers');
    let steps = 0;
    while (here.spool.size().rows > 0 && steps < 20) {
      steps++;
      await here.tick(500);
      await here.take([start(`t${steps}`, 's1'), end(`t${steps}`, 's1')]);
      await here.tick(40);
      database.setMode('lingers');
      await here.tick(0);
    }
    expect(steps).toBeLessThan(5);
    database.setMode('answers');
    for (let n = 0; n < 4; n++) await here.tick(500);
    expect(database.inner.turns('s1').map(({ id }) => id)).toEqual(
      Array.from({ length: steps + 1 }, (_, n) => `t${n}`),
    );
  });

  it('gets no feedback, no erasure and no question for all turns before it has what it missed', async () => {
    const database = createDatabase();
    const here = await startProcess(database, newFile());
    database.setMode('refuses');
    await here.take([start('t1', 's1'), end('t1', 's1')]);
    await here.tick(100);
    await here.take([
      feedback(1, 't1'),
      { type: 'erase', id: 2, at: 20, session: 's1', reason: 'asked' },
      { type: 'append', id: 3, isPatient: false, facts: [], blocks: [] },
    ]);
    const refused = here.words.filter(({ type }) => type === 'refusal');
    expect(refused).toHaveLength(3);
    for (const one of refused)
      expect(one).toMatchObject({ message: expect.stringContaining('Nothing was changed') });
    expect(database.inner.totals().facts).toBe(0);
    database.setMode('answers');
    for (let n = 0; n < 4; n++) await here.tick();
    await here.take([feedback(4, 't1'), { type: 'erase', id: 5, at: 20, session: 's1', reason: 'asked' }]);
    for (let n = 0; n < 4; n++) await here.tick();
    expect(here.words.filter(({ type }) => type === 'answer')).toMatchObject([{ id: 4 }, { id: 5 }]);
    expect(database.inner.session('s1')).toMatchObject({ erased: true });
  });

  it('does not bring back a session that was erased meanwhile by another gateway', async () => {
    const database = createDatabase();
    const here = await startProcess(database, newFile());
    await here.take([start('t0', 's1'), end('t0', 's1')]);
    await here.tick();
    database.setMode('refuses');
    await here.take([start('t1', 's1'), end('t1', 's1'), start('t2', 's2'), end('t2', 's2')]);
    await here.tick(100);
    database.inner.erase('s1', 50, 'asked');
    database.setMode('answers');
    for (let n = 0; n < 5; n++) await here.tick();
    expect(database.inner.session('s1')).toMatchObject({ erased: true, turns: 1 });
    expect(database.inner.turn('t1')).toBeUndefined();
    expect(database.inner.turn('t2')).toMatchObject({ status: 'complete' });
    // A turn after the erasure begins the session again, as ever.
    const later = start('t3', 's1');
    await here.take([later.type === 'start' ? { ...later, at: 60 } : later]);
    await here.tick();
    expect(database.inner.session('s1')).toMatchObject({ erased: false });
  });

  it('has the end of a turn that another gateway took for crashed', async () => {
    const database = createDatabase();
    const here = await startProcess(database, newFile());
    await here.take([start('t1', 's1')]);
    await here.tick();
    database.setMode('refuses');
    await here.take([end('t1', 's1')]);
    await here.tick(100);
    await database.store.endCrashed(30).catch(() => undefined);
    await toAsyncStore(database.inner).endCrashed(30);
    expect(database.inner.turn('t1')).toMatchObject({ status: 'crashed' });
    database.setMode('answers');
    for (let n = 0; n < 4; n++) await here.tick();
    const before = database.inner.turn('t1');
    expect(before).toMatchObject({ status: 'complete', reply: 'reply:t1' });
    expect(database.inner.block('reply:t1')).toContain('reply to t1');
    database.inner.rebuild();
    expect(database.inner.turn('t1')).toEqual(before);
  });

  it('drops the newest turns when the spool is full, keeps the ends of those in it, and says so', async () => {
    const database = createDatabase();
    const here = await startProcess(database, newFile(), 1500);
    database.setMode('refuses');
    const turns = Array.from({ length: 12 }, (_, n) => `t${n}`);
    await here.take([start('t0', 's0')]);
    await here.tick(300);
    for (const turn of turns.slice(1)) await here.take([start(turn, turn), end(turn, turn)]);
    await here.tick(100);
    await here.take([end('t0', 's0')]);
    await here.tick(100);
    expect(stateOf(here.words)).toMatchObject({
      degraded: expect.stringContaining('what waits for the database has reached'),
    });
    database.setMode('answers');
    for (let n = 0; n < 5; n++) await here.tick();
    expect(stateOf(here.words)).toMatchObject({ degraded: undefined, spool: undefined });
    const kept = turns.filter((turn) => database.inner.turn(turn) !== undefined);
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.length).toBeLessThan(turns.length);
    expect(kept).toEqual(turns.slice(0, kept.length));
    for (const turn of kept) expect(database.inner.turn(turn)).toMatchObject({ status: 'complete' });
    const lost = here.words.reduce((sum, word) => sum + (word.type === 'done' ? word.lost : 0), 0);
    expect(lost).toBe(turns.length - kept.length);
  });

  it('keeps what waits in memory, and says why, while the spool cannot be written either', async () => {
    const database = createDatabase();
    const file = newFile();
    const here = await startProcess(database, file);
    database.setMode('refuses');
    // No directory can be opened as a database.
    rmSync(file, { force: true });
    writeFileSync(
      file,
      'this is not a database, and it is longer than a header of a hundred bytes '.repeat(4),
    );
    await here.take([start('t1', 's1'), end('t1', 's1')]);
    await here.tick(100);
    expect(stateOf(here.words)).toMatchObject({ degraded: expect.stringContaining(file) });
    database.setMode('answers');
    for (let n = 0; n < 5; n++) await here.tick();
    expect(typesOf(database.inner)).toEqual(['turn-start t1', 'turn-end t1']);
    expect(stateOf(here.words)).toMatchObject({ degraded: undefined });
  });

  it('gets what a killed process left from a command that opens the home without a daemon', async () => {
    const database = createDatabase();
    const file = newFile();
    const here = await startProcess(database, file);
    database.setMode('refuses');
    await here.take([start('t1', 's1'), end('t1', 's1'), start('t2', 's1')]);
    await here.tick(100);
    here.kill();
    database.setMode('answers');
    expect(await drainSpool(file, database.store, 99)).toBe(2);
    expect(database.inner.turns('s1')).toMatchObject([{ status: 'complete' }, { status: 'crashed' }]);
    expect(await drainSpool(file, database.store, 99)).toBe(0);
  });
});

/** What happens in one history. */
type Step =
  | { readonly do: 'turn'; readonly session: number; readonly isLong: boolean }
  | { readonly do: 'end' }
  | { readonly do: 'said'; readonly session: number }
  | { readonly do: 'feedback' }
  | { readonly do: 'mode'; readonly mode: Mode }
  | { readonly do: 'tick'; readonly ms: number }
  | { readonly do: 'kill' };

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ do: fc.constant('turn' as const), session: fc.nat(2), isLong: fc.boolean() }),
    },
    { weight: 3, arbitrary: fc.constant<Step>({ do: 'end' }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('said' as const), session: fc.nat(2) }) },
    { weight: 2, arbitrary: fc.constant<Step>({ do: 'feedback' }) },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('mode' as const),
        mode: fc.constantFrom<Mode>(
          ...(['answers', 'answers', 'refuses', 'lost-answer', 'hangs', 'hangs', 'stale', 'odd'] as const),
        ),
      }),
    },
    {
      weight: 8,
      arbitrary: fc.record({ do: fc.constant('tick' as const), ms: fc.constantFrom(0, 40, 300, 1000, 5000) }),
    },
    { weight: 2, arbitrary: fc.constant<Step>({ do: 'kill' }) },
  ),
  { minLength: 5, maxLength: 60 },
);

const tick = (ms: number): Step => ({ do: 'tick', ms });
const TURN: Step = { do: 'turn', session: 1, isLong: false };
/** Turns that once overtook those in the spool: the answer that came after a second was a refusal. */
const OVERTAKEN: [readonly Step[]][] = (['stale', 'odd'] as const).map((mode) => [
  [
    TURN,
    { do: 'mode', mode: 'hangs' },
    { do: 'feedback' },
    tick(1000),
    { do: 'mode', mode },
    TURN,
    tick(0),
    { do: 'feedback' },
    tick(0),
    tick(0),
  ],
]);

describe('any history of outages and kills', () => {
  it('leaves every acknowledged turn, recall and feedback in the database once, in the order of its session', async () => {
    const seen = { kills: 0, spooled: 0, feedback: 0 };
    await fc.assert(
      fc.asyncProperty(steps, async (history) => {
        const database = createDatabase();
        const file = newFile();
        let here = await startProcess(database, file);
        let count = 0;
        let open: { turn: string; session: string }[] = [];
        /** In the order in which they were taken, by session. */
        const taken = new Map<string, string[]>();
        const acknowledged = {
          turns: new Set<string>(),
          said: new Set<number>(),
          feedback: new Set<number>(),
        };
        const jobsOf: string[] = [];
        const collect = (): void => {
          // Ends are reported in order.
          let ended = 0;
          for (const word of here.words) {
            if (word.type === 'done' && word.jobs > 0) ended += word.jobs;
            if (word.type === 'answer' && word.id % 2 === 0) acknowledged.said.add(word.id);
            if (word.type === 'answer' && word.id % 2 === 1) acknowledged.feedback.add(word.id);
          }
          for (const job of jobsOf.splice(0, ended)) if (job !== '') acknowledged.turns.add(job);
          here.words.length = 0;
        };
        for (const step of history) {
          if (step.do === 'turn') {
            const session = `s${step.session}`;
            const turn = `t${++count}`;
            taken.set(session, [...(taken.get(session) ?? []), turn]);
            jobsOf.push('');
            if (step.isLong) open.push({ turn, session });
            else jobsOf.push(turn);
            await here.take([start(turn, session), ...(step.isLong ? [] : [end(turn, session)])]);
          } else if (step.do === 'end') {
            const [first, ...rest] = open;
            open = rest;
            if (first === undefined) continue;
            jobsOf.push(first.turn);
            await here.take([end(first.turn, first.session)]);
          } else if (step.do === 'said') await here.take([said(++count * 2, `s${step.session}`)]);
          else if (step.do === 'feedback') await here.take([feedback(++count * 2 + 1, `t${count}`)]);
          else if (step.do === 'mode') database.setMode(step.mode);
          else if (step.do === 'tick') await here.tick(step.ms);
          else {
            collect();
            seen.kills++;
            here.kill();
            // What was not acknowledged may be lost with the process.
            jobsOf.length = 0;
            open = [];
            database.setMode(database.state.mode);
            here = await startProcess(database, file);
          }
          collect();
          seen.spooled = Math.max(seen.spooled, here.spool.size().rows);
        }
        database.setMode('answers');
        for (let n = 0; n < 40; n++) await here.tick();
        collect();
        expect(here.spool.size().rows).toBe(0);
        here.kill();
        const facts = database.inner.facts(0, 100_000).map(({ fact }) => fact);
        const counts = new Map<string, number>();
        for (const fact of facts) {
          const turn = 'turn' in fact ? fact.turn : '';
          const isCrash = fact.type === 'turn-end' && fact.status === 'crashed';
          const name = `${fact.type} ${turn}${isCrash ? ' crashed' : ''}`;
          counts.set(name, (counts.get(name) ?? 0) + 1);
        }
        expect([...counts].filter(([, times]) => times > 1)).toEqual([]);
        for (const turn of acknowledged.turns) {
          expect(database.inner.turn(turn)).toMatchObject({ status: 'complete' });
          expect(database.inner.block(`reply:${turn}`)).toContain(`reply to ${turn}`);
        }
        for (const id of acknowledged.said) expect(counts.get(`lessons-recalled t${id}`)).toBe(1);
        for (const id of acknowledged.feedback) expect(counts.get(`reward-given t${(id - 1) / 2}`)).toBe(1);
        seen.feedback += acknowledged.feedback.size;
        for (const [session, turns] of taken) {
          const recorded = database.inner.turns(session).map(({ id }) => id);
          expect(recorded).toEqual(turns.filter((turn) => recorded.includes(turn)));
        }
      }),
      { numRuns: Number(process.env.SPOOL_HISTORIES ?? 60), seed: 20261117, examples: OVERTAKEN },
    );
    expect(seen.kills).toBeGreaterThan(20);
    expect(seen.spooled).toBeGreaterThan(3);
    expect(seen.feedback).toBeGreaterThan(5);
  }, 300_000);
});
