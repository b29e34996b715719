import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { homeAt } from '../../src/config/home.ts';
import type { Fact } from '../../src/core/fact.ts';
import type { Json } from '../../src/core/json.ts';
import type { Change, LessonText } from '../../src/core/lesson.ts';
import { formatTurnBodyKey, type NewFact, type Store } from '../../src/core/store.ts';
import { createRequestEncoder } from '../../src/record/request-manifest.ts';
import { openSqliteStore } from '../../src/record/store/sqlite-store.ts';
import { end, start } from '../record/store/facts.ts';
import { lessonText } from '../support/lesson-text.ts';
import { PAYLOADS } from './payloads.ts';

const DAY = 86_400_000;
const MINUTE = 60_000;
const DAYS = 45;

const WORK: readonly (readonly [asked: string, answered: string])[] = [
  [
    'Add a retry with back-off to the upload client, and cover it with tests.',
    'I added `retryWithBackoff` to `upload.ts`:\n\n1. three tries, 200 ms apart at first\n2. only for status 429 and 5xx\n\n```ts\nawait retryWithBackoff(() => put(file), { tries: 3 });\n```\n\nAll 14 tests pass.',
  ],
  [
    'Why does the nightly import fail on the 29th?',
    'The parser assumes **28 days** in February. I fixed `days-of-month.ts`.',
  ],
  [
    'Write the invoice amounts of May into report.md.',
    'I wrote both amounts into `report.md`:\n\n- invoice 17: 12.50\n- invoice 18: 99.00',
  ],
  [
    'Rename the column customer_no to customer_id everywhere.',
    'Renamed in 11 files; the migration is `0042_customer_id.sql`.',
  ],
  [
    'Explain what the scheduler does when somebody comes back.',
    'It stops the job at the next safe point and keeps its place.',
  ],
  [
    'The sidebar overlaps the table on small screens.',
    'The grid had a fixed column. It now wraps below 760 px.',
  ],
];
const AGENTS = ['cody', 'alice', 'release-bot'] as const;
const CLIENTS = ['claude-code', 'codex', 'opencode'] as const;
const PROJECTS = [
  { id: 'a1b2c3d4e5f6', label: 'shop' },
  { id: 'b1b2c3d4e5f6', label: 'gateway' },
  { id: 'c1b2c3d4e5f6', label: 'handbook' },
] as const;

interface SeededLesson {
  readonly name: string;
  readonly description: string;
  readonly content: string;
  readonly state: 'proposed' | 'trial' | 'live';
  readonly agent?: string;
  /** What the person said when it was learned; without it, what was said in the session that is corrected. */
  readonly said?: string;
}

const LESSONS: readonly SeededLesson[] = [
  {
    name: 'dates-in-iso',
    description: 'When you write a date into a file or a message.',
    content: 'Write dates as `2026-11-17`.\n\n- never 17/11\n- times in the local zone',
    state: 'live',
    said: 'write dates as 2026-11-17, never 17/11',
  },
  {
    name: 'run-tests-before-answer',
    description: 'When you say that a change is done.',
    content: 'Run the tests first, and quote their last line.\n\n```sh\nnpm test\n```',
    state: 'live',
    agent: 'cody',
    said: 'run the tests before you say that it is done, and show me the last line',
  },
  {
    name: 'no-force-push',
    description: 'When you push to a branch that others use.',
    content: 'Never force-push. Use `git revert`.',
    state: 'live',
    said: 'never force-push, others work on this branch',
    agent: 'cody',
  },
  {
    name: 'small-commits',
    description: 'When you commit.',
    content: 'One change for each commit, with a subject in the present tense.',
    state: 'trial',
    said: 'one change for each commit, please',
  },
  {
    name: 'retry-uploads',
    description: 'When an upload fails with 429 or 5xx.',
    content: 'Retry three times with a growing pause.',
    state: 'trial',
    said: 'a 429 is no reason to give up: try again, three times, with a growing pause',
    agent: 'alice',
  },
  {
    name: 'ask-before-migrations',
    description: 'When a migration would change data that is not a copy.',
    content: 'Ask first. Show the statement and the number of rows.',
    state: 'proposed',
    said: 'ask me before you change data that is not a copy',
  },
  {
    name: 'unit-behind-amount',
    description: 'When you write amounts of money.',
    content: 'The user said:\n\n> Put the unit behind every amount, such as 12.50 EUR.',
    state: 'proposed',
    agent: 'alice',
  },
  {
    name: 'quote-paths',
    description: 'When a path may contain spaces.',
    content: 'Quote every path in a command.',
    state: 'proposed',
    said: 'quote the paths, one of mine has a space in it',
  },
];

