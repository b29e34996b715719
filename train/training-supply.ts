import { policyName } from '../src/config/model-ref.ts';
import { enginePrice, hasTokenLimit } from '../src/config/price-rules.ts';
import type { Config } from '../src/config/schema.ts';
import { systemClock } from '../src/core/clock.ts';
import type { DaemonApi } from '../src/core/daemon-api.ts';
import { asNumber, asObject, compact, type JsonObject } from '../src/core/json.ts';
import type { Lesson } from '../src/core/lesson.ts';
import type { PracticeTask } from '../src/core/practice.ts';
import type { Records, TurnView } from '../src/core/store.ts';
import { createTrainingBuffer, SAMPLE_CAP } from '../src/evidence/training-buffer.ts';
import { loadLearning } from '../src/learn/learning-state.ts';
import { openPracticeTasks } from '../src/learn/practice/sources/practice-tasks.ts';
import { splitOf } from '../src/learn/practice/sources/split.ts';
import { findTaskCheck, isGradingRule } from '../src/learn/rule-checks.ts';
import { estimateLessonTokens } from '../src/lessons/recall/select-lessons.ts';
import { readStoredTurn } from '../src/record/stored-turn.ts';
import { plural } from '../src/text/phrases.ts';
import { estimateWindow, TRAIN_STAGES } from './plan-cost.ts';
import { DEFAULT_PROMOTION } from './promotion.ts';
import { openPromotionLog, type PromotionLog } from './promotion-log.ts';
import { createRecordedTasks, type RecordedTask } from './recorded-tasks.ts';
import { findUnlimitedCost, isFreeEngine } from './step-budget.ts';
import { countTasks, type RecordedCount, sayRecordedTasks } from './task-sources.ts';
import type { TrialShortage } from './trial-plan.ts';
import { windowSize } from './window-size.ts';

interface SupplyParts {
  readonly config: Pick<Config, 'train' | 'learn' | 'models' | 'practice' | 'schedule'>;
  /** Where the settings are kept. */
  readonly configFile: string;
  readonly records: Records;
  /** Those that are shown now. */
  readonly lessons: () => readonly Lesson[];
  readonly schedule: () => Promise<JsonObject>;
  /** Of the daemon that trains; absent: by the settings and the record. */
  readonly shortage?: PromotionLog['shortage'] | undefined;
  readonly now: () => number;
}

/** How long a description is good for: the progress of a window is asked for several times a second. */
const FRESH_MS = 5_000;
/** Recorded tasks beyond those that were found by then are not counted. */
const GATHER_MS = 10_000;

/**
 * The training status with what there is to train on (`supply`): tasks and turns by source, what is missing and what adds it, when
 * weights are trained next, and what that costs at most.
 */
export function withTrainingSupply(
  recorded: DaemonApi['training'],
  parts: SupplyParts,
): DaemonApi['training'] {
  let last:
    | { readonly at: number; readonly isLive: boolean; readonly supply: Promise<JsonObject> }
    | undefined;
  return async () => {
    const now = parts.now();
    const isLive = parts.config.train.live;
    // Who has just turned the switch sees it turned.
    if (last === undefined || last.isLive !== isLive || Math.abs(now - last.at) > FRESH_MS)
      last = { at: now, isLive, supply: describeSupply(parts) };
    return { ...(await recorded()), supply: await last.supply };
  };
}

