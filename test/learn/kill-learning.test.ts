import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../src/core/chat.ts';
import type { Clock } from '../../src/core/clock.ts';
import type { ChangeSet } from '../../src/core/lesson.ts';
import type { LabelledSpan } from '../../src/core/reading.ts';
import type { NewFact, Records } from '../../src/core/store.ts';
import { createNgramEmbed } from '../../src/embed/ngram-embed.ts';
import { startLearningWorker } from '../../src/learn/learning-worker.ts';
import { createEarlierJob } from '../../src/learn/recollect/index-earlier.ts';
import { openLessons } from '../../src/lessons/open-lessons.ts';
import { toRecords } from '../../src/record/records.ts';
import type { BlockCache } from '../../src/record/request-manifest.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';
import { readStoredTurn } from '../../src/record/stored-turn.ts';
import { createTurnEncoder } from '../../src/record/turn-encoder.ts';
import { openRedactor } from '../../src/redact/open-redactor.ts';
import { countOf } from '../support/counts.ts';
import { lessonText } from '../support/lesson-text.ts';
import { text } from './ask/samples.ts';
import { failedEpisodes, SKILL } from './failed-episodes.ts';
import { turnJobs } from './turn-jobs.ts';

const quiet = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
const BEGIN = Date.UTC(2026, 3, 14, 8);
const MINUTE = 60_000;
const NEVER = new AbortController().signal;

/** When a process dies: at which of its writes, and whether the write still reaches the disk. */
interface Death {
  readonly write: number;
  readonly isWritten: boolean;
  /** Which process: the first one, if absent. */
  readonly start?: number;
}

/** One home: its record, its time, and the processes that learn in it, one after another. */
function openHome(death?: Death) {
  const store = createMemoryStore();
  const redactor = openRedactor();
  const encoder = createTurnEncoder({ ...redactor, setKeys: () => undefined });
  let now = BEGIN;
  let writes = 0;
  let starts = 0;
  let turns = 0;
  const clock: Clock = { now: () => now, monotonic: () => performance.now() };

  const start = async (isIndexing = true) => {
    const records = toRecords(store, clock.now, redactor);
    const begun = ++starts;
    let isDead = false;
    const append: Records['append'] = async (...given) => {
      // As earlier versions did.
      if (!isIndexing && given[0].some(({ fact }) => fact.type === 'message-indexed')) return [];
      if (isDead) throw new Error('the process is dead');
      const dies = begun === (death?.start ?? 1) && ++writes === death?.write;
      isDead = dies;
      const written = dies && !death.isWritten ? undefined : await records.append(...given);
      if (dies || written === undefined) throw new Error('killed');
      return written;
    };
    const mortal = { ...records, append };
    let ids = 0;
    const newId = (prefix: string) => `${prefix}-${begun}-${++ids}`;
    const lessons = await openLessons({ records: mortal, clock, newId, onFault: () => undefined });
    const worker = await startLearningWorker(
      {
        autonomy: 'guarded',
        failures: 3,
        maxNewSkills: 3,
        budget: { usdPerDay: 1, tokensPerDay: 50_000_000 },
        prices: {},
        since: 0,
        verifiers: [],
      },
      {
        records: mortal,
        decoder: () => {
          const blocks: BlockCache = new Map();
          return (view) => readStoredTurn(view, records, blocks);
        },
        publish: lessons.library.publish,
        model: async (role) =>
          role === 'evolver'
            ? { name: 'own/teacher', title: 'own/teacher', price: { from: 'unknown', isLocal: false } }
            : undefined,
        // It has a lesson about the invoices alone: the rest is learned in the words of the people.
        chat: async (_role, { system, messages }) => {
          const asked = JSON.stringify(messages);
          if (JSON.stringify(system).includes('spans'))
            return text(JSON.stringify({ spans: readBy(messages) }));
          return text(asked.includes('invoice amounts') ? JSON.stringify([SKILL]) : '[]');
        },
        embed: createNgramEmbed().embed,
        hasSecret: () => false,
        buffer: { add: () => undefined },
        onStatus: () => undefined,
        clock,
        newId,
        log: quiet,
      },
    );
    return { worker, lessons, isDead: () => isDead };
  };

  return {
    start,
    writes: () => writes,
    starts: () => starts,
    report: (facts: readonly NewFact[]) => void store.append({ facts: [...facts] }),
    /** The turns whose messages can be found by what was said. */
    found: async (): Promise<readonly string[]> => {
      const facts = await toRecords(store, clock.now, redactor).factsOf('message-indexed', 0, 1_000);
      return facts.flatMap(({ fact }) => (fact.type === 'message-indexed' ? [fact.turn] : [])).sort();
    },
    pass: (ms: number) => {
      now += ms;
    },
    /** A conversation as the gateway records it. */
    converse: (session: string, agent: string, exchanges: readonly (readonly [string, string])[]) => {
      const messages: { role: string; content: string }[] = [];
      for (const [asked, reply] of exchanges) {
        messages.push({ role: 'user', content: asked });
        store.append(
          encoder.batch(turnJobs({ turn: `t${++turns}`, session, agent, at: now }, messages, reply)),
        );
        messages.push({ role: 'assistant', content: reply });
        now += MINUTE;
      }
    },
    end: (session: string) =>
      void store.append({ facts: [{ at: now, fact: { type: 'session-end', session, reason: 'idle' } }] }),
  };
}

