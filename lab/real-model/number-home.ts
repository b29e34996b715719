import { createAttemptFolders } from '../../src/agent/attempts/attempt-folders.ts';
import { createAttemptQueue } from '../../src/agent/attempts/attempt-queue.ts';
import { createAttempts } from '../../src/agent/attempts/attempts.ts';
import { createIds } from '../../src/base/ids.ts';
import { createRandom } from '../../src/base/random.ts';
import type { ModelPrice } from '../../src/core/budget.ts';
import type { ChatModel } from '../../src/core/chat.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { Lesson, LessonPlace } from '../../src/core/lesson.ts';
import type { Attempt, LessonsForTask, MakeAttempt } from '../../src/core/practice.ts';
import { graded } from '../../src/core/verifier.ts';
import { createRunBudget } from '../../src/cost/run-budget.ts';
import { createMiniLmEmbed } from '../../src/embed/minilm-embed.ts';
import { createStaticEmbed, firstLookFor } from '../../src/embed/static-embed.ts';
import { readAttemptSteps } from '../../src/evidence/verifiers/verify-task.ts';
import { createAsk } from '../../src/learn/ask.ts';
import { createGate, type Gate } from '../../src/learn/gate/gate.ts';
import { createNearestLessons } from '../../src/learn/nearest-lessons.ts';
import { practice } from '../../src/learn/practice/practice.ts';
import type { PracticeEvent, PracticeResult, SimilarTexts } from '../../src/learn/practice/practice-input.ts';
import { openPracticeJournal } from '../../src/learn/practice/practice-units.ts';
import { checkLessonText } from '../../src/lessons/check-lesson-text.ts';
import { createLessonsForTask } from '../../src/lessons/lessons-for-task.ts';
import { openLessons } from '../../src/lessons/open-lessons.ts';
import { createRecall } from '../../src/lessons/recall/recall.ts';
import { FIRST_LOOK } from '../../src/lessons/recall/relevance.ts';
import { limitsFor } from '../../src/lessons/recall/select-lessons.ts';
import { comparedText } from '../../src/lessons/similar/compare.ts';
import { createInProcessAttempts } from '../../src/models/in-process-client.ts';
import { toRecords } from '../../src/record/records.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';
import { openRedactor } from '../../src/redact/open-redactor.ts';
import { isRight, lastNumber, type NumberProblem, numberTask } from './number-problems.ts';

/** What the config says where nobody changed it; a test compares them. */
export const USUAL = { topK: 6, tokenBudget: 1500, autonomy: 'guarded', temperature: 0.7 } as const;

/** Compares tasks with lessons. `sentences`: MiniLM. `table`: the table that looks first, where the sentence model is not installed. */
export type RecallEngine = 'sentences' | 'table';

export interface NumberPractice {
  readonly problems: readonly NumberProblem[];
  readonly answer: ChatModel;
  readonly writer: ChatModel;
  /** Of the two models. */
  readonly names: { readonly answer: string; readonly writer: string };
  readonly place: LessonPlace;
  readonly groupSize: number;
  readonly epochs: number;
  /** Tasks whose changes are published together. */
  readonly batch: number;
  /** Calls at the same time. */
  readonly jobs: number;
  readonly seed: number;
  /** In tokens. */
  readonly longestReply: number;
  /** A control: the attempts of each group change their rewards. */
  readonly isShuffled: boolean;
  readonly onEvent: (event: PracticeEvent) => void;
  readonly onJudged: (judged: JudgedLesson) => void;
  /** A line for each call of the writer. */
  readonly onAsked: (note: string) => void;
  readonly signal: AbortSignal;
}

/** What the writer proposed, and what the gate said. */
export interface JudgedLesson {
  readonly op: string;
  readonly name?: string;
  readonly description?: string;
  readonly content?: string;
  readonly outcome: string;
  readonly why: readonly string[];
}

/** A home in memory with the product's library, recall, gate and practice. */
export interface NumberHome {
  readonly engine: string;
  lessons(): readonly Lesson[];
  /** What a prompt would be shown now. */
  shown(): readonly Lesson[];
  lessonsFor(place: LessonPlace): LessonsForTask;
  practise(options: NumberPractice): Promise<PracticeResult>;
  close(): Promise<void>;
}

const FREE: ModelPrice = { from: 'local', price: { input: 0, output: 0 }, isLocal: true };
const clock = systemClock;
const newId = createIds(clock);

