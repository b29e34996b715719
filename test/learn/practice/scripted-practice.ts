import { createHash } from 'node:crypto';
import { createAttemptQueue } from '../../../src/agent/attempts/attempt-queue.ts';
import { NOTHING_SPENT } from '../../../src/core/budget.ts';
import type { ChatModel, ChatRequest } from '../../../src/core/chat.ts';
import { createManualClock } from '../../../src/core/clock.ts';
import type { Attempt, AttemptOrder, MakeAttempt, PracticeTask } from '../../../src/core/practice.ts';
import type { Store } from '../../../src/core/store.ts';
import { createRunBudget } from '../../../src/cost/run-budget.ts';
import { createAsk } from '../../../src/learn/ask.ts';
import { createGate } from '../../../src/learn/gate/gate.ts';
import { practice } from '../../../src/learn/practice/practice.ts';
import type {
  PracticeEvent,
  PracticeInput,
  PracticeResult,
} from '../../../src/learn/practice/practice-input.ts';
import { openPracticeJournal, spentByUnits } from '../../../src/learn/practice/practice-units.ts';
import { checkLessonText } from '../../../src/lessons/check-lesson-text.ts';
import { toRecords } from '../../../src/record/records.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { openOn } from '../../lessons/library/samples.ts';
import { FREE, text } from '../ask/samples.ts';

/** A task that a person wrote. */
export const taskOf = (name: string, over: Partial<PracticeTask> = {}): PracticeTask => ({
  id: `curated/${name}`,
  root: name,
  origin: 'curated',
  prompt: `Write the ${name} report of the shop as a table of amounts.`,
  domain: 'reports',
  check: { kind: 'exact', expected: `answer-of-${name}` },
  reference: `answer-of-${name}`,
  ...over,
});

/** Whether an attempt succeeds: by its seed alone. */
export const succeeds = ({ seed }: AttemptOrder): boolean =>
  (createHash('sha256').update(seed).digest()[0] ?? 0) % 2 === 0;

export const attemptOf = (order: AttemptOrder, over: Partial<Attempt> = {}): Attempt => {
  const isRight = succeeds(order);
  return {
    id: order.id,
    task: order.task.id,
    by: 'test/policy',
    generation: order.shown.generation,
    lessons: order.shown.lessons,
    outcome: {
      is: 'graded',
      reward: isRight ? 1 : 0,
      reasons: isRight ? ['the totals agree'] : ['the column of amounts has no currency sign'],
    },
    output: isRight
      ? `Every amount carries its currency sign, checked line by line for ${order.task.root}.`
      : `The amounts of ${order.task.root} are listed without a currency sign.`,
    steps: [],
    used: { ...NOTHING_SPENT, calls: 1, tokens: 100, usd: 0.01, ms: 5 },
    ...over,
  };
};

const scriptedAttempt: MakeAttempt = async (order) => attemptOf(order);

/** The purpose of a request, by the system prompt. */
export function stageOf({ system }: ChatRequest): Stage {
  const words = system.map(({ text: said }) => said).join('\n');
  if (words.startsWith('You compare several attempts')) return 'advantage';
  if (words.startsWith('You compare two attempts')) return 'compare';
  if (words.startsWith('You read how an assistant attempted')) return 'summarise';
  return words.includes('do not fit together') ? 'reconcile' : 'operations';
}
export type Stage = 'advantage' | 'compare' | 'summarise' | 'reconcile' | 'operations';

export const userText = ({ messages }: ChatRequest): string =>
  messages
    .flatMap(({ content }) => content.flatMap((part) => (part.type === 'text' ? [part.text] : [])))
    .join('\n');

/** What each report teaches. */
const ADVICE: Readonly<Record<string, readonly [string, string]>> = {
  daily: [
    'amounts are listed in a table',
    'Put the currency sign before every amount and check the column line by line.',
  ],
  weekly: [
    'rows of a report have dates',
    'Sort the rows by their date first, oldest on top, before anything is added up.',
  ],
  monthly: [
    'a report ends with a sum',
    'Compute the sum twice, from above and from below, and compare both results.',
  ],
  yearly: [
    'several years stand side by side',
    'Name the year in the heading of every column, never only in the title.',
  ],
};

