import { createIds } from '../../../src/base/ids.ts';
import type { Log } from '../../../src/base/log.ts';
import type { Clock } from '../../../src/core/clock.ts';
import { compact } from '../../../src/core/json.ts';
import type { EmbeddingModel } from '../../../src/core/recall.ts';
import type { Recollection } from '../../../src/core/recollection.ts';
import type { DecodedTurn, Records, TurnView } from '../../../src/core/store.ts';
import { firstLookFor } from '../../../src/embed/static-embed.ts';
import type { LearningSettings } from '../../../src/learn/learning-ports.ts';
import { IDLE_MS } from '../../../src/learn/learning-waits.ts';
import { startLearningWorker } from '../../../src/learn/learning-worker.ts';
import { NOTES } from '../../../src/learn/memory/write/note-text.ts';
import { createRecollect } from '../../../src/learn/recollect/recollect.ts';
import { type OpenLessons, openLessons } from '../../../src/lessons/open-lessons.ts';
import { createRecall } from '../../../src/lessons/recall/recall.ts';
import type { RecallLimits } from '../../../src/lessons/recall/select-lessons.ts';
import { renderBlock, renderPast } from '../../../src/lessons/render-block.ts';
import { createReadLearnedIn } from '../../../src/lessons/scope.ts';
import {
  chooseQuotes,
  isInLessons,
  readPastQuestion,
  withoutWhatEnded,
} from '../../../src/lessons/shown/show-past.ts';
import { toRecords } from '../../../src/record/records.ts';
import type { BlockCache } from '../../../src/record/request-manifest.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { readStoredTurn } from '../../../src/record/stored-turn.ts';
import { createTurnEncoder } from '../../../src/record/turn-encoder.ts';
import { openRedactor } from '../../../src/redact/open-redactor.ts';

/** As configured by default. */
export const MEMORY_LIMITS = {
  topK: 6,
  tokenBudget: 1500,
  index: { lines: 24, tokens: 600 },
} satisfies RecallLimits;

/** Where a conversation belongs. */
export interface PlayedPlace {
  readonly agent: string;
  /** Absent: a conversation with an assistant about anything. */
  readonly project?: string;
}

/** One request of a conversation, and the reply. */
export interface TypedTurn {
  readonly request: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[];
  readonly reply: string;
}

interface PlayedSession extends PlayedPlace {
  readonly session: string;
  readonly at: number;
  readonly turns: readonly TypedTurn[];
}

interface PlayedQuestion extends PlayedPlace {
  readonly session: string;
  readonly text: string;
  readonly at: number;
}

/** What a fresh session's prompt gains. */
export interface PlayedAnswer {
  /** All of it, as the prompt has it. */
  readonly block: string;
  /** The bodies of lessons. */
  readonly bodies: string;
  /** The lines of further lessons. */
  readonly lines: string;
  readonly quotes: readonly Recollection[];
  /** Whether the message was searched for at all. */
  readonly isAsked: boolean;
  /** What compared the question with the lessons; `none` without lessons. */
  readonly engine: string;
  /** The search of what was said, in milliseconds. */
  readonly searchMs: number;
}

