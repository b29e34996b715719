import type { Home } from '../config/home.ts';
import type { Config } from '../config/schema.ts';
import type { ModelPrice, SpendingLimits } from '../core/budget.ts';
import type { ChatModel } from '../core/chat.ts';
import { systemClock } from '../core/clock.ts';
import { errorMessage } from '../core/failure.ts';
import { asArray, asString, compact } from '../core/json.ts';
import type { Ask } from '../core/learn.ts';
import type { AttemptOrder, LessonsForTask, PracticeTask } from '../core/practice.ts';
import { practiceSubject } from '../core/practice-fact.ts';
import { graded, notRun, type Verification } from '../core/verifier.ts';
import { createRunBudget } from '../cost/run-budget.ts';
import { createVerifiers } from '../evidence/verifiers/registry.ts';
import { createAsk } from '../learn/ask.ts';
import { collectReply } from '../learn/collect-reply.ts';
import { createGate } from '../learn/gate/gate.ts';
import { modelCallCost, mostOfCall, spendingOf } from '../learn/model-cost.ts';
import { createNearestLessons } from '../learn/nearest-lessons.ts';
import { createFunctionAttempts, type PolicyRequest } from '../learn/practice/function-attempts.ts';
import { LOCAL_PRICE, PRACTICE_LIMITS } from '../learn/practice/open-practice.ts';
import { practice } from '../learn/practice/practice.ts';
import type { PracticeResult } from '../learn/practice/practice-input.ts';
import { contentKey, openPracticeJournal, spentByUnits } from '../learn/practice/practice-units.ts';
import { checkLessonText } from '../lessons/check-lesson-text.ts';
import type { OpenLessons } from '../lessons/open-lessons.ts';
import { comparedText } from '../lessons/similar/compare.ts';
import { InstarError } from './instar.ts';
import type { LibraryTask, PracticeOptions } from './practice-options.ts';
import type { HeldStore } from './store-lease.ts';

/** The models of the config, opened for one run. */
export type OpenModels = (home: Home, config: Config, env: NodeJS.ProcessEnv) => Promise<ConfiguredModels>;
interface ConfiguredModels {
  model(name: string): { readonly chat: ChatModel; readonly price: ModelPrice } | undefined;
  /** The name of the model for learning. */
  readonly learner: string | undefined;
  close(): Promise<void>;
}

const LONGEST_ANSWER = 4096;

/**
 * Practises in this process: the same pipeline as in the daemon. A call that was interrupted continues when it is made again with
 * the same tasks and settings. Rejects with `InstarError`.
 */
export async function practiseHere(
  { records, config, redactor, embed, lessons }: HeldStore,
  options: PracticeOptions & { readonly agent: string },
  models: ConfiguredModels,
): Promise<PracticeResult> {
  const clock = systemClock;
  const tasks = readTasks(options);
  const policyName = typeof options.policy === 'string' ? options.policy : options.policy.name || 'policy';
  const settings = compact({
    groupSize: options.groupSize ?? config.practice.groupSize,
    temperature: config.practice.temperature,
    epochs: options.epochs,
    seed: options.seed,
  });
  const base = `library-${contentKey(tasks, policyName, settings).slice(0, 16)}`;
  const run = await nextRun(base, records);
  const journal = await openPracticeJournal({ run, records, clock });
  const budget = createRunBudget({
    limits:
      options.budget === undefined
        ? { ...config.practice.budget, ...PRACTICE_LIMITS.session }
        : limitsFrom(options.budget),
    setting: 'practice.budget',
    spent: spentByUnits(journal.units()),
  });
  const opened = await lessons();
  const { library } = opened;
  const nearest = createNearestLessons({ embed }, library);
  const similarTo = async (
    text: Parameters<typeof comparedText>[0]['text'],
    among: Parameters<typeof nearest>[2],
  ) =>
    (await nearest(comparedText({ text }), 8, among)).map(({ lesson: { id }, cosine }) => ({ id, cosine }));
  const ask = askOf(options, models, budget);
  const running = practice({
    run,
    kind: 'exploratory',
    tasks,
    settings,
    agent: policyName,
    ...(ask === undefined ? {} : { learner: ask.name }),
    attempt: createFunctionAttempts({
      ...policyOf(options, models),
      name: policyName,
      verify: await verifierOf(options, ask?.ask),
      budget,
      clock,
    }),
    lessonsFor: lessonsByRecall(opened, options.agent),
    ask: ask?.ask,
    library,
    gate: createGate({
      autonomy: config.library.autonomy,
      checkText: checkLessonText,
      hasSecret: redactor.hasSecret,
      findSimilar: similarTo,
      embed,
      voteDay: (at) => new Date(at).toDateString(),
    }),
    journal,
    budget,
    record: journal.record,
    checkText: checkLessonText,
    similar: { toLessons: similarTo, embed },
    clock,
    signal: options.signal ?? new AbortController().signal,
  });
  for (;;) {
    const next = await running.next();
    if (next.done === true) return next.value;
    options.onEvent?.(next.value);
  }
}

