import type { Log } from '../../base/log.ts';
import type { Budget, ModelPrice, Spending } from '../../core/budget.ts';
import type { ChatModel } from '../../core/chat.ts';
import type { Clock } from '../../core/clock.ts';
import type { Ask } from '../../core/learn.ts';
import type { LessonsForTask, PracticeTask } from '../../core/practice.ts';
import type { Records } from '../../core/store.ts';
import { createRunBudget } from '../../cost/run-budget.ts';
import type { EvidenceReader } from '../../evidence/evidence-reader.ts';
import { checkLessonText } from '../../lessons/check-lesson-text.ts';
import type { LessonReplica } from '../../lessons/lesson-replica.ts';
import { comparedText } from '../../lessons/similar/near-pairs.ts';
import { createAsk } from '../ask.ts';
import type { Gate } from '../gate/gate.ts';
import { type LearningModel, servedBy } from '../learning-model.ts';
import type { FactFold } from '../learning-state.ts';
import type { createNearestLessons } from '../nearest-lessons.ts';
import { openPracticeHistory } from './practice-history.ts';
import type { SessionAttempts, SessionSettings } from './run-session.ts';
import { createPractice, type Practice } from './serve-practice.ts';
import { findGaps } from './sources/gap-tasks.ts';
import { openPracticeTasks } from './sources/practice-tasks.ts';

/** The section `practice` of the config. */
export interface PracticeConfig extends Omit<SessionSettings, 'timeoutMs'> {
  readonly taskMinutes: number;
  readonly tasks: readonly string[];
  readonly budget: {
    readonly usd: number;
    readonly tokens: number;
    readonly calls: number;
    readonly minutes: number;
  };
}

/** What practice needs from outside the learning thread. */
export interface PracticePorts {
  readonly lessonsFor: LessonsForTask;
  /** Makes attempts with a model, within a budget. */
  readonly openAttempts: (
    model: PracticeModel,
    budget: Budget,
    ask: Ask | undefined,
    signal: AbortSignal,
  ) => Promise<SessionAttempts>;
}

/** A model that attempts tasks. */
export interface PracticeModel extends LearningModel {
  readonly chat: ChatModel;
}

interface PracticeParts {
  readonly config: PracticeConfig;
  readonly ports: PracticePorts;
  readonly records: Records | PracticeRecords;
  readonly evidence: EvidenceReader;
  readonly lessons: Pick<LessonReplica, 'library' | 'effects'>;
  readonly gate: Gate;
  readonly nearest: ReturnType<typeof createNearestLessons>;
  readonly embed: (texts: readonly string[]) => Promise<readonly Float32Array[]>;
  /** The model of a role, with the way to call it; undefined when there is none. */
  readonly model: (role: 'attempt' | 'evolver') => Promise<PracticeModel | undefined>;
  readonly isOn: () => boolean;
  readonly mayPromote: boolean;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  readonly log: Log;
}

type PracticeRecords = Pick<
  Records,
  'append' | 'events' | 'facts' | 'factsOf' | 'block' | 'turn' | 'turns' | 'session' | 'sessions' | 'recalls'
>;

const NO_MODEL =
  'Practice needs a model that Instar may call by itself: a local one, or one of a provider with a key in the config. Name it as models.practice, or as models.default';
const OFF = 'Learning is turned off. Turn it on with: instar learning on';

/** Practice of one home, with the folds that follow the record. Rejects when the record cannot be read. */
export async function openPractice(
  parts: PracticeParts,
): Promise<Practice & { readonly folds: readonly FactFold[] }> {
  const { config, ports, records, evidence, lessons, gate, embed, clock, log } = parts;
  const { library, effects } = lessons;
  const tasks = await openPracticeTasks(records);
  const history = await openPracticeHistory(records);
  const { minutes, ...limits } = config.budget;
  let attempter: PracticeModel | undefined;

  /** A session's words go to no other provider than the one that served it, unless the owner named the model. */
  const mayAttempt = async ({ from }: PracticeTask): Promise<boolean> => {
    const onlyFor = attempter?.onlyFor;
    if (from === undefined || onlyFor === undefined) return true;
    const turns = await records.turns(from.session);
    return turns.length > 0 && turns.every(({ policy }) => servedBy(policy) === onlyFor);
  };
  const openAsk = async (
    budget: Budget,
  ): Promise<{ readonly ask: Ask; readonly model: string } | undefined> => {
    const writer = await parts.model('evolver');
    if (writer === undefined) return undefined;
    const { name, price, chat } = writer;
    const journal = (note: string): void => log.debug({ practice: true }, note);
    return { ask: createAsk({ model: chat, name, price, budget, clock, journal }), model: name };
  };
  const practice = createPractice({
    records,
    tasks,
    history,
    library,
    gate,
    checkText: checkLessonText,
    similar: {
      toLessons: async (text, among) =>
        (await parts.nearest(comparedText({ text }), among.length, among)).map(({ lesson, cosine }) => ({
          id: lesson.id,
          cosine,
        })),
      embed,
    },
    embed,
    lessonsFor: ports.lessonsFor,
    mayAttempt,
    openAttempts: async (budget, signal) => {
      const writer = await openAsk(budget);
      if (attempter === undefined) throw new Error(NO_MODEL);
      return ports.openAttempts(attempter, budget, writer?.ask, signal);
    },
    openAsk,
    openBudget: (spent: Spending) =>
      createRunBudget({ limits: { ...limits, ms: minutes * 60_000 }, setting: 'practice.budget', spent }),
    compare: undefined,
    traffic: effects.evidence,
    settings: () => ({ ...config, timeoutMs: config.taskMinutes * 60_000 }),
    mayPromote: parts.mayPromote,
    clock,
    newId: parts.newId,
    refresh: { records, evidence, library, effects, files: config.tasks, embed, now: clock.now },
    whyNot: async () => {
      if (!parts.isOn()) return OFF;
      attempter = await parts.model('attempt');
      return attempter === undefined ? NO_MODEL : undefined;
    },
    isFree: async () =>
      isFree((await parts.model('attempt'))?.price) && isFree((await parts.model('evolver'))?.price ?? FREE),
    contradictions: async () => {
      const gaps = await findGaps({
        lessons: () => library.lessons(),
        effects,
        known: () => [],
        requests: async () => [],
        embed,
      });
      return gaps.filter(({ kind }) => kind === 'contradiction').length;
    },
    priceOf: async (stage) => {
      const price = (await parts.model(stage === 'attempt' ? 'attempt' : 'evolver'))?.price;
      // Three tokens of input for one of output.
      return price === undefined || price.from === 'unknown'
        ? undefined
        : (3 * price.price.input + price.price.output) / 4;
    },
  });
  return { ...practice, folds: [tasks, history] };
}

const FREE: ModelPrice = { from: 'local', price: { input: 0, output: 0 }, isLocal: true };

/** Whether calls cost no money. */
const isFree = (price: ModelPrice | undefined): boolean =>
  price !== undefined && price.from !== 'unknown' && price.price.input === 0 && price.price.output === 0;
