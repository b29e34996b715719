import type { Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { PracticeTask } from '../../core/practice.ts';
import type { TrialFact, TrialOutcome } from '../../core/trial.ts';
import { trialFigures, trialInterval } from '../../lessons/effect/describe-trial.ts';
import { readTrials, type TrialRecord } from '../../lessons/effect/fold-trials.ts';
import { isIdentityProposal, replacedPart, subjectOfProposal } from '../../lessons/identity-approval.ts';
import { sessionsOf } from '../practice/attempt-batch.ts';
import { runnableTasks } from '../practice/plan-session.ts';
import { openPracticeJournal, spentByUnits } from '../practice/practice-units.ts';
import type { SessionParts } from '../practice/session-parts.ts';
import { splitOf } from '../practice/sources/split.ts';
import { TEST_DAYS } from '../trial/decide-trials.ts';
import { findTaskPool, type TaskPool, type TaskPoolResult } from '../trial/gate-tasks.ts';
import { type KeepsIdentity, measureTrial } from '../trial/measure-trial.ts';
import { openTrialJudge, type TrialJudge } from '../trial/replay-tasks.ts';
import { proposedLines } from './identity-lines.ts';
import type { IdentityJudge } from './open-identity-judge.ts';

const DAY_MS = 86_400_000;
/** Pairs of one measurement, and pairs measured together. */
const PAIRS = 24;
const BATCH = 4;
/** Batches in a row without a usable pair, after which it is tried again another day. */
const MOST_SPOILED = 2;

/** Which proposals a person wants to be measured; absent fields: all. */
export interface AskedIdentity {
  readonly agent?: string;
  /** Id or name of a part. */
  readonly part?: string;
}

interface MeasuredIdentity {
  readonly lesson: string;
  readonly name: string;
  readonly outcome: TrialOutcome;
  readonly why: string;
}

/** Proposals for identities, and what was measured of each text. */
export async function waitingIdentities(
  { library, records }: Pick<SessionParts, 'library' | 'records'>,
  { agent, part }: AskedIdentity = {},
): Promise<readonly { readonly lesson: Lesson; readonly record: TrialRecord | undefined }[]> {
  const proposals = library
    .lessons()
    .filter(isIdentityProposal)
    .filter(({ text }) => agent === undefined || text.scope.agent === agent)
    .filter(({ id, text }) => part === undefined || id === part || text.name === part);
  if (proposals.length === 0) return [];
  const trials = await readTrials(records);
  return proposals.map((lesson) => ({ lesson, record: trials.of(subjectOfProposal(lesson, library)) }));
}

/** Whether a proposal should be measured by itself now. What could not be tested is tried again another day. */
const isMeasurementDue = (record: TrialRecord | undefined, now: number): boolean =>
  record?.end === undefined || (record.end.outcome === 'untested' && now - record.end.at >= DAY_MS);

/** Why a proposal should be measured now; undefined when none should. */
export async function dueMeasurement(parts: SessionParts): Promise<string | undefined> {
  const waiting = await waitingIdentities(parts);
  const due = waiting.find(({ record }) => isMeasurementDue(record, parts.clock.now()));
  return (
    due && `a change of the identity of ${due.lesson.text.scope.agent ?? 'every agent'} was not measured`
  );
}

/**
 * Measures a proposal for an identity: the agent's tasks are attempted with the identity in use and with the proposed one, the same
 * tasks with the same seeds. The result is about the bytes of the text, changes nothing by itself, and is shown to the owner. No
 * user's prompt has the proposed text. Interrupted anywhere, it goes on from the record.
 */
async function measureIdentity(
  lesson: Lesson,
  parts: SessionParts,
  signal: AbortSignal,
): Promise<MeasuredIdentity | undefined> {
  const { library, records, clock } = parts;
  const subject = subjectOfProposal(lesson, library);
  const replaced = replacedPart(lesson, library);
  const journal = await openPracticeJournal({ run: runOf(subject), records, clock });
  const budget = parts.openBudget(spentByUnits(journal.units()));
  const trials = await readTrials(records);
  const append = async (fact: TrialFact, what: string): Promise<void> => {
    const at = Math.round(clock.now());
    const [written] = await records.append([{ at, fact, key: `trial/${subject}/${what}` }]);
    if (written?.isNew === true) trials.add({ at, fact });
  };
  const { trials: settings, temperature, timeoutMs, rewards: weights } = parts.settings();
  const most = Math.min(PAIRS, settings.pairs);
  const until = clock.now() + TEST_DAYS * DAY_MS;
  await append({ type: 'trial-opened', subject, place: trials.nextPlace('identity'), until }, 'opened');
  const end = async (outcome: TrialOutcome, why: string): Promise<MeasuredIdentity> => {
    const mark = outcome === 'untested' ? `${outcome}/${Math.floor(clock.now() / DAY_MS)}` : 'ended';
    await append({ type: 'trial-ended', subject, outcome, why }, mark);
    return { lesson: lesson.id, name: lesson.text.name, outcome, why };
  };

  const attempts = await parts.openAttempts(budget, signal);
  try {
    const make = attempts.serving ?? attempts.make;
    const judge = await openTrialJudge(parts, budget, journal);
    const pool = await taskPool(lesson, parts, judge);
    if (!pool.ok) return end('untested', `could not be tested: ${pool.why}`);
    const identityJudge = await parts.openIdentityJudge?.(budget, journal, signal);
    const keepsIdentity = identityJudge && createKeeper(lesson, library, identityJudge);
    let spoiled = 0;
    for (;;) {
      const record = trials.of(subject);
      if (record === undefined || signal.aborted) return undefined;
      const begun = record.begun.tasks + record.begun.replay;
      if (begun >= most && record.differences[pool.method].size > 0) return end(...verdictOf(record, pool));
      const refusal = budget.refusal();
      if (refusal !== undefined)
        return record.differences[pool.method].size === 0
          ? end('untested', `could not be tested: ${refusal}`)
          : end(...verdictOf(record, pool));
      const { fact, faults } = await measureTrial(
        {
          lesson,
          record,
          method: pool.method,
          pool: pool.tasks,
          replaces: replaced === undefined ? [] : [replaced.id],
          pairs: Math.max(1, Math.min(BATCH, most - begun)),
        },
        {
          attempt: make,
          lessonsFor: parts.lessonsFor,
          journal,
          compare: judge?.compare,
          keepsIdentity,
          weights,
        },
        { repeats: settings.repeats, temperature: attempts.temperature ?? temperature, timeoutMs },
        signal,
      );
      if (signal.aborted) return undefined;
      // A text that was changed or decided meanwhile has no measurement.
      const now = library.lesson(lesson.id);
      if (now === undefined || !isIdentityProposal(now) || subjectOfProposal(now, library) !== subject)
        return undefined;
      await append(fact, `${fact.by}/${fact.begun}`);
      spoiled = fact.pairs.length > 0 ? 0 : spoiled + 1;
      if (spoiled >= MOST_SPOILED)
        return end('untested', `could not be tested: attempts cannot be made: ${faults[0] ?? ''}`);
    }
  } finally {
    await attempts.close?.();
  }
}

/** The proposals that were asked for, one after the other; without a wish, those that were not measured yet. */
export async function measureIdentities(
  parts: SessionParts,
  asked: AskedIdentity | undefined,
  onBegun: (lesson: Lesson) => void,
  signal: AbortSignal,
): Promise<readonly MeasuredIdentity[]> {
  const measured: MeasuredIdentity[] = [];
  for (const { lesson, record } of await waitingIdentities(parts, asked)) {
    if (signal.aborted) break;
    if (asked === undefined && !isMeasurementDue(record, parts.clock.now())) continue;
    onBegun(lesson);
    const done = await measureIdentity(lesson, parts, signal);
    if (done !== undefined) measured.push(done);
  }
  return measured;
}

/** Short, and the same for the same text. */
const runOf = (subject: string): string => subject.replaceAll('/', '-').slice(0, 120);

/** Both sides are compared with the identity as it would be: whether the proposal has the effect that it asks for. */
function createKeeper(lesson: Lesson, library: Library, judge: IdentityJudge): KeepsIdentity {
  const lines = proposedLines(library, lesson, replacedPart(lesson, library));
  return async (task, output, signal) => {
    const reply = { lines, task: task.prompt, reply: output, sessions: sessionsOf(task) };
    return (await judge.rule(reply, signal))?.score;
  };
}

/** The agent's own tasks and those of everybody; none that the proposal was learned from, and none that is kept for reports. */
async function taskPool(
  lesson: Lesson,
  parts: SessionParts,
  judge: TrialJudge | undefined,
): Promise<TaskPoolResult> {
  const { agent } = lesson.text.scope;
  const asked = (task: PracticeTask): PracticeTask =>
    agent === undefined || task.agent !== undefined ? task : { ...task, agent };
  return findTaskPool(lesson, {
    gateTasks: async () => (await runnableTasks(parts, ({ root }) => splitOf(root) !== 'report')).map(asked),
    replayTasks: parts.replayTasks,
    ...judge,
    // An identity is for every task of its agent.
    lessonsFor: async () => ({ text: '', lessons: [lesson.id], generation: 0 }),
    records: parts.records,
  });
}

function verdictOf(record: TrialRecord, { method }: TaskPool): readonly [TrialOutcome, string] {
  const { low, high } = trialInterval(record.differences[method]);
  const figures = trialFigures(record);
  if (high < 0) return ['harmful', `attempts come out worse with it: ${figures}`];
  if (low > 0) return ['helpful', `attempts come out better with it: ${figures}`];
  return ['no-difference', `attempts come out neither better nor worse with it: ${figures}`];
}