type Home = ReturnType<typeof openHome>;
const TWICE = 'Sort the rows of a ledger by day before you add them up.';

/** A rule that the person wrote down after the first conversation, about the answer that they corrected in it. */
const TOLD = lessonText({
  name: 'iso-dates',
  description: '"Always write dates as YYYY-MM-DD."',
  content: 'Dates are written as YYYY-MM-DD.',
  note: { source: 'told' },
  evidence: { turns: ['t1'], quotes: [], learner: 'person' },
});
const TOLD_SET = {
  id: 'person-iso-dates',
  by: { kind: 'person', name: 'person' },
  reason: 'test',
  changes: [{ op: 'add', id: TOLD.name, kind: 'skill', state: 'live', text: TOLD }],
} satisfies ChangeSet;

const RELEASE = 'The release notes go to Marta first.';
/** What the model reads in messages. That of the release says nothing that a phrase would give away. */
const READ: readonly LabelledSpan[] = [
  { quote: 'No, that is wrong.', kind: 'correction' },
  { quote: 'Always write dates as YYYY-MM-DD.', kind: 'rule' },
  { quote: 'Thanks, that is right.', kind: 'thanks' },
  { quote: 'Please remember: our staging server listens on port 8043.', kind: 'fact' },
  { quote: 'From now on, answer me in short sentences.', kind: 'preference' },
  { quote: 'Never push to main, use a branch.', kind: 'rule' },
  { quote: RELEASE, kind: 'rule' },
];

/** The messages of the question stand under their numbers. */
const readBy = (messages: readonly ChatMessage[]): readonly object[] => {
  const question = messages.flatMap(({ content }) =>
    content.map((part) => (part.type === 'text' ? part.text : '')),
  );
  const sections = [...question.join('\n').matchAll(/^<<<\w+ message (\d+)\n([^<]+)/gm)];
  return sections.flatMap(([, message, typed = '']) =>
    READ.filter(({ quote }) => typed.includes(quote)).map((span) => ({ message: Number(message), ...span })),
  );
};

/** What happens to a home on one day, step by step; after each step learning has nothing left to do. */
const DAY: readonly ((home: Home) => void)[] = [
  (home) => home.report(failedEpisodes('ada')),
  (home) =>
    home.converse('s-dates', 'bob', [
      ['Write the dates of the orders into the table.', '04/03/26, 05/03/26'],
      ['No, that is wrong. Always write dates as YYYY-MM-DD.', '2026-03-04, 2026-03-05'],
      ['Thanks, that is right.', 'Good.'],
    ]),
  (home) => home.end('s-dates'),
  (home) =>
    home.converse('s-port', 'bob', [
      ['Please remember: our staging server listens on port 8043.', 'Noted.'],
      ['What is next on the list?', 'Next is the small cleanup.'],
      ['From now on, answer me in short sentences.', 'I will.'],
    ]),
  (home) => home.end('s-port'),
  (home) =>
    home.converse('s-push', 'bob', [
      ['Push the fix.', 'I pushed it to main.'],
      ['No! Never push to main, use a branch.', 'Sorry, I moved it to a branch.'],
    ]),
  (home) => home.end('s-push'),
  (home) =>
    home.converse('s-release', 'bob', [
      ['Publish the release.', 'It is published, the notes too.'],
      [RELEASE, 'I sent them to Marta.'],
      ['Write the agenda.', 'Here it is.'],
    ]),
  (home) => home.end('s-release'),
];