/** Deterministic: the same home every time. */
function createRandom(): () => number {
  let state = 20261117;
  return () => {
    state = (state * 16807) % 2147483647;
    return state / 2147483647;
  };
}

/** The ids of what tests look for. */
export const SEEDED = {
  corrected: 'sess-corrected',
  /** A conversation of many turns. */
  long: 'sess-long',
  lesson: (name: string): string => `lesson-${name}`,
  payload: (index: number): string => `sess-payload-${index}`,
};

/** Writes weeks of recorded work into a home before its daemon starts: sessions, verdicts, lessons, practice, weights. */
export function seedHome(
  dir: string,
  now: number,
  { withPayloads }: { readonly withPayloads: boolean },
): void {
  const home = homeAt(dir);
  const store = openSqliteStore({ file: home.storeFile });
  const writer = createWriter(store);
  if (withPayloads) seedPayloads(writer, now);
  seedLessons(writer, now);
  seedWork(writer, now);
  seedLong(writer, now);
  seedPractice(writer, now);
  store.close();
  seedSteps(dir);
}

interface Writer {
  fact(at: number, fact: Fact): void;
  turn(turn: SeededTurn): void;
}

interface SeededTurn {
  readonly id: string;
  readonly session: string;
  readonly at: number;
  readonly place: number;
  readonly agent?: string;
  readonly messages: readonly object[];
  readonly reply: readonly object[];
  readonly generation?: number;
  readonly lessons?: readonly string[];
  readonly ms?: number;
}

function createWriter(store: Store): Writer {
  const encoder = createRequestEncoder((value: Json) => JSON.stringify(value));
  return {
    fact: (at, fact) => void store.append({ facts: [{ at, fact }] }),
    turn: ({ id, session, at, place, agent, messages, reply, generation = 0, lessons = [], ms = 2400 }) => {
      const request = formatTurnBodyKey({ turn: id, part: 'request' });
      const replyKey = formatTurnBodyKey({ turn: id, part: 'reply' });
      const body = Buffer.from(JSON.stringify({ model: 'fast', max_tokens: 900, messages }));
      const blocks = encoder.keep(request, session, 'anthropic', body) ?? [];
      const begun: NewFact = {
        at,
        fact: start(id, session, {
          agent: agent ?? AGENTS[place % 3] ?? 'cody',
          client: CLIENTS[place % 3] ?? 'codex',
          project: PROJECTS[place % 3] ?? PROJECTS[0],
          model: 'default',
          policy: 'anthropic/claude-sonnet-4-5',
          caller: 'k_seeded0001',
          generation,
          lessons,
          request,
        }),
      };
      store.append({ facts: [begun], blocks });
      const usage = { inputTokens: 9000 + place * 37, outputTokens: 320 + place, cacheReadTokens: 7100 };
      store.append({
        facts: [
          {
            at: at + ms,
            fact: end(id, { reply: replyKey, usage, firstByteMs: 610, totalMs: ms, stop: 'end' }),
          },
        ],
        blocks: [{ hash: replyKey, text: JSON.stringify({ content: reply, stop: 'end' }), session }],
      });
    },
  };
}

const text = (words: string): object => ({ type: 'text', text: words });