export async function openNumberHome(by: RecallEngine): Promise<NumberHome> {
  const model = by === 'sentences' ? createMiniLmEmbed() : createStaticEmbed();
  const first = by === 'sentences' ? firstLookFor(model) : model;
  const redactor = openRedactor();
  const records = toRecords(createMemoryStore(), clock.now, redactor);
  const onFault = (error: unknown): void => {
    throw error;
  };
  const { library, effects } = await openLessons({ records, clock, newId, onFault, embed: model });
  const index = createRecall({
    embed: model,
    first,
    limits: limitsFor(USUAL),
    usefulness: effects.usefulness,
    ...(by === 'table' && { weights: FIRST_LOOK }),
  });
  const update = (): Promise<void> => index.update(library.shown(clock.now()));
  library.onChange(() => void update());
  const lessonsFor = (place: LessonPlace): LessonsForTask =>
    createLessonsForTask({
      library: () => library,
      recall: index.recall,
      now: clock.now,
      place: () => place,
    });
  const nearest = createNearestLessons(model, library);
  const toLessons: SimilarTexts['toLessons'] = async (text, among) =>
    (await nearest(comparedText({ text }), among.length, among)).map(({ lesson: { id }, cosine }) => ({
      id,
      cosine,
    }));
  // Thresholds of lessons' likeness are the sentence model's: without it their words are compared, as in the product.
  const meaning = by === 'sentences' ? { embed: model.embed } : {};
  const judge = createGate({
    autonomy: USUAL.autonomy,
    checkText: checkLessonText,
    hasSecret: redactor.hasSecret,
    findSimilar: by === 'sentences' ? toLessons : async () => [],
    ...meaning,
    voteDay: (at) => new Date(at).toDateString(),
  });
  return {
    engine: model.id,
    lessons: () => library.lessons(),
    shown: () => library.shown(clock.now()),
    lessonsFor,
    practise: async (options) => {
      const { names, groupSize, epochs, batch, jobs, seed, signal, onJudged } = options;
      const run = `numbers-${seed}`;
      const journal = await openPracticeJournal({ run, records, clock });
      const budget = createRunBudget({ limits: {}, setting: 'practice.budget' });
      const gate: Gate = async (proposal, cases, held) => {
        const judged = await judge(proposal, cases, held);
        const { change } = proposal;
        const text = 'text' in change ? change.text : undefined;
        onJudged({
          op: change.op,
          ...(text && { name: text.name, description: text.description, content: text.content }),
          outcome: judged.outcome,
          why: judged.why,
        });
        return judged;
      };
      const ask = createAsk({
        model: options.writer,
        name: names.writer,
        price: FREE,
        budget,
        clock,
        journal: options.onAsked,
      });
      const make = attemptsOf(options);
      const attempt = options.isShuffled ? withShuffledVerdicts(make, groupSize, seed) : make;
      const running = practice({
        run,
        kind: 'exploratory',
        tasks: options.problems.map(numberTask),
        // A queue repeats what failed through nobody's fault.
        settings: { groupSize, epochs, batch, concurrency: jobs, seed: String(seed), refills: 0 },
        agent: names.answer,
        learner: names.writer,
        attempt,
        lessonsFor: lessonsFor(options.place),
        ask,
        library,
        gate,
        journal,
        budget,
        record: journal.record,
        checkText: checkLessonText,
        ...(by === 'sentences' && { similar: { toLessons, embed: model.embed } }),
        clock,
        signal,
      });
      for (;;) {
        const next = await running.next();
        if (next.done === true) {
          await update();
          return next.value;
        }
        options.onEvent(next.value);
      }
    },
    close: async () => {
      await model.close();
      await first.close();
    },
  };
}

/** The product's attempts in words, graded by the last number. */
function attemptsOf({ answer, names, longestReply, jobs }: NumberPractice): MakeAttempt {
  const open = createInProcessAttempts({
    chat: answer,
    name: names.answer,
    model: names.answer,
    maxTokens: longestReply,
    costOf: () => ({ usd: 0, unpriced: 0 }),
  });
  const make = createAttempts({
    agents: new Map([['model', { kind: 'model', open }]]),
    folders: createAttemptFolders(),
    verify: async ({ reference }, { output }) => {
      const reward = isRight(output, Number(reference)) ? 1 : 0;
      return graded(reward, tellVerdict(output, reward));
    },
    readSteps: readAttemptSteps,
    clock,
  });
  return createAttemptQueue({
    make,
    clock,
    provider: () => 'engine',
    limits: { start: jobs, most: jobs },
  }).make;
}

const tellVerdict = (output: string, reward: number): string => {
  const found = lastNumber(output);
  if (found === undefined) return 'there is no number in the answer';
  return `it ends with ${found}, which is ${reward === 1 ? 'right' : 'wrong'}`;
};

/** Each group keeps its rewards, but not which attempt has which: what better attempts did is then chance. */
export function withShuffledVerdicts(make: MakeAttempt, groupSize: number, seed: number): MakeAttempt {
  interface Group {
    readonly made: Map<number, Attempt>;
    readonly waiting: (() => void)[];
  }
  const groups = new Map<string, Group>();
  return async (order, signal) => {
    const [, id = '', place = ''] = /^(.*)\/(\d+)$/.exec(order.id) ?? [];
    const group: Group = groups.get(id) ?? { made: new Map(), waiting: [] };
    groups.set(id, group);
    const attempt = await make(order, signal);
    group.made.set(Number(place), attempt);
    if (group.made.size < groupSize && !signal.aborted)
      await new Promise<void>((resolve) => {
        group.waiting.push(resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    for (const go of group.waiting.splice(0)) go();
    const gradedPlaces = [...group.made]
      .filter(([, { outcome }]) => outcome.is === 'graded')
      .map(([at]) => at)
      .sort((a, b) => a - b);
    const random = createRandom(`shuffled/${seed}/${id}`);
    const others = gradedPlaces
      .map((at) => ({ at, draw: random.next() }))
      .sort((a, b) => a.draw - b.draw)
      .map(({ at }) => at);
    const from = others[gradedPlaces.indexOf(Number(place))];
    const given = from === undefined ? undefined : group.made.get(from)?.outcome;
    if (given?.is !== 'graded') return attempt;
    const { reward } = given;
    return { ...attempt, outcome: { is: 'graded', reward, reasons: [tellVerdict(attempt.output, reward)] } };
  };
}