/** A good answer to each question. */
export function goodReply(stage: Stage, request: ChatRequest): string {
  const user = userText(request);
  const root = /Write the (\S+) report/.exec(user)?.[1] ?? 'daily';
  const [
    situation = 'a report is written',
    insight = `Check the ${root} report line by line before it is handed over.`,
  ] = ADVICE[root] ?? [];
  if (stage === 'advantage')
    return JSON.stringify({
      situation,
      insight,
      keywords: ['report', root],
      triggers: [`write the ${root} table`],
      quotes: [
        { attempt: 1, text: `checked line by line for ${root}` },
        { attempt: 2, text: `${root} are listed without a currency sign` },
      ],
    });
  if (stage === 'compare') {
    const at = user.indexOf('the second attempt');
    return JSON.stringify({
      better: user.slice(0, at).includes('carries its currency sign') ? 'first' : 'second',
    });
  }
  if (stage === 'summarise') return '{"summary": "It wrote the table and checked the amounts line by line."}';
  if (stage === 'reconcile')
    return '[{"conflict": 1, "operation": "ADD", "content": "Check every line of the report twice before it is handed over."}]';
  return '[{"operation": "ADD"}]';
}

export interface ScriptedModel {
  readonly model: ChatModel;
  readonly asked: {
    readonly stage: Stage;
    readonly user: string;
    readonly temperature: number | undefined;
  }[];
}

export function scriptedModel(
  reply: (stage: Stage, request: ChatRequest) => string = goodReply,
): ScriptedModel {
  const asked: ScriptedModel['asked'] = [];
  return {
    asked,
    model: async function* (request) {
      const stage = stageOf(request);
      asked.push({ stage, user: userText(request), temperature: request.temperature });
      yield* text(reply(stage, request), { inputTokens: 50, outputTokens: 20 });
    },
  };
}

export interface Practised {
  readonly result: PracticeResult;
  readonly events: readonly PracticeEvent[];
  readonly store: Store;
  readonly library: PracticeInput['library'];
  readonly asked: ScriptedModel['asked'];
}

export type PracticeOver = Partial<Omit<PracticeInput, 'ask'>> & {
  readonly store?: Store;
  readonly model?: ScriptedModel;
  readonly limits?: Parameters<typeof createRunBudget>[0]['limits'];
};

/** A run over a real store and a real gate, with a scripted model and scripted attempts. */
export async function practise({
  store = createMemoryStore(),
  model = scriptedModel(),
  limits = {},
  ...over
}: PracticeOver = {}): Promise<Practised> {
  const clock = createManualClock(1_000);
  const { library } = await openOn(store, { clock });
  const run = over.run ?? 'run1';
  const journal = await openPracticeJournal({ run, records: toRecords(store, clock.now), clock });
  const budget = createRunBudget({
    limits,
    setting: 'practice.budget',
    spent: spentByUnits(journal.units()),
  });
  const gate = createGate({
    autonomy: 'guarded',
    checkText: checkLessonText,
    hasSecret: () => false,
    findSimilar: async () => [],
    voteDay: (at) => new Date(at).toDateString(),
  });
  const events: PracticeEvent[] = [];
  const running = practice({
    run,
    kind: 'exploratory',
    tasks: ['daily', 'weekly', 'monthly', 'yearly'].map((name) => taskOf(name)),
    agent: 'test/policy',
    attempt: createAttemptQueue({ make: scriptedAttempt, clock, provider: () => 'test', budget }).make,
    lessonsFor: async () => ({ text: '', lessons: [], generation: library.generation }),
    ask: createAsk({ model: model.model, name: 'test/tiny', price: FREE, budget, clock }),
    library,
    gate,
    journal,
    budget,
    record: journal.record,
    checkText: checkLessonText,
    clock,
    signal: new AbortController().signal,
    ...over,
  });
  for (;;) {
    const next = await running.next();
    if (next.done === true) return { result: next.value, events, store, library, asked: model.asked };
    events.push(next.value);
  }
}
