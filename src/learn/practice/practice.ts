import { createRandom } from '../../base/random.ts';
import { errorMessage } from '../../core/failure.ts';
import { compact, isObject } from '../../core/json.ts';
import type { Answer, Judgement } from '../../core/learn.ts';
import type { AttemptGroup, PracticeTask } from '../../core/practice.ts';
import type { PracticeCounts, PracticeEnd } from '../../core/practice-fact.ts';
import { type CycleEnd, runCycle } from '../cycle.ts';
import { holdGroupToCore } from '../identity/hold-to-core.ts';
import { weighGroup } from '../identity/weigh-rewards.ts';
import { attemptBatch, inParallel, sessionsOfGroup, type TaskAttempts } from './attempt-batch.ts';
import { casesOf } from './attempt-cases.ts';
import { draftProposals, draftText, limitDomains, type PracticeProposal } from './draft-proposals.ts';
import { gradeGroup, summariseAttempt } from './grade-groups.ts';
import {
  hasSpread,
  meanOf,
  PRACTICE_DEFAULTS,
  type PracticeEvent,
  type PracticeInput,
  type PracticeResult,
  type PracticeSettings,
  type RunContext,
  RunStop,
  rewardsOf,
  whyAlike,
} from './practice-input.ts';
import { createPracticeUnits } from './practice-units.ts';
import { proposeOperations } from './propose-operations.ts';
import { type GroupPlan, type PlannedChange, reconcileBatch } from './reconcile-batch.ts';
import { type AttemptSummary, findAdvantage, type GroupExperience } from './semantic-advantage.ts';
import { isTrainedUnit, type TrainedUnit, trainedUnit } from './session-weights.ts';

/**
 * One run of practice, from tasks to published changes. Everything that was paid for is in the journal before the next step begins,
 * and all chance comes from the seed and the unit: a run that was killed anywhere continues to the same library and the same
 * spending. Rejects when the journal or the library cannot be written; every other trouble is a result.
 */
export async function* practice(input: PracticeInput): AsyncGenerator<PracticeEvent, PracticeResult> {
  const settings: PracticeSettings = { ...PRACTICE_DEFAULTS, ...compact(input.settings ?? {}) };
  const { run, kind, record, tasks } = input;
  const parts: RunParts = {
    input,
    settings,
    units: createPracticeUnits({
      ...input,
      learner: input.learner ?? 'learner',
      temperature: settings.judgeTemperature,
    }),
    tally: createPracticeTally(),
  };
  const { groupSize, seed } = settings;
  await record(
    { type: 'practice-begun', run, kind, tasks: tasks.length, groupSize, seed },
    `practice/${run}/begun`,
  );
  const steps = stepsOf(tasks, settings, input.recorded?.length ?? 0);
  let stop: RunStop | undefined;
  try {
    for (const [step, batch] of steps.entries()) {
      yield { type: 'batch-begun', step, steps: steps.length, tasks: batch.length };
      yield* practiceBatch(parts, step, batch);
    }
  } catch (error) {
    if (!(error instanceof RunStop)) throw error;
    stop = error;
  }
  return endRun(parts, stop);
}

interface RunParts extends RunContext {
  readonly tally: PracticeTally;
}

/** Every task once in each epoch, in another order each time; the last batch may be smaller. */
function stepsOf(
  tasks: readonly PracticeTask[],
  { epochs, batch, seed }: PracticeSettings,
  recorded: number,
): readonly (readonly PracticeTask[])[] {
  // By id: two tasks with the same words are two tasks.
  const unique = [...new Map(tasks.map((task) => [task.id, task])).values()];
  const steps: (readonly PracticeTask[])[] = [];
  for (let epoch = 0; epoch < epochs; epoch++) {
    const random = createRandom(`${seed}/order/${epoch}`);
    const order = unique
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .map((task) => ({ task, at: random.next() }))
      .sort((a, b) => a.at - b.at);
    for (let from = 0; from < order.length; from += batch)
      steps.push(order.slice(from, from + batch).map(({ task }) => task));
  }
  return steps.length === 0 && recorded > 0 ? [[]] : steps;
}

