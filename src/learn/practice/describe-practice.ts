import { addSpending, NOTHING_SPENT, type Spending } from '../../core/budget.ts';
import { compact, type Json, type JsonObject } from '../../core/json.ts';
import type { Lesson } from '../../core/lesson.ts';
import { practiceSubject } from '../../core/practice-fact.ts';
import type { Records } from '../../core/store.ts';
import { describeTrial, trialOf } from '../../lessons/effect/describe-trial.ts';
import { readTrials } from '../../lessons/effect/fold-trials.ts';
import { renderLine } from '../../lessons/render-block.ts';
import { promptName, titleOfNamed } from '../../lessons/title.ts';
import { isWeighedGroup, type WeighedGroup } from '../identity/weigh-rewards.ts';
import { SESSION_SIZES, type SessionRequest } from './plan-session.ts';
import { type OriginYield, type PastSession, type PracticeYield, payOf } from './practice-history.ts';
import { spentByUnits } from './practice-units.ts';
import type { SessionReport } from './run-session.ts';
import type { SessionSettings } from './session-parts.ts';
import { describeWeights } from './session-weights.ts';

/** Sessions for a list, newest first. */
export const describeSessions = (sessions: readonly PastSession[]): JsonObject[] =>
  [...sessions].reverse().map(({ at, planned, closed }) =>
    compact({
      run: planned.run,
      kind: planned.kind,
      why: planned.why,
      at: new Date(at).toISOString(),
      tasks: planned.tasks.length,
      end: closed?.end ?? 'open',
      note: closed?.note,
      learned: closed?.counts.published,
      helpful: closed?.helpful,
      refused: closed?.refused,
      forgotten: closed?.forgotten.length,
      spent: closed === undefined ? undefined : { ...closed.spent },
      weights: closed?.weights === undefined ? undefined : describeWeights(closed.weights),
    }),
  );

/** What each kind of session has brought for what it cost. */
export const describeYields = (yields: readonly PracticeYield[]): JsonObject[] =>
  yields.map(({ kind, sessions, learned, helpful, spent }) => ({
    kind,
    sessions,
    learned,
    helpful,
    tokens: spent.tokens,
    usd: spent.usd,
    learnedPerMillionTokens: spent.tokens === 0 ? 0 : round((1e6 * learned) / spent.tokens),
  }));

/** What tasks of each origin have brought, all sessions together. */
export function describeOrigins(yields: readonly OriginYield[]): JsonObject[] {
  return [...new Set(yields.map(({ origin }) => origin))].map((origin) => {
    const own = yields.filter((one) => one.origin === origin);
    const tokens = own.reduce((sum, one) => sum + one.tokens, 0);
    const learned = own.reduce((sum, one) => sum + one.learned, 0);
    return { origin, tokens, learned: round(learned), pay: round(payOf(origin, yields)) };
  });
}

const round = (value: number): number => Math.round(value * 100) / 100;

/** What the units of a stage used, and how many there were. */
interface StageUse {
  readonly count: number;
  readonly used: Spending;
}

/** By stage: `attempt`, or the name of the question. */
function useByStage(units: ReadonlyMap<string, Json>): ReadonlyMap<string, StageUse> {
  const stages = new Map<string, StageUse>();
  for (const [unit, value] of units) {
    const stage = stageOf(unit);
    if (stage === undefined) continue;
    const before = stages.get(stage) ?? { count: 0, used: NOTHING_SPENT };
    const used = spentByUnits(new Map([[unit, value]]));
    stages.set(stage, { count: before.count + 1, used: addSpending(before.used, used) });
  }
  return stages;
}

/** Other units cost nothing. */
function stageOf(unit: string): string | undefined {
  const [kind = '', name = ''] = unit.split('/');
  if (kind === 'attempt' || kind === 'again' || kind === 'trial' || kind === 'weights') return kind;
  return kind === 'ask' ? name : undefined;
}

/** The units of a run, from its facts. */
async function readRunUnits(
  run: string,
  records: Pick<Records, 'events'>,
): Promise<ReadonlyMap<string, Json>> {
  const units = new Map<string, Json>();
  for (const { fact } of await records.events(practiceSubject(run)))
    if (fact.type === 'practice-unit') units.set(fact.unit, fact.value);
  return units;
}

/** Runs whose averages count. */
const MOST_RUNS = 3;
/** Where nothing was measured yet: tokens of one attempt in words, and of one question. */
const FIRST_GUESS: Readonly<Record<string, number>> = {
  attempt: 4000,
  summarise: 2500,
  advantage: 3500,
  operations: 2500,
  reconcile: 4000,
  trial: 4000,
  again: 4000,
};
/** The share of groups that differ, and the pairs that the test of a lesson takes at the median (lab/results/statistics.md). */
const KEPT = 0.5;
const PAIRS = 80;
/** Tests need tasks of several roots. */
const FEWEST_GATE_TASKS = 3;