async function describeSupply(parts: SupplyParts): Promise<JsonObject> {
  const { config } = parts;
  const name = policyName(config.train);
  if (name === undefined)
    return {
      ready: [],
      missing: [
        { what: 'training is off', fix: 'set train.engine to "nano", or to a server, in the config' },
      ],
    };
  const [practice, recorded, live, schedule] = await Promise.all([
    countPractice(parts, name),
    countRecorded(parts),
    countLive(parts),
    parts.schedule(),
  ]);
  const sources: Sources = { practice, recorded, live };
  const fault = findFault(parts, name);
  const { steps, groups, attempts } = windowSize(config.train.amount, config.train.engine === 'nano');
  const batchSize = groups * attempts;
  const found = fault === undefined ? findReady(sources, batchSize) : [];
  // Windows are measured on held-out questions, or by the next session of practice on its tasks.
  const shortageOn = parts.shortage ?? (await openShortage(parts, name));
  const gate = practice.byPolicy ? practice.gate : 0;
  const short = {
    practice: await shortageOn(gate),
    windows: await shortageOn(Math.max(gate, recorded.heldOut)),
  };
  const ready = found.filter((source) => short[source === 'practice' ? 'practice' : 'windows'] === undefined);
  const unmeasured = found.length > ready.length ? (short.windows ?? short.practice) : undefined;
  const { tasks: recordedTasks, ...counted } = recorded;
  return compact({
    practice: { ...practice },
    recorded: { ...counted, says: sayRecordedTasks(recorded, short.windows?.needed) },
    plan: planWindows(parts, recordedTasks, recorded.heldOut),
    live: { ...live },
    batch: { attempts: batchSize, groups, steps },
    ready: [...ready],
    missing: [
      ...(fault === undefined ? [] : [fault]),
      ...findMissing(sources, name, { config, batchSize }),
      ...(unmeasured === undefined ? [] : [sayUnmeasured(unmeasured, ready)]),
    ],
    next: ready.length === 0 ? undefined : asObject(schedule.next),
    most: describeMost(config, schedule, ready.length > 0),
  });
}

async function openShortage(
  { records, config, now }: SupplyParts,
  engine: string,
): Promise<PromotionLog['shortage']> {
  const settings = { ...DEFAULT_PROMOTION, effect: config.train.effect };
  const clock = { ...systemClock, now };
  return (await openPromotionLog({ engine, records, clock, settings })).shortage;
}

/** What there is to train on is not trained on: nothing could measure the weights. */
const sayUnmeasured = ({ needed, there, effect }: TrialShortage, others: readonly string[]): Missing => ({
  what: `to measure new weights, about ${needed} tasks needed to show an improvement of ${Math.round(100 * effect)} points, ${there} there: not trained${others.length === 0 ? '' : ` (but by ${others.join(' and ')})`}`,
  fix: 'rules with an accepted check, or learn.verifiers, for recorded work; instar practice tasks --add FILE.jsonl, with tasks that have a check; or set train.effect higher',
});

/** Groups of practice: tasks whose attempts a check of their own rewards. */
interface PracticeSupply {
  readonly tasks: number;
  readonly withCheck: number;
  /** Of those with a check: to learn from, and to measure new weights on (a task with its variations counts once). */
  readonly learn: number;
  readonly gate: number;
  /** Whether practice attempts tasks with the policy that is trained. */
  readonly byPolicy: boolean;
  /** Whether sessions begin in quiet hours without being asked for, as far as the engine's price decides. */
  readonly beginsItself: boolean;
}

/** Questions of the home's person whose answers a rule or a configured verifier can grade. */
interface RecordedSupply extends RecordedCount {
  readonly canGrade: boolean;
  readonly tasks: readonly RecordedTask[];
}

/** Rewarded turns under the lessons in force. */
interface LiveSupply {
  readonly isOn: boolean;
  readonly turns: number;
  readonly byVerifier: number;
  readonly byPerson: number;
  /** By the checks of rules. */
  readonly byCheck: number;
}

interface Sources {
  readonly practice: PracticeSupply;
  readonly recorded: RecordedSupply;
  readonly live: LiveSupply;
}

interface Missing extends JsonObject {
  readonly what: string;
  /** The command or the setting that adds it. */
  readonly fix: string;
}

type TaskParts = Pick<SupplyParts, 'records' | 'lessons' | 'config'>;