/** One batch: its tasks are attempted, and its changes are published as one set. */
async function* practiceBatch(
  parts: RunParts,
  step: number,
  tasks: readonly PracticeTask[],
): AsyncGenerator<PracticeEvent, void> {
  const { input, settings, units, tally } = parts;
  const { run, signal, library } = input;

  // 1. Each task is attempted several times, with the lessons that production would show.
  const { made, refusal } = yield* attemptBatch(parts, step, tasks);
  tally.attempted(made);
  let spent = refusal;

  // 2. Attempts that nothing could grade are compared with each other; no answer that breaks the core of an identity is a success. Rewards may have parts.
  const groups: AttemptGroup[] = step === 0 ? [...(input.recorded ?? [])] : [];
  for (const attempts of made) {
    const id = `${run}/${step}/${attempts.task.id}`;
    const graded = await gradeGroup(id, attempts, units, signal);
    const held = holdGroupToCore(graded.group, input.coreOf?.(attempts.task.agent) ?? []);
    const sessions = sessionsOfGroup(held);
    const place = { units, unit: `weighed/${step}/${attempts.task.id}`, sessions, signal };
    groups.push(input.weighing === undefined ? held : await weighGroup(held, input.weighing, place));
    spent ??= graded.spent;
  }

  // 3. Groups with better and worse attempts are kept.
  const contrasts = groups.filter((group) => hasSpread(group, settings.tolerance));
  tally.grouped(groups, contrasts);
  const alike = groups.filter((group) => !contrasts.includes(group)).map(whyAlike);
  yield { type: 'groups-kept', step, kept: contrasts.length, of: groups.length, alike };

  // 4. The weights get the groups first: what is published next makes them stale.
  if (contrasts.length > 0) yield* trainFirst(parts, step, contrasts);

  // 5. Each group becomes at most one experience, and operations on the library.
  const learned: (LearnedGroup | undefined)[] = [];
  for await (const { index, value } of inParallel(contrasts, settings.concurrency, (group) =>
    learnOnce(parts, step, group),
  )) {
    for (const event of value.events) yield event;
    if (value.lost) tally.lost();
    for (const event of value.events) if (event.type === 'operation-quarantined') tally.quarantined();
    if (value.spent !== undefined) spent ??= value.spent;
    const group = contrasts[index];
    if (value.plan !== undefined && group !== undefined) learned[index] = { ...value.plan, group };
  }
  const plans = learned.flatMap((plan) => plan ?? []);

  // 6. The operations of all groups become one plan, and the plan proposals.
  const drafted = await units.value<{ readonly proposals: readonly PracticeProposal[] }>(
    `proposals/${step}`,
    {
      is: isDrafted,
      sessions: contrasts.flatMap(sessionsOfGroup),
      keep: () => spent === undefined,
      make: async () => {
        const changes = await reconcile(parts, plans);
        const proposals = draftProposals({ run, step, changes, plans, library });
        return { proposals: limitDomains(proposals, library, settings.mostPerDomain) };
      },
    },
  );

  // 7. The gate judges each, and what passes is published as one set.
  const cycle = await publish(parts, step, contrasts, drafted?.value.proposals ?? []);
  if (cycle !== undefined) {
    tally.cycled(cycle);
    yield { type: 'batch-ended', step, cycle };
  }
  if (spent !== undefined) throw new RunStop('budget', spent);
}

async function* trainFirst(
  { input: { trainOn, signal }, units }: RunParts,
  step: number,
  contrasts: readonly AttemptGroup[],
): AsyncGenerator<PracticeEvent, void> {
  const groups = contrasts.filter(({ attempts }) => attempts.every(({ sampled }) => sampled !== undefined));
  if (trainOn === undefined || groups.length === 0) return;
  const unit = await units.value<TrainedUnit>(trainedUnit(step), {
    is: isTrainedUnit,
    make: async () => {
      const trained = await trainOn(groups).catch((error: unknown) => {
        if (signal.aborted) throw new RunStop('aborted');
        throw new RunStop('stuck', `the trainer did not take the groups: ${errorMessage(error)}`);
      });
      return compact({ groups: groups.map(({ id }) => id), trained });
    },
  });
  yield compact({
    type: 'groups-trained' as const,
    step,
    groups: groups.length,
    trained: unit?.value.trained,
  });
}

type LearnedGroup = GroupPlan & { readonly quotes: GroupExperience['quotes'] };

/** Plain data. */
interface GroupOutcome {
  readonly plan?: Omit<LearnedGroup, 'group'>;
  readonly events: readonly PracticeEvent[];
  /** A reply could not be used: it costs this group alone. */
  readonly lost?: true;
  /** Why nothing more may be spent. */
  readonly spent?: string;
}

/** What a group led to stays, also when the library has changed meanwhile: the changes of this very batch may be what changed it. */
async function learnOnce(parts: RunParts, step: number, group: AttemptGroup): Promise<GroupOutcome> {
  const learned = await parts.units.value<GroupOutcome>(`learned/${step}/${group.id}`, {
    is: isGroupOutcome,
    sessions: sessionsOfGroup(group),
    keep: ({ spent }) => spent === undefined,
    make: () => learnGroup(parts, group),
  });
  return learned?.value ?? { events: [] };
}