/** Lives through the day; a process that dies is followed by another one. Answers with the library at the end. */
async function live(death?: Death) {
  const home = openHome(death);
  let process = await home.start();
  /** Until it is done by a process that lives. */
  const work = async (what: (running: typeof process) => Promise<unknown>): Promise<void> => {
    try {
      await what(process);
    } catch (error) {
      if (!process.isDead()) throw error;
    }
    if (!process.isDead()) return;
    await process.worker.close();
    process = await home.start();
    await work(what);
  };
  await work(async ({ lessons: { library } }) => {
    for (const name of ['ledger-rows', 'rows-of-ledgers'])
      await library.publish({
        id: `person-${name}`,
        by: { kind: 'learner', name: 'evolver' },
        reason: 'test',
        changes: [
          {
            op: 'add',
            id: name,
            kind: 'skill',
            state: 'live',
            text: lessonText({ name, description: 'When you sort a ledger.', content: TWICE }),
          },
        ],
      });
  });
  for (const step of DAY) {
    step(home);
    if (step === DAY[1]) await work(({ lessons: { library } }) => library.publish(TOLD_SET));
    await work(({ worker }) => {
      worker.wake();
      return worker.settle();
    });
    home.pass(30 * MINUTE);
  }
  home.pass(3 * 24 * 60 * MINUTE);
  await work(({ worker }) => worker.practice.command({ do: 'consolidate', apply: true }, NEVER));
  await work(({ worker }) => worker.practice.command({ do: 'reflect' }, NEVER));
  await process.worker.close();
  const lessons = process.lessons.library
    .lessons()
    .map(({ kind, state, check, text: { name, description, content, scope, evidence } }) => {
      const turns = [...evidence.turns].sort();
      return JSON.stringify({ name, kind, state, description, content, scope, turns, check });
    });
  return { lessons: lessons.sort(), found: await home.found(), writes: home.writes(), starts: home.starts() };
}

describe('a process that is killed while it learns', () => {
  it('at any fact of a day is followed by one that comes to the same library', async () => {
    const whole = await live();
    expect(whole.lessons.map((one) => JSON.parse(one).name)).toEqual(
      expect.arrayContaining(['state-the-unit', 'ledger-rows']),
    );
    // Read by the model after the session had ended.
    expect(whole.lessons.filter((one) => one.includes(RELEASE))).not.toEqual([]);
    const dates = whole.lessons.map((one) => JSON.parse(one)).find(({ name }) => name === TOLD.name);
    expect(dates?.check).toMatchObject({ standing: 'accepted', by: 'words' });
    expect(whole.found).toHaveLength(11);
    const few = countOf(3, whole.writes);
    const deaths = Array.from({ length: few }, (_, nth) => 1 + Math.floor((nth * whole.writes) / few));
    for (const write of deaths)
      for (const isWritten of [false, true]) {
        const { lessons, found, starts } = await live({ write, isWritten });
        expect({ write, isWritten, starts, lessons, found }).toEqual({
          write,
          isWritten,
          starts: 2,
          lessons: whole.lessons,
          found: whole.found,
        });
      }
  }, 600_000);
});

/** A home of a version that had no index, and its upgrade: the idle hour indexes what was said before. */
async function upgrade(death?: Death) {
  const home = openHome(death && { ...death, start: 2 });
  const before = await home.start(false);
  for (let nth = 0; nth < 25; nth++) {
    home.converse(`s-${nth}`, 'bob', [
      [`The crate ${nth} is in hall ${nth + 3}.`, 'Noted.'],
      ['Write the agenda.', 'Here it is.'],
    ]);
    home.end(`s-${nth}`);
    home.pass(30 * MINUTE);
  }
  await before.worker.settle();
  await before.worker.close();
  expect(await home.found()).toEqual([]);

  let process = await home.start();
  let from: string | undefined;
  const steps: string[] = [];
  for (;;) {
    const job = createEarlierJob({
      command: (request) => process.worker.practice.command(request, NEVER),
    });
    const done = await job.run({
      run: 'run',
      from,
      signal: NEVER,
      checkpoint: async (state) => {
        from = state;
        steps.push(state);
      },
      reserve: async () => Promise.reject(new Error('it costs nothing')),
      spend: () => undefined,
    });
    if (done.end === 'done') break;
    expect(process.isDead()).toBe(true);
    await process.worker.close();
    process = await home.start();
  }
  await process.worker.close();
  return { found: await home.found(), steps };
}

describe('sessions that ended before there was an index', () => {
  it('are indexed in steps, whichever write the process dies at', async () => {
    const whole = await upgrade();
    expect(whole.found).toHaveLength(50);
    // Where it begins, and after twenty sessions.
    expect(whole.steps).toHaveLength(2);
    for (const write of countOf(1, 4) > 1 ? [1, 2, 30, 50] : [30])
      for (const isWritten of [false, true])
        expect((await upgrade({ write, isWritten })).found).toEqual(whole.found);
  });
});