interface EstimateParts {
  readonly records: Pick<Records, 'events'>;
  readonly history: { sessions(): readonly PastSession[] };
  readonly settings: () => SessionSettings;
  /** US dollars for a million tokens, input and output together; undefined when the price is unknown. */
  readonly priceOf: (stage: 'attempt' | 'question') => Promise<number | undefined>;
  readonly count: (request: SessionRequest) => SessionSupply;
}

/** What a session can work on. */
export interface SessionSupply {
  /** Tasks to learn from, and to measure lessons on. */
  readonly learn: number;
  readonly gate: number;
  /** Tasks that passed once and would be tried again. */
  readonly again: number;
  readonly lessonsOnTrial: number;
}

/**
 * Calls, tokens and money of a session by stage, before it begins: the numbers of attempts follow from its size, what one costs from
 * the averages of the last sessions. `isMeasured` says which averages those are.
 */
export async function estimateSession(request: SessionRequest, parts: EstimateParts): Promise<JsonObject> {
  const size = SESSION_SIZES[request.kind];
  const { trials, groupSize: usual } = parts.settings();
  const groupSize = request.groupSize ?? Math.max(size.groupSize, usual);
  const supply = parts.count(request);
  const tasks = Math.min(request.tasks ?? size.tasks, supply.learn);
  const done = parts.history
    .sessions()
    .filter(({ closed }) => closed !== undefined)
    .slice(-MOST_RUNS);
  const measured = new Map<string, StageUse>();
  let groups = 0;
  let kept = 0;
  for (const { planned, closed } of done) {
    groups += closed?.counts.groups ?? 0;
    kept += closed?.counts.kept ?? 0;
    for (const [stage, { count, used }] of useByStage(await readRunUnits(planned.run, parts.records))) {
      const before = measured.get(stage) ?? { count: 0, used: NOTHING_SPENT };
      measured.set(stage, { count: before.count + count, used: addSpending(before.used, used) });
    }
  }
  const share = groups === 0 ? KEPT : kept / groups;
  const spread = Math.round(tasks * size.epochs * share);
  const calls: Readonly<Record<string, number>> = {
    attempt: tasks * groupSize * size.epochs,
    summarise: spread * groupSize,
    advantage: spread,
    operations: spread,
    reconcile: tasks === 0 ? 0 : size.epochs * Math.ceil(tasks / 20),
    // At most one lesson comes from a group that differs.
    trial:
      supply.gate < FEWEST_GATE_TASKS
        ? 0
        : 2 * trials.repeats * Math.min(PAIRS, trials.pairs) * (supply.lessonsOnTrial + spread),
    again: supply.again,
  };
  const stages: JsonObject[] = [];
  let total = { calls: 0, tokens: 0, usd: 0 };
  let isPriced = true;
  for (const [stage, count] of Object.entries(calls)) {
    const known = measured.get(stage);
    const isMeasured = known !== undefined && known.count > 0;
    const tokens = Math.round(
      count * (isMeasured ? known.used.tokens / known.count : (FIRST_GUESS[stage] ?? 0)),
    );
    const price = await parts.priceOf(ATTEMPTS.has(stage) ? 'attempt' : 'question');
    const usd = isMeasured ? (count * known.used.usd) / known.count : ((price ?? 0) * tokens) / 1e6;
    if (price === undefined && !isMeasured) isPriced = false;
    stages.push({ stage, calls: count, tokens, usd: round4(usd), isMeasured });
    total = { calls: total.calls + count, tokens: total.tokens + tokens, usd: total.usd + usd };
  }
  return compact({
    kind: request.kind,
    why: request.why,
    area: { ...request.area },
    tasks,
    epochs: size.epochs,
    groupSize,
    stages,
    total: { ...total, usd: round4(total.usd) },
    isPriced,
  });
}

/** Stages of attempts; the others are questions to the learning model. */
const ATTEMPTS: ReadonlySet<string> = new Set(['attempt', 'trial', 'again']);

const round4 = (value: number): number => Math.round(value * 1e4) / 1e4;

interface ReportParts {
  readonly records: Pick<Records, 'events'>;
  readonly tasks: {
    show(
      id: string,
    ):
      | { readonly task: { readonly prompt: string; readonly domain: string; readonly origin: string } }
      | undefined;
  };
  readonly library: { lesson(id: string): Lesson | undefined };
}