/** Work that goes better over the weeks, with the lessons that were in use. */
function seedWork(writer: Writer, now: number): void {
  const random = createRandom();
  let place = 0;
  for (let day = DAYS; day >= 0; day--) {
    const sessions = day === 0 ? 28 : 2 + Math.floor(random() * 5);
    for (let one = 0; one < sessions; one++) {
      const at = now - day * DAY - (4 * 60 + Math.floor(random() * 300)) * MINUTE;
      const session = `sess-${String(place).padStart(4, '0')}`;
      const [asked, answered] = WORK[place % WORK.length] ?? ['', ''];
      const chance = day < 20 && place % 5 === 0 ? 0.3 : 0.45 + (0.4 * (DAYS - day)) / DAYS;
      const isGood = random() < chance;
      // As the hold-out does it: every fifth session goes without the lesson, and goes worse.
      const isHeldOut = day < 20 && place % 5 === 0;
      const lessons = day < 20 && !isHeldOut ? [SEEDED.lesson('dates-in-iso')] : [];
      const generation = day < 20 ? 2 : 0;
      const scope = { agent: AGENTS[place % 3] ?? 'cody' };
      writer.turn({
        id: `turn-${session}-1`,
        session,
        at,
        place,
        generation,
        lessons,
        messages: [{ role: 'user', content: asked }],
        reply: [
          text('I look at the files first.'),
          { type: 'tool-call', id: 'c1', name: 'bash', arguments: '{"command":"ls -la src"}' },
        ],
        ms: 1800,
      });
      writer.turn({
        id: `turn-${session}-2`,
        session,
        at: at + MINUTE,
        place,
        generation,
        lessons,
        messages: [
          { role: 'user', content: asked },
          {
            role: 'assistant',
            content: [
              { type: 'text', text: 'I look at the files first.' },
              { type: 'tool_use', id: 'c1', name: 'bash', input: { command: 'ls -la src' } },
            ],
          },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: 'c1', content: 'upload.ts\nupload.test.ts\nexit code 0' },
            ],
          },
        ],
        reply: [text(answered)],
        ms: 5200,
      });
      const verdict = isGood ? 'success' : 'failure';
      writer.fact(at + 2 * MINUTE, {
        type: 'turn-appraised',
        turn: `turn-${session}-2`,
        session,
        scope,
        generation,
        verdict,
        reward: isGood ? 0.8 : -0.6,
        source: 'verifier',
        signals: [],
        digests: [],
      });
      writer.fact(at + 3 * MINUTE, {
        type: 'reward-given',
        turn: `turn-${session}-2`,
        source: 'person',
        score: isGood ? 1 : -1,
      });
      if (lessons.length > 0)
        writer.fact(at + 4 * MINUTE, {
          type: 'rules-observed',
          session,
          turn: `turn-${session}-2`,
          results: [...lessons, SEEDED.lesson('run-tests-before-answer'), SEEDED.lesson('no-force-push')]
            .slice(0, 1 + (place % 3))
            .map((lesson) => ({
              lesson,
              revision: 2,
              // Later answers keep to it more often.
              outcome: random() < day / 60 ? 'broken' : 'kept',
            })),
        });
      writer.fact(at + 39 * MINUTE, { type: 'session-end', session, reason: 'idle' });
      writer.fact(at + 40 * MINUTE, {
        type: 'session-scored',
        session,
        score: isGood ? 0.7 + random() * 0.3 : random() * 0.4,
        lessons,
        heldOut: isHeldOut ? [SEEDED.lesson('dates-in-iso')] : [],
      });
      place++;
    }
  }
  const at = now - 90 * MINUTE;
  const { corrected } = SEEDED;
  const [, , invoices] = WORK;
  const [asked = '', answered = ''] = invoices ?? [];
  writer.turn({
    id: `turn-${corrected}-1`,
    session: corrected,
    at,
    place: 1,
    generation: 2,
    lessons: [SEEDED.lesson('dates-in-iso')],
    messages: [{ role: 'user', content: asked }],
    reply: [text(answered)],
  });
  writer.fact(at + 3 * MINUTE, {
    type: 'reward-given',
    turn: `turn-${corrected}-1`,
    source: 'person',
    score: -1,
    note: 'put the unit behind every amount',
  });
}

const LONG_TURNS = 90;