/** A home without a model, on a store in memory: conversations are recorded, learned from and asked about as in the product. */
export interface PlayedHome {
  /** Records a session turn by turn, and ends it after half an hour. */
  play(session: PlayedSession): Promise<void>;
  /** Decides what was learned and is due by then. */
  settle(at: number): Promise<void>;
  ask(question: PlayedQuestion): Promise<PlayedAnswer>;
  readonly lessons: OpenLessons;
  /** Lessons that are notes of what was stated; the others were learned from words after an answer. */
  noteCount(): number;
  close(): Promise<void>;
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

/** The clock is the history's; the turns are encoded, redacted and decoded as the gateway's are. */
export async function openPlayedHome(embed: EmbeddingModel, since: number): Promise<PlayedHome> {
  let now = since;
  const clock: Clock = { now: () => now, monotonic: () => performance.now() };
  const store = createMemoryStore();
  const redactor = openRedactor();
  const records = toRecords(store, clock.now, redactor);
  const newId = createIds(clock);
  const onFault = (error: unknown): void => {
    throw error;
  };
  const lessons = await openLessons({ records, clock, newId, onFault, embed });
  const decoder = (): ((view: TurnView) => Promise<DecodedTurn | undefined>) => {
    const known: BlockCache = new Map();
    return (view) => readStoredTurn(view, records, known);
  };
  const worker = await startLearningWorker(SETTINGS, {
    records,
    decoder,
    publish: lessons.library.publish,
    model: async () => undefined,
    chat: () => Promise.reject(new Error('no model is configured')),
    embed: embed.embed,
    sentenceModel: embed,
    hasSecret: redactor.hasSecret,
    buffer: { add: () => undefined },
    onStatus: () => undefined,
    clock,
    newId,
    log: QUIET,
  });
  const encoder = createTurnEncoder({ ...redactor, setKeys: () => undefined });
  const settle = async (at: number): Promise<void> => {
    now = at;
    worker.wake();
    await worker.settle();
  };
  return {
    lessons,
    settle,
    play: async ({ session, at, turns, ...place }) => {
      now = at;
      for (const turn of turns) {
        const asked = { turn: newId('t'), session, at: now };
        store.append(encoder.batch(jobsOf(asked, place, turn, lessons)));
        now += TURN_MS;
      }
      worker.wake(1);
      await worker.settle();
      // The session is idle for half an hour, and ends as the daemon ends it.
      now += IDLE_MS;
      store.append({ facts: [{ at: now, fact: { type: 'session-end', session, reason: 'idle' } }] });
      await settle(now);
    },
    ask: createAsk({ lessons, records, clock, embed, decode: decoder(), hasSecret: redactor.hasSecret }),
    noteCount: () => lessons.library.lessons().filter(({ text }) => text.evidence.learner === NOTES).length,
    close: () => worker.close(),
  };
}

interface AskParts {
  readonly lessons: OpenLessons;
  readonly records: Records;
  readonly clock: Clock;
  readonly embed: EmbeddingModel;
  readonly decode: (view: TurnView) => Promise<DecodedTurn | undefined>;
  readonly hasSecret: (text: string) => boolean;
}

function createAsk({ lessons, records, clock, embed, decode, hasSecret }: AskParts): PlayedHome['ask'] {
  const recollect = withoutWhatEnded(
    // What is measured does not depend on how busy the machine is.
    createRecollect({ records, decode, hasSecret, clock, model: embed, vectorMs: 60_000 }),
    lessons.library,
  );
  const recall = createRecall({
    embed,
    first: firstLookFor(embed),
    limits: MEMORY_LIMITS,
    usefulness: (lesson) => lessons.effects.usefulness(lesson),
    learnedIn: createReadLearnedIn(records),
  });
  return async ({ session, text, at, agent, project }) => {
    await recall.update(lessons.library.shown(at));
    const query = compact({ text, session, agent, project, projectLabel: project });
    const recalled = await recall.recall({ ...query, isUnhurried: true }, at);
    const question = readPastQuestion({
      newestIsUser: true,
      links: ['asked'],
      task: text,
      taskLink: 'asked',
    });
    const before = performance.now();
    const found =
      question === undefined
        ? []
        : await recollect(compact({ text: question.text, session, agent, project }));
    const searchMs = performance.now() - before;
    const whole = renderBlock(recalled.lessons, recalled.index);
    const quotes = chooseQuotes(found, isInLessons(whole));
    const bodies = renderBlock(recalled.lessons, []);
    return {
      block: [whole, ...(quotes.length === 0 ? [] : [renderPast(quotes, 'system')])].join('\n\n'),
      bodies,
      lines: renderBlock([], recalled.index),
      quotes,
      isAsked: question !== undefined,
      engine: recalled.engine,
      searchMs,
    };
  };
}

function jobsOf(
  { turn, session, at }: { readonly turn: string; readonly session: string; readonly at: number },
  { agent, project }: PlayedPlace,
  { request, reply }: TypedTurn,
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
    ...(project === undefined ? {} : { project: { id: project, label: project } }),
    wire: 'openai-chat',
    model: 'model',
    generation: library.generation,
    policy: POLICY,
    lessons: [],
    caller: 'owner',
  } as const;
  const outcome = { status: 'complete', httpStatus: 200, policy: POLICY, totalMs: 900 } as const;
  return [
    { type: 'start', at, intent, body: bytes({ model: 'model', messages: request }) },
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
