import { createIds } from '../../../src/base/ids.ts';
import type { Log } from '../../../src/base/log.ts';
import type { Clock } from '../../../src/core/clock.ts';
import type { EmbeddingModel } from '../../../src/core/recall.ts';
import { createNgramEmbed } from '../../../src/embed/ngram-embed.ts';
import type { LearningSettings } from '../../../src/learn/learning-ports.ts';
import { IDLE_MS } from '../../../src/learn/learning-waits.ts';
import { startLearningWorker } from '../../../src/learn/learning-worker.ts';
import { NOTES } from '../../../src/learn/memory/write/note-text.ts';
import { type OpenLessons, openLessons } from '../../../src/lessons/open-lessons.ts';
import { createRecall } from '../../../src/lessons/recall/recall.ts';
import type { RecallLimits } from '../../../src/lessons/recall/select-lessons.ts';
import { renderBlock } from '../../../src/lessons/render-block.ts';
import { createReadLearnedIn } from '../../../src/lessons/visibility.ts';
import { toRecords } from '../../../src/record/records.ts';
import type { BlockCache } from '../../../src/record/request-manifest.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { readStoredTurn } from '../../../src/record/stored-turn.ts';
import { createTurnEncoder } from '../../../src/record/turn-encoder.ts';
import { openRedactor } from '../../../src/redact/open-redactor.ts';
import type { HistoryMessage, MemoryEntry } from './memory-set.ts';

/** As configured by default. */
export const MEMORY_LIMITS = {
  topK: 6,
  tokenBudget: 1500,
  index: { lines: 24, tokens: 600 },
} satisfies RecallLimits;

/** `first`: each message opens its session. `later`: it follows a small task and its answer. */
export type SaidWhen = 'first' | 'later';

/** What the fresh session's prompt gains, and what the library held. */
export interface PlayedEntry {
  readonly block: string;
  /** A line for each lesson: its state and its description. */
  readonly lessons: readonly string[];
  /** How many of them are notes of what was stated; the others were learned from words after an answer. */
  readonly notes: number;
  /** What compared the question with the lessons; `none` without lessons. */
  readonly engine: string;
}

const SETTINGS: LearningSettings = {
  autonomy: 'guarded',
  failures: 3,
  maxNewSkills: 3,
  budget: { usdPerDay: 1, tokensPerDay: 500_000 },
  prices: {},
  since: 0,
  verifiers: [],
};
const TURN_MS = 20_000;
const POLICY = 'bench/model';
const QUIET: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/**
 * Plays a history through recording, learning without a model, and recall, on a store in memory; the clock is the history's. The
 * turns are encoded, redacted and decoded as the gateway's are.
 */
export async function playMemory(
  entry: MemoryEntry,
  embed: EmbeddingModel,
  said: SaidWhen,
): Promise<PlayedEntry> {
  let now = entry.history[0]?.at ?? 0;
  const clock: Clock = { now: () => now, monotonic: () => performance.now() };
  const store = createMemoryStore();
  const redactor = openRedactor();
  const records = toRecords(store, clock.now, redactor);
  const newId = createIds(clock);
  const onFault = (error: unknown): void => {
    throw error;
  };
  const lessons = await openLessons({ records, clock, newId, onFault, embed });
  const worker = await startLearningWorker(SETTINGS, {
    records,
    decoder: () => {
      const known: BlockCache = new Map();
      return (view) => readStoredTurn(view, records, known);
    },
    publish: lessons.library.publish,
    model: async () => undefined,
    chat: () => Promise.reject(new Error('no model is configured')),
    embed: embed.embed,
    hasSecret: redactor.hasSecret,
    buffer: { add: () => undefined },
    onStatus: () => undefined,
    clock,
    newId,
    log: QUIET,
  });
  const encoder = createTurnEncoder({ ...redactor, setKeys: () => undefined });
  try {
    for (const [nth, message] of entry.history.entries()) {
      now = message.at;
      const session = `${entry.id} ${nth}`;
      for (const { request, reply } of turnsOf(message, nth, said)) {
        const turn = { turn: newId('t'), session, at: now };
        store.append(
          encoder.batch(jobsOf(turn, message, { model: 'model', messages: request }, reply, lessons)),
        );
        now += TURN_MS;
      }
      worker.wake(1);
      await worker.settle();
      // The session is idle for half an hour, and ends as the daemon ends it.
      now += IDLE_MS;
      store.append({ facts: [{ at: now, fact: { type: 'session-end', session, reason: 'idle' } }] });
      worker.wake();
      await worker.settle();
    }
    now = entry.askedAt;
    worker.wake();
    await worker.settle();
    const notes = lessons.library.lessons().filter(({ text }) => text.evidence.learner === NOTES).length;
    const { block, engine } = await blockOf(entry, lessons, records, embed);
    return { block, engine, lessons: describeLessons(lessons), notes };
  } finally {
    await worker.close();
  }
}