/** One conversation that fills several parts of a thread. */
function seedLong(writer: Writer, now: number): void {
  const at = now - 3 * 60 * MINUTE;
  for (let n = 1; n <= LONG_TURNS; n++)
    writer.turn({
      id: `turn-${SEEDED.long}-${n}`,
      session: SEEDED.long,
      at: at + n * MINUTE,
      place: 0,
      generation: 2,
      messages: [{ role: 'user', content: `Move handler ${n} to the new router` }],
      reply: [text(`Handler ${n} is on the new router; its test passes.`)],
    });
}

const LEARNED_DAYS_AGO = [34, 30, 24, 15, 8, 3, 0.02, 0.01];
const REVISED_DAYS_AGO = 32;

/** Lessons in every state, over several generations. */
function seedLessons(writer: Writer, now: number): void {
  let generation = 0;
  LESSONS.forEach(({ name, description, content, state, agent, said }, index) => {
    const at = now - (LEARNED_DAYS_AGO[index] ?? 1) * DAY;
    const source = said === undefined ? SEEDED.corrected : `sess-said-${name}`;
    if (said !== undefined) seedCorrection(writer, source, at - 30 * MINUTE, said, index);
    const links = index === 0 ? [] : [SEEDED.lesson(LESSONS[index - 1]?.name ?? '')];
    const words: LessonText = lessonText({
      name,
      description,
      content,
      scope: agent === undefined ? {} : { agent },
      note: {
        ...{ importance: 0.3 + index * 0.08, confidence: 0.9, links, source: 'told' },
        ...(name === 'small-commits'
          ? { relations: [{ type: 'contradicts', to: SEEDED.lesson('dates-in-iso') }] }
          : {}),
      },
      evidence: { turns: [`turn-${source}-1`], quotes: [], learner: 'distiller' },
    });
    if (state !== 'proposed') generation++;
    const id = SEEDED.lesson(name);
    const change: Change = { op: 'add', id, kind: index === 3 ? 'experience' : 'skill', state, text: words };
    writer.fact(at, {
      type: 'library-changed',
      set: `set-${index}`,
      by: { kind: 'learner', name: 'distiller' },
      reason: `You said: "${said ?? description}"`,
      changes: [change],
      generation,
    });
    if (index > 0) return;
    generation++;
    writer.fact(now - REVISED_DAYS_AGO * DAY, {
      type: 'library-changed',
      set: 'set-revision',
      by: { kind: 'person', name: 'person' },
      reason: 'requested by a person',
      changes: [
        {
          op: 'revise',
          id,
          from: 1,
          text: {
            ...words,
            content: 'Write dates as `2026-11-17`.\n\n- never 17/11\n- times as 14:02, in the local zone',
          },
        },
      ],
      generation,
    });
  });
}

/** A conversation in which a person said what should be different. */
function seedCorrection(writer: Writer, session: string, at: number, said: string, place: number): void {
  const [asked = '', answered = ''] = WORK[place % WORK.length] ?? [];
  const id = `turn-${session}-1`;
  writer.turn({
    id,
    session,
    at,
    place,
    messages: [{ role: 'user', content: asked }],
    reply: [text(answered)],
  });
  writer.fact(at + MINUTE, { type: 'reward-given', turn: id, source: 'person', score: -1, note: said });
}