async function countPractice({ records, lessons, config }: TaskParts, name: string): Promise<PracticeSupply> {
  const tasks = (await openPracticeTasks(records))
    .list()
    .map(({ task }) => task)
    .filter(({ isRecordOnly }) => isRecordOnly !== true);
  const { verifiers } = config.learn;
  const decodeTurn = (turn: TurnView) => readStoredTurn(turn, records, new Map());
  const checked: PracticeTask[] = [];
  for (const task of tasks) {
    const check = await findTaskCheck(task, false, { lessons, verifiers, records, decodeTurn });
    if (check !== undefined && check.kind !== 'comparative') checked.push(task);
  }
  const { practice: own, default: usual } = config.models;
  const chosen: unknown = own ?? usual;
  return {
    tasks: tasks.length,
    withCheck: checked.length,
    learn: checked.filter(({ root }) => splitOf(root) === 'learn').length,
    gate: new Set(checked.map(({ root }) => root).filter((root) => splitOf(root) === 'gate')).size,
    byPolicy: (Array.isArray(chosen) ? chosen[0] : chosen) === `instar/${name}`,
    beginsItself:
      config.practice.scheduled === 'on' ||
      (config.practice.scheduled === 'free' && isFreeEngine(enginePrice(config.train))),
  };
}

/** Tasks on which a session of practice can measure new weights, counted by origin; 0 where it attempts with another model. */
export async function countGateTasks(parts: TaskParts): Promise<number> {
  const name = policyName(parts.config.train);
  const { byPolicy, gate } =
    name === undefined ? { byPolicy: false, gate: 0 } : await countPractice(parts, name);
  return byPolicy ? gate : 0;
}

async function countRecorded({ records, lessons, config, now }: SupplyParts): Promise<RecordedSupply> {
  const tasks = createRecordedTasks({
    rows: config.learn.verifiers,
    lessons,
    records,
    decodeTurn: (turn) => readStoredTurn(turn, records, new Map()),
    now,
  });
  const gathered = tasks.canGrade ? await tasks.gather(AbortSignal.timeout(GATHER_MS)) : [];
  return { canGrade: tasks.canGrade, tasks: gathered, ...countTasks(gathered) };
}

async function countLive({ records, config }: SupplyParts): Promise<LiveSupply> {
  const buffer = createTrainingBuffer({ cap: SAMPLE_CAP });
  await loadLearning(buffer, records);
  const samples = buffer.samples();
  const byCheck = buffer.outcomes().filter(({ source }) => source === 'check').length;
  let byVerifier = 0;
  let byPerson = 0;
  for (const { turn } of samples) {
    const sources = (await records.rewards({ turn })).map(({ source }) => source);
    if (sources.includes('verifier')) byVerifier++;
    else if (sources.includes('person')) byPerson++;
  }
  return { isOn: config.train.live, turns: samples.length, byVerifier, byPerson, byCheck };
}

/** Why nothing is trained, whatever there is to train on. */
function findFault({ config, configFile }: SupplyParts, name: string): Missing | undefined {
  const { engine } = config.train;
  if (typeof engine === 'object' && engine.tokenizer === undefined)
    return {
      what: `${engine.baseModel} has no chat template`,
      fix: 'set train.engine.tokenizer to the folder of its tokenizer',
    };
  const unlimited = findUnlimitedCost(name, enginePrice(config.train), hasTokenLimit(config, configFile));
  if (unlimited === undefined) return undefined;
  return {
    what: `what ${name} costs at the training server is not known, and no limit was set`,
    fix: 'set train.engine.price, in US dollars per million tokens, or schedule.budget.tokensPerDay',
  };
}

const isRecordedReady = ({ train, heldOut }: RecordedSupply): boolean => train > 0 && heldOut > 0;
const isPracticeReady = ({ learn, byPolicy }: PracticeSupply): boolean => learn > 0 && byPolicy;

const rewardedOf = ({ byVerifier, byPerson, byCheck }: LiveSupply): number => byVerifier + byPerson + byCheck;