/** Everything that a report of a session needs, from its facts. */
export async function reportSession(
  { at, planned, closed }: PastSession,
  parts: ReportParts,
): Promise<JsonObject> {
  const units = await readRunUnits(planned.run, parts.records);
  const trials = await readTrials(parts.records);
  const attempters = new Set<string>();
  const byTask = new Map<string, { rewards: number[]; failed: number; output: string[] }>();
  const weighed = new Map<string, WeighedGroup>();
  const cycles: JsonObject[] = [];
  const done = { graded: 0, ungraded: 0, infrastructure: 0 };
  const reasons = new Map<string, number>();
  for (const [unit, value] of units) {
    const [kind = ''] = unit.split('/');
    const { task, outcome, output, by } = objectOf(value);
    if (kind === 'cycle') cycles.push(objectOf(value));
    if (kind === 'weighed' && isWeighedGroup(value)) weighed.set(value.task, value);
    if (kind !== 'attempt' || typeof task !== 'string') continue;
    if (typeof by === 'string') attempters.add(by);
    const one = byTask.get(task) ?? { rewards: [], failed: 0, output: [] };
    const { is, reward, why } = objectOf(outcome);
    if (is === 'graded' || is === 'ungraded' || is === 'infrastructure') done[is]++;
    if (is === 'infrastructure' && typeof why === 'string') reasons.set(why, (reasons.get(why) ?? 0) + 1);
    if (is === 'graded' && typeof reward === 'number') one.rewards.push(reward);
    else one.failed++;
    if (typeof output === 'string') one.output.push(output.slice(0, 400));
    byTask.set(task, one);
  }
  const stages = [...useByStage(units)].map(([stage, { count, used }]) => ({
    stage,
    calls: count,
    tokens: used.tokens,
    usd: round4(used.usd),
  }));
  const judgements = cycles.flatMap(({ judgements: judged }) =>
    Array.isArray(judged) ? judged.map(objectOf) : [],
  );
  return compact({
    ...describeSessions([{ at, planned, ...(closed === undefined ? {} : { closed }) }])[0],
    area: { ...planned.area },
    attemptedBy: [...attempters],
    // Of a session that was interrupted, what it did until then.
    counts: { ...closed?.counts, ...(closed?.end === 'done' ? {} : done) },
    spent: { ...(closed?.spent ?? spentByUnits(units)) },
    failures: [...reasons].map(([why, count]) => ({ why, count })),
    forgottenTasks: closed?.forgotten.map(String),
    stages,
    perTask: [...byTask].map(([id, { rewards, failed, output }]) => {
      const known = parts.tasks.show(id)?.task;
      return compact({
        id,
        prompt: known?.prompt,
        domain: known?.domain,
        origin: known?.origin,
        rewards: weighed.get(id)?.rewards ?? rewards,
        parts: weighed.get(id)?.parts,
        failed,
        outputs: output,
      });
    }),
    lessons: judgements.map(({ lesson, name, outcome, why }) => {
      const now = parts.library.lesson(String(lesson));
      return compact({
        id: String(lesson),
        name: String(name),
        title: titleOfNamed(now, String(name)),
        outcome: String(outcome),
        why: Array.isArray(why) ? why.map(String) : [],
        state: now?.state,
        says: now === undefined ? undefined : renderLine(now).slice(`- ${promptName(now.text)}: `.length),
        tested: now === undefined ? undefined : describeTrial(trialOf(now, trials)),
      });
    }),
  }) as JsonObject;
}

const objectOf = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};

/** Facts of a running session that people follow. */
export interface SessionProgress {
  run?: string;
  kind?: string;
  why?: string;
  tasks: number;
  attempts: number;
  graded: number;
  kept: number;
  groups: number;
  experiences: number;
  lost: number;
  pairs: number;
  decided: number;
  /** Groups that weights were trained on, and the pairs that new weights were compared on. */
  trained: number;
  compared: number;
  last?: string;
}

export const beginProgress = (): SessionProgress => ({
  tasks: 0,
  attempts: 0,
  graded: 0,
  kept: 0,
  groups: 0,
  experiences: 0,
  lost: 0,
  pairs: 0,
  decided: 0,
  trained: 0,
  compared: 0,
});

/** Adds one event to what people see. */
export function followSession(progress: SessionProgress, event: SessionReport): void {
  switch (event.type) {
    case 'session-planned':
      Object.assign(progress, { run: event.run, kind: event.kind, why: event.why, tasks: event.tasks });
      break;
    case 'attempt-made':
      progress.attempts++;
      if (event.is === 'graded') progress.graded++;
      break;
    case 'groups-kept':
      progress.kept += event.kept;
      if (event.kept < event.of) progress.last = event.alike.join('; ');
      progress.groups += event.of;
      break;
    case 'experience-found':
      progress.experiences++;
      progress.last = event.insight;
      break;
    case 'group-lost':
      progress.lost++;
      progress.last = event.why;
      break;
    case 'pairs-measured':
      progress.pairs++;
      break;
    case 'trial-decided':
      progress.decided++;
      break;
    case 'groups-trained':
      progress.trained += event.trained?.groups ?? 0;
      break;
    case 'weights-compared':
      progress.compared = event.pairs;
      break;
    default:
  }
}