/** Summaries, the comparison, and what it means for the library. */
async function learnGroup({ input, settings, units }: RunParts, group: AttemptGroup): Promise<GroupOutcome> {
  const { library, signal, clock, checkText, similar } = input;
  const { task } = group;
  const ask = units.askAbout(sessionsOfGroup(group));
  if (ask === undefined) return { events: [] };
  const fail = (answer: Answer<unknown>): GroupOutcome => failedGroup(group, answer, signal);

  const summaries: AttemptSummary[] = [];
  for (const attempt of group.attempts) {
    const summary = await summariseAttempt(attempt, task, ask, signal);
    if (!summary.ok) return fail(summary);
    const reward = attempt.outcome.is === 'graded' ? attempt.outcome.reward : 0;
    summaries.push({ reward, summary: String(summary.value) });
  }

  const cases = casesOf(group, clock.now());
  const advantage = await findAdvantage({ group, summaries, cases }, ask, signal);
  if (!advantage.ok) return fail(advantage);
  const experience = advantage.value;
  if (experience === undefined) return { events: [] };
  const text = draftText(experience, group, settings.halfLifeDays, advantage);
  const why = checkText(text);
  if (why !== undefined) return { lost: true, events: [{ type: 'group-lost', group: group.id, why }] };
  const finding: PracticeEvent = { type: 'experience-found', group: group.id, insight: experience.insight };

  const proposed = await proposeOperations({ experience, text, task, library, similar, ask, signal });
  if (!proposed.ok) {
    const failure = fail(proposed);
    return { ...failure, events: [finding, ...failure.events] };
  }
  const { operations, quarantined } = proposed.value;
  return {
    plan: { text, operations, quotes: experience.quotes },
    events: [
      finding,
      ...quarantined.map(
        (reason): PracticeEvent => ({ type: 'operation-quarantined', group: group.id, why: reason }),
      ),
    ],
  };
}

/** A reply that was no use costs the group. Without budget the group waits; without a model the run does. */
function failedGroup(group: AttemptGroup, answer: Answer<unknown>, signal: AbortSignal): GroupOutcome {
  if (answer.ok) return { events: [] };
  if (signal.aborted) throw new RunStop('aborted');
  if (answer.cause === 'budget') return { events: [], spent: answer.why };
  if (answer.cause !== 'reply' && answer.isRetryable) throw new RunStop('stuck', answer.why);
  return { lost: true, events: [{ type: 'group-lost', group: group.id, why: answer.why }] };
}

/** A model that is not available now is no reason to settle by rule: the run continues when it is. */
async function reconcile(
  { input, units }: RunParts,
  plans: readonly GroupPlan[],
): Promise<readonly PlannedChange[]> {
  const sessions = [...new Set(plans.flatMap(({ group }) => sessionsOfGroup(group)))];
  const { changes, failed } = await reconcileBatch({
    plans,
    similar: input.similar,
    ask: units.askAbout(sessions),
    signal: input.signal,
  });
  if (input.signal.aborted) throw new RunStop('aborted');
  if (failed?.isRetryable === true && failed.cause !== 'budget') throw new RunStop('stuck', failed.why);
  return changes;
}

/** Judgements are journaled: a run that is continued publishes the same set under the same id, which changes nothing twice. */
async function publish(
  { input, units }: RunParts,
  step: number,
  contrasts: readonly AttemptGroup[],
  drafted: readonly PracticeProposal[],
): Promise<CycleEnd | undefined> {
  if (drafted.length === 0) return undefined;
  const { run, library, gate, clock, signal, record } = input;
  const shown = new Map(contrasts.map((group) => [group.id, casesOf(group, clock.now())]));
  const judge = async (one: PracticeProposal, place: number): Promise<Judgement> => {
    const cases = one.groups.flatMap((id) => shown.get(id) ?? []);
    const judged = await units.value<Judgement>(`judged/${step}/${place}`, {
      is: isJudgement,
      sessions: contrasts.filter(({ id }) => one.groups.includes(id)).flatMap(sessionsOfGroup),
      make: () => gate(one.proposal, cases, library),
    });
    return judged?.value ?? { outcome: 'refused', why: ['what it rests on was erased'] };
  };
  const ended = await units.value<CycleEnd>(`cycle/${step}`, {
    is: isCycleEnd,
    keep: ({ outcome }) => outcome !== 'aborted',
    make: async () => {
      const cycle = await runCycle(
        {
          id: `${run}-${step}`,
          learner: {
            name: 'practice',
            learn: async function* () {
              for (const { proposal } of drafted) yield proposal;
            },
          },
          material: undefined,
          cases: [...shown.values()].flat(),
          items: [],
        },
        {
          library,
          clock,
          signal,
          ask: undefined,
          journal: () => undefined,
          newId: (prefix) => `${prefix}_${run}`,
          gate: (proposal) => {
            const place = drafted.findIndex((one) => one.proposal === proposal);
            const one = drafted[place];
            return one === undefined ? Promise.resolve({ outcome: 'refused', why: [] }) : judge(one, place);
          },
        },
      );
      const { isRetryable: _, ...fact } = cycle;
      const mined = contrasts.flatMap(sessionsOfGroup);
      // Attempts of practice are no turns of the record: training leaves out the recorded ones alone.
      const turns = contrasts.flatMap(({ attempts }) => attempts.flatMap(({ from }) => from?.turn ?? []));
      return { ...fact, turns, sessions: [...new Set([...(fact.sessions ?? []), ...mined])] };
    },
  });
  if (ended === undefined) return undefined;
  if (ended.value.outcome === 'aborted') throw new RunStop('aborted');
  await record(ended.value, `practice/${run}/cycle/${step}`);
  return ended.value;
}