/** The sources that the next window or session trains on. Live turns are used besides the tasks of a window, or alone when they make a batch. */
function findReady({ practice, recorded, live }: Sources, batchSize: number): readonly string[] {
  const isLive = live.isOn && rewardedOf(live) >= (isRecordedReady(recorded) ? 1 : batchSize);
  return [
    ...(isPracticeReady(practice) ? ['practice'] : []),
    ...(isRecordedReady(recorded) ? ['recorded'] : []),
    ...(isLive ? ['live'] : []),
  ];
}

/** What would make more of it, the most useful first. */
function findMissing(
  { practice, recorded, live }: Sources,
  name: string,
  { config, batchSize }: { readonly config: SupplyParts['config']; readonly batchSize: number },
): Missing[] {
  const missing: Missing[] = [];
  const { learn, gate, withCheck, byPolicy } = practice;
  if (withCheck === 0)
    missing.push({
      what: `no task of practice has a check that rewards attempts (${plural(practice.tasks, 'task')} in all)`,
      fix: 'instar practice tasks --add FILE.jsonl',
    });
  else {
    if (!byPolicy)
      missing.push({
        what: 'practice attempts its tasks with another model, which is not trained',
        fix: `set models.practice to "instar/${name}"`,
      });
    else if (!practice.beginsItself)
      missing.push({
        what: `practice does not begin by itself (practice.scheduled is "${config.practice.scheduled}")`,
        fix: 'instar practice run, or set practice.scheduled to "on"',
      });
    if (learn === 0 || gate === 0)
      missing.push({
        what: `practice has ${plural(learn, 'task')} with a check to learn from and ${gate} to measure new weights on`,
        fix: 'instar practice tasks --add FILE.jsonl, with more tasks',
      });
  }
  if (!recorded.canGrade)
    missing.push({
      what: 'nothing grades answers to recorded questions',
      fix: 'tell a rule and correct an answer that breaks it, so that the rule gets a check; or set learn.verifiers',
    });
  else if (!isRecordedReady(recorded))
    missing.push({
      what: `recorded questions: ${sayRecordedTasks(recorded)}`,
      fix: 'they grow with your work: first answers in words, of the last 30 days, count, and one in five is held out',
    });
  const rewarded = rewardedOf(live);
  if (live.isOn && rewarded < batchSize && !isRecordedReady(recorded))
    missing.push({
      what: `live traffic has ${rewarded} of the ${batchSize} rewarded turns that make a batch`,
      fix: 'instar feedback, a rule with an accepted check, or a verifier (learn.verifiers)',
    });
  if (!live.isOn && rewarded > 0)
    missing.push({
      what: `${plural(rewarded, 'rewarded turn')} of live traffic ${rewarded === 1 ? 'is' : 'are'} not used`,
      fix: 'instar config set train.live true',
    });
  return missing;
}

/** About what one window takes, by what it trains. */
function planWindows(
  { config, lessons }: SupplyParts,
  tasks: readonly RecordedTask[],
  heldOut: number,
): JsonObject {
  const { amount, engine } = config.train;
  const told = lessons().filter(isGradingRule).map(estimateLessonTokens);
  const shared = {
    amount,
    size: windowSize(amount, engine === 'nano'),
    tasks,
    heldOut,
    lessonTokens: told.reduce((sum, tokens) => sum + tokens, 0),
    price: enginePrice(config.train),
  };
  return Object.fromEntries(TRAIN_STAGES.map((stage) => [stage, estimateWindow({ ...shared, stage })]));
}

/** The most that training costs until midnight: what is left of the day's budget. */
function describeMost(config: SupplyParts['config'], schedule: JsonObject, isReady: boolean): JsonObject {
  const left = asObject(asObject(schedule.budget).left);
  const price = enginePrice(config.train);
  if (!isReady) return { tokens: 0, usd: 0, minutes: 0, isPriced: price !== undefined };
  return {
    tokens: asNumber(left.tokens) ?? 0,
    minutes: asNumber(left.minutes) ?? 0,
    usd: isFreeEngine(price) ? 0 : (asNumber(left.usd) ?? 0),
    isPriced: price !== undefined,
  };
}