/** A session of practice with groups whose rewards differ, and what became of its lessons. */
function seedPractice(writer: Writer, now: number): void {
  const at = now - 9 * 60 * MINUTE;
  const run = 'tuesday-night';
  for (const [index, [prompt]] of WORK.entries())
    writer.fact(at - DAY, {
      type: 'practice-task',
      op: 'added',
      id: `task-${index}`,
      task: {
        id: `task-${index}`,
        root: `task-${index}`,
        origin: 'curated',
        prompt,
        domain: 'code',
        check: { kind: 'regex', pattern: 'upload' },
      },
      sessions: [],
    });
  writer.fact(at, {
    type: 'practice-session',
    op: 'planned',
    run,
    kind: 'exploratory',
    why: 'six sessions went badly this week',
    area: {},
    tasks: WORK.map((_, index) => `task-${index}`),
    regression: [],
    epochs: 1,
    groupSize: 4,
  });
  WORK.forEach((_, index) => {
    for (let attempt = 0; attempt < 4; attempt++)
      writer.fact(at + (index * 4 + attempt) * MINUTE, {
        type: 'practice-unit',
        run,
        unit: `attempt/task-${index}/${attempt}`,
        value: {
          task: `task-${index}`,
          outcome: { is: 'graded', reward: ((index + attempt * 2) % 5) / 4 },
          output: 'I changed upload.ts, and all tests pass.',
          by: 'local/qwen2.5-coder',
          used: { tokens: 3100, usd: 0.004, ms: 9000 },
        },
      });
  });
  writer.fact(at + 40 * MINUTE, {
    type: 'practice-session',
    op: 'closed',
    run,
    end: 'done',
    counts: {
      graded: 24,
      ungraded: 0,
      infrastructure: 0,
      groups: 6,
      kept: 5,
      lost: 0,
      quarantined: 0,
      published: 0,
      proposed: 0,
      refused: 0,
    },
    spent: { calls: 31, tokens: 91_400, usd: 0.12, unpriced: 0, ms: 2_400_000 },
    helpful: 0,
    refused: 0,
    forgotten: [],
  });
}

/** The corpus as what people, models and tools wrote, and as names that clients send. */
function seedPayloads(writer: Writer, now: number): void {
  PAYLOADS.forEach((payload, index) => {
    const session = SEEDED.payload(index);
    const id = `turn-${session}`;
    const at = now - 60 * DAY - index * MINUTE;
    writer.turn({
      id,
      session,
      at,
      place: index,
      agent: `agent ${payload}`.slice(0, 60),
      messages: [
        { role: 'user', content: payload },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'c1', name: payload.slice(0, 60), input: { payload } }],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'c1', content: payload, is_error: true }],
        },
      ],
      reply: [
        { type: 'reasoning', text: payload },
        text(payload),
        { type: 'tool-call', id: 'c2', name: payload.slice(0, 60), arguments: JSON.stringify({ payload }) },
      ],
    });
    writer.fact(at + MINUTE, { type: 'reward-given', turn: id, source: 'person', score: -1, note: payload });
    writer.fact(at + MINUTE, {
      type: 'event-reported',
      kind: payload.slice(0, 60),
      agent: payload.slice(0, 60),
      score: -1,
      data: { payload },
    });
    writer.fact(at + 2 * MINUTE, {
      type: 'library-changed',
      set: `set-payload-${index}`,
      by: { kind: 'learner', name: 'distiller' },
      reason: payload,
      changes: [
        {
          op: 'add',
          id: SEEDED.lesson(`payload-${String(index).padStart(3, '0')}`),
          kind: 'skill',
          state: 'proposed',
          text: lessonText({
            name: `payload-${index}`,
            description: payload,
            content: `${payload}\n\n> ${payload}\n\n- ${payload}`,
            scope: { agent: payload.slice(0, 60) },
            note: { context: payload, keywords: [payload], tags: [payload] },
          }),
          reason: payload,
        },
      ],
      generation: 0,
    });
  });
}

/** Journals of training, as the trainer writes them. */
function seedSteps(dir: string): void {
  const random = createRandom();
  const folder = path.join(dir, 'train', 'nano');
  mkdirSync(folder, { recursive: true });
  const lines = Array.from({ length: 48 }, (_, index) =>
    JSON.stringify({
      entry: {
        type: 'step-ended',
        checkpoint: { version: 1 + Math.floor(index / 16) },
        report: {
          seen: { reward: 0.3 + 0.4 * (1 - Math.exp(-index / 16)) + random() * 0.06, version: 1 },
          end: {
            k1: 0.001 * index + random() * 0.004,
            k2: 0.001 * index,
            meanRatio: 1 + random() * 0.06 - 0.03,
            entropy: 1.6 - index * 0.012 + random() * 0.05,
            tokens: 8100,
          },
          loss: 0.12 * Math.exp(-index / 20) + random() * 0.02 - 0.05,
          gradNorm: 0.4 + random() * 0.3,
          groups: 4,
        },
      },
    }),
  );
  writeFileSync(path.join(folder, 'run-1.jsonl'), `${lines.join('\n')}\n`);
}