const isGroupOutcome = (value: unknown): value is GroupOutcome =>
  isObject(value) && Array.isArray(value.events);
const isDrafted = (value: unknown): value is { readonly proposals: readonly PracticeProposal[] } =>
  isObject(value) && Array.isArray(value.proposals);
const isJudgement = (value: unknown): value is Judgement =>
  isObject(value) && typeof value.outcome === 'string';
const isCycleEnd = (value: unknown): value is CycleEnd => isObject(value) && value.type === 'cycle-end';

async function endRun(
  { input: { run, record }, units, tally }: RunParts,
  stop: RunStop | undefined,
): Promise<PracticeResult> {
  const end: PracticeEnd = stop?.end ?? 'done';
  const note = stop?.message === '' ? undefined : stop?.message;
  const [counts, spent, rewards] = [tally.counts(), units.spent(), tally.rewards()];
  // A run that can be continued has not ended.
  if (end === 'done' || end === 'budget')
    await record(
      compact({ type: 'practice-ended' as const, run, end, note, counts, spent }),
      `practice/${run}/ended`,
    );
  return compact({
    run,
    end,
    note,
    retryAfterMs: stop?.retryAfterMs,
    counts,
    spent,
    rewards,
    isSelfEvaluated: rewards.compared !== undefined,
    cycles: tally.cycles(),
  });
}

/** What a run did, counted. */
interface PracticeTally {
  attempted(made: readonly TaskAttempts[]): void;
  grouped(groups: readonly AttemptGroup[], contrasts: readonly AttemptGroup[]): void;
  cycled(cycle: CycleEnd): void;
  lost(): void;
  quarantined(): void;
  counts(): PracticeCounts;
  rewards(): PracticeResult['rewards'];
  cycles(): readonly CycleEnd[];
}

const NOTHING: Required<PracticeCounts> = {
  graded: 0,
  ungraded: 0,
  infrastructure: 0,
  groups: 0,
  recorded: 0,
  kept: 0,
  lost: 0,
  quarantined: 0,
  published: 0,
  proposed: 0,
  refused: 0,
};

function createPracticeTally(): PracticeTally {
  const counts: Record<keyof PracticeCounts, number> = { ...NOTHING };
  const rewards = new Map<AttemptGroup['gradedBy'], number[]>();
  const cycles: CycleEnd[] = [];
  return {
    attempted: (made) => {
      for (const { attempts } of made) for (const { outcome } of attempts) counts[outcome.is]++;
    },
    grouped: (groups, contrasts) => {
      counts.groups += groups.length;
      counts.recorded += groups.filter(({ attempts }) =>
        attempts.some(({ from }) => from !== undefined),
      ).length;
      counts.kept += contrasts.length;
      for (const { gradedBy, attempts } of groups) {
        const all = [...(rewards.get(gradedBy) ?? []), ...rewardsOf(attempts)];
        if (all.length > 0) rewards.set(gradedBy, all);
      }
    },
    cycled: (cycle) => {
      cycles.push(cycle);
      for (const { outcome } of cycle.judgements)
        counts[outcome === 'proposed' || outcome === 'refused' ? outcome : 'published']++;
    },
    lost: () => {
      counts.lost++;
    },
    quarantined: () => {
      counts.quarantined++;
    },
    counts: () => ({ ...counts }),
    rewards: () => Object.fromEntries([...rewards].map(([by, all]) => [by, meanOf(all)])),
    cycles: () => cycles,
  };
}