async function blockOf(
  { question, agent, project, askedAt, id }: MemoryEntry,
  { library, effects }: OpenLessons,
  records: ReturnType<typeof toRecords>,
  embed: EmbeddingModel,
): Promise<Pick<PlayedEntry, 'block' | 'engine'>> {
  const recall = createRecall({
    embed,
    fallback: createNgramEmbed(),
    limits: MEMORY_LIMITS,
    usefulness: (lesson) => effects.usefulness(lesson),
    learnedIn: createReadLearnedIn(records),
  });
  await recall.update(library.shown(askedAt));
  const query = { text: question, session: `${id} fresh`, agent, project, projectLabel: project };
  const found = await recall.recall({ ...query, isUnhurried: true }, askedAt);
  return { block: renderBlock(found.lessons, found.index), engine: found.engine };
}

const describeLessons = ({ library }: OpenLessons): readonly string[] =>
  library.lessons().map(({ state, reason, text }) => {
    const because = reason === undefined ? '' : `: ${reason}`;
    return `(${state}${because}) ${text.name}: ${text.description}`;
  });

interface PlayedTurn {
  readonly request: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[];
  readonly reply: string;
}

/** Small tasks that teach nothing, with an answer each. */
const OPENINGS = [
  ['Give me a short summary of the open points.', 'Three points are open; the first one is the longest.'],
  ['What is next on the list?', 'Next is the small cleanup from yesterday.'],
  ['Draft the status line for today.', 'Done: "On track, two items left."'],
  ['Look over the text from this morning.', 'I read it and changed one sentence.'],
] as const;
const ACKNOWLEDGED = 'Okay.';

function turnsOf({ text }: HistoryMessage, nth: number, said: SaidWhen): readonly PlayedTurn[] {
  const words = { role: 'user', content: text } as const;
  if (said === 'first') return [{ request: [words], reply: ACKNOWLEDGED }];
  const [task = '', answer = ''] = OPENINGS[nth % OPENINGS.length] ?? [];
  const opening = { role: 'user', content: task } as const;
  return [
    { request: [opening], reply: answer },
    { request: [opening, { role: 'assistant', content: answer }, words], reply: ACKNOWLEDGED },
  ];
}

function jobsOf(
  { turn, session, at }: { readonly turn: string; readonly session: string; readonly at: number },
  { agent, project }: HistoryMessage,
  body: object,
  reply: string,
  { library }: OpenLessons,
): Parameters<ReturnType<typeof createTurnEncoder>['batch']>[0] {
  const bytes = (value: object): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
  const answered = bytes({
    id: `reply of ${turn}`,
    model: 'model',
    choices: [{ index: 0, message: { role: 'assistant', content: reply }, finish_reason: 'stop' }],
  });
  const intent = {
    turn,
    session,
    agent,
    role: 'main',
    project: { id: project, label: project },
    wire: 'openai-chat',
    model: 'model',
    generation: library.generation,
    policy: POLICY,
    lessons: [],
    caller: 'owner',
  } as const;
  const outcome = { status: 'complete', httpStatus: 200, policy: POLICY, totalMs: 900 } as const;
  return [
    { type: 'start', at, intent, body: bytes(body) },
    {
      type: 'end',
      at: at + 1_000,
      turn,
      session,
      wire: 'openai-chat',
      asked: POLICY,
      outcome,
      firstByteMs: 100,
      contentType: 'application/json',
      contentEncoding: undefined,
      replyBytes: answered.length,
      reply: answered,
    },
  ];
}