/** The lessons that a conversation with the task would get. */
const lessonsByRecall =
  ({ api, library }: Pick<OpenLessons, 'api' | 'library'>, ownAgent: string): LessonsForTask =>
  async ({ task, agent, project, domain }) => {
    const { text, lessons: shown } = await api.recall(
      compact({ task, agent: agent ?? ownAgent, project, domain }),
    );
    const ids = asArray(shown).flatMap((one) =>
      typeof one === 'object' && one !== null && 'id' in one ? [String(one.id)] : [],
    );
    return { text: asString(text) ?? '', lessons: ids, generation: library.generation };
  };

/** The first run of these tasks that has not ended: an interrupted one is continued, a finished one is followed by another. */
async function nextRun(base: string, records: HeldStore['records']): Promise<string> {
  for (let number = 1; ; number++) {
    const facts = await records.events(practiceSubject(`${base}-${number}`));
    if (!facts.some(({ fact }) => fact.type === 'practice-ended')) return `${base}-${number}`;
  }
}

function readTasks({
  tasks,
  verify,
  agent,
  project,
  domain = 'general',
}: PracticeOptions): readonly PracticeTask[] {
  if (!Array.isArray(tasks) || tasks.length === 0)
    throw new InstarError('invalid', 'tasks must be a list with at least one task.');
  return tasks.map((given: string | LibraryTask): PracticeTask => {
    const task = typeof given === 'string' ? { prompt: given } : given;
    if (typeof task.prompt !== 'string' || task.prompt.trim() === '')
      throw new InstarError('invalid', 'every task needs a prompt that is not empty.');
    const id = task.id ?? contentKey(task.prompt, task.system ?? null, task.answer ?? null).slice(0, 16);
    return compact({
      id: `library/${id}`,
      root: id,
      origin: 'curated' as const,
      prompt: task.prompt,
      system: task.system,
      domain: task.domain ?? domain,
      agent,
      project,
      reference: task.answer,
      check: typeof verify === 'function' ? undefined : verify,
    });
  });
}

const limitsFrom = ({
  usd,
  tokens,
  calls,
  minutes,
}: NonNullable<PracticeOptions['budget']>): SpendingLimits =>
  compact({ usd, tokens, calls, ms: minutes === undefined ? undefined : minutes * 60_000 });

async function verifierOf(
  { verify, tasks }: PracticeOptions,
  ask: Ask | undefined,
): Promise<
  ((order: AttemptOrder, output: string, signal: AbortSignal) => Promise<Verification>) | undefined
> {
  if (verify === undefined || (typeof verify !== 'function' && verify.kind === 'comparative'))
    return undefined;
  if (typeof verify !== 'function') {
    const verifiers = await createVerifiers(
      [{ ...verify, domain: '*' }],
      ask === undefined ? {} : { ask },
    ).catch((error: unknown) => {
      throw new InstarError('invalid', errorMessage(error), { cause: error });
    });
    return ({ task: { prompt, domain, reference } }, output, signal) =>
      verifiers.verify(compact({ task: prompt, domain, reference, output }), signal);
  }
  const given = new Map(
    tasks.map((one) => (typeof one === 'string' ? [one, { prompt: one }] : [one.prompt, one])),
  );
  return async ({ task }, output) => {
    try {
      const grade = await verify(output, given.get(task.prompt) ?? { prompt: task.prompt });
      if (typeof grade === 'boolean') return graded(grade ? 1 : 0);
      if (typeof grade === 'number') return graded(grade);
      return { status: 'ok', reasons: [], ...grade };
    } catch (error) {
      return notRun(`verify threw: ${errorMessage(error)}`);
    }
  };
}

/** The function, or a model as one. */
function policyOf({ policy }: PracticeOptions, models: ConfiguredModels) {
  if (typeof policy !== 'string') return { policy, most: () => ({ calls: 1 }) };
  const model = models.model(policy);
  if (model === undefined)
    throw new InstarError('not-found', `No model named "${policy}".`, {
      fix: 'list the models with: instar models',
    });
  const { chat, price } = model;
  const requestOf = ({ prompt, system, temperature }: PolicyRequest) => ({
    model: policy,
    system: system === '' ? [] : [{ type: 'text' as const, text: system }],
    messages: [{ role: 'user' as const, content: [{ type: 'text' as const, text: prompt }] }],
    tools: [],
    maxTokens: LONGEST_ANSWER,
    temperature,
    stream: true,
  });
  return {
    most: (request: PolicyRequest) => mostOfCall(requestOf(request), price),
    policy: async (request: PolicyRequest) => {
      const reply = await collectReply(chat, requestOf(request), request.signal, 2 ** 31 - 1);
      if (reply.failure !== undefined) throw new Error(`${reply.failure.kind}: ${reply.failure.message}`);
      return { output: reply.text, ...spendingOf(modelCallCost(requestOf(request), reply, price)) };
    },
  };
}

function askOf(
  { learner }: PracticeOptions,
  models: ConfiguredModels,
  budget: ReturnType<typeof createRunBudget>,
): { readonly ask: Ask; readonly name: string } | undefined {
  const name = typeof learner === 'function' ? 'learner' : (learner ?? models.learner);
  const model =
    typeof learner === 'function'
      ? { chat: learner, price: LOCAL_PRICE }
      : name === undefined
        ? undefined
        : models.model(name);
  if (model === undefined || name === undefined) return undefined;
  return {
    name,
    ask: createAsk({ model: model.chat, name, price: model.price, budget, clock: systemClock }),
  };
}
