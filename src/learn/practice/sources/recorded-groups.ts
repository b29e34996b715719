import { NOTHING_SPENT } from '../../../core/budget.ts';
import { isObject, type Json, toJson } from '../../../core/json.ts';
import type {
  Attempt,
  AttemptGroup,
  AttemptOutcome,
  PracticeJournal,
  PracticeTask,
  TaskSplit,
} from '../../../core/practice.ts';
import type { Records, TurnView } from '../../../core/store.ts';
import type { EvidenceReader } from '../../../evidence/evidence-reader.ts';
import { isPractisedOn } from '../../../evidence/learned-from.ts';
import { readTrajectory } from '../../../evidence/trajectory.ts';
import { domainOf } from '../../../evidence/verify-session.ts';
import { sessionsOfGroup } from '../attempt-batch.ts';
import type { PastSession, SessionArea } from '../practice-history.ts';
import { hasSpread } from '../practice-input.ts';
import { contentKey } from '../practice-units.ts';
import { type EmbedTexts, nearnessOf } from './near-tasks.ts';
import { type RecordedMatter, readMatters, readProof } from './read-matters.ts';
import { rootOf, splitOf, taskId } from './split.ts';

/** Recorded attempts at similar tasks, with how much their grades are worth. */
export interface RecordedGroup {
  readonly group: AttemptGroup;
  /** 1, and one more for each rating that a person gave to one of the tasks. */
  readonly weight: number;
}

interface RecordedGroupsOptions {
  readonly records: Pick<Records, 'sessions' | 'turns' | 'recalls'>;
  readonly evidence: Pick<EvidenceReader, 'turns'>;
  readonly embed?: EmbedTexts;
  readonly mostSessions?: number;
  /** Only requests of this split: what lessons are learned from is never what they are measured on. */
  readonly split?: TaskSplit;
  /** Whether a session's words may be shown to the model that compares. */
  readonly maySee?: (session: string) => Promise<boolean>;
}

/** Similar enough to be compared as attempts at one task; below that of a duplicate. */
const SIMILAR = 0.7;
const SIMILAR_BY_WORDS = 0.5;
/** Answers that are this near are of the same worth. */
const SAME_ANSWER = 0.8;
const SAME_ANSWER_BY_WORDS = 0.6;
const MOST_SESSIONS = 300;
const MOST_ATTEMPTS = 8;
const LONGEST_OUTPUT = 6000;

interface RecordedAttempt {
  readonly matter: RecordedMatter;
  readonly session: string;
  readonly place: string;
  readonly domain: string;
  readonly agent: string;
  readonly project: string | undefined;
  readonly view: TurnView;
  readonly outcome: AttemptOutcome;
  /** What a person said of it, 0 to 1. */
  readonly rating: number | undefined;
}

/**
 * Offline practice: real requests of one agent in one project and domain that ask for nearly the same, as groups of attempts that
 * the record graded. No new attempts, and never used by the gate. A person's rating counts also for similar answers to a similar
 * request that nobody rated, and puts its group first.
 */
export async function findRecordedGroups(
  options: RecordedGroupsOptions,
  signal: AbortSignal,
): Promise<readonly RecordedGroup[]> {
  const attempts = await readAttempts(options, signal);
  const { near, isByWords } = await nearnessOf(
    attempts.map(({ matter }) => matter.prompt),
    options.embed,
  );
  const limit = isByWords ? SIMILAR_BY_WORDS : SIMILAR;
  const groups: number[][] = [];
  attempts.forEach((attempt, at) => {
    const group = groups.find((members) => {
      const first = attempts[members[0] ?? -1];
      return first?.place === attempt.place && members.every((other) => near(other, at) >= limit);
    });
    if (group === undefined) groups.push([at]);
    else if (group.length < MOST_ATTEMPTS) group.push(at);
  });
  const found: RecordedGroup[] = [];
  for (const members of groups) {
    const own = members.flatMap((at) => attempts[at] ?? []);
    if (own.length < 2 || signal.aborted) continue;
    found.push(await toGroup(own, options.embed));
  }
  return found.toSorted((a, b) => b.weight - a.weight);
}

async function readAttempts(
  { records, evidence, mostSessions = MOST_SESSIONS, split, maySee }: RecordedGroupsOptions,
  signal: AbortSignal,
): Promise<readonly RecordedAttempt[]> {
  const attempts: RecordedAttempt[] = [];
  for (const session of await records.sessions({ limit: mostSessions, withoutPractice: true })) {
    if (session.erased || signal.aborted) continue;
    const views = (await records.turns(session.id)).filter(
      (view) => view.role === 'main' && isPractisedOn(view),
    );
    if (views.some(({ runKind }) => runKind !== undefined)) continue;
    if ((await maySee?.(session.id)) === false) continue;
    const domain = await domainOf(session.id, records);
    for (const matter of readMatters(await evidence.turns(session.id))) {
      const view = views.find(({ id }) => id === matter.turn);
      if (view === undefined) continue;
      if (split !== undefined && splitOf(rootOf(domain, matter.prompt)) !== split) continue;
      const rating = ratingOf(matter);
      const outcome = outcomeOf(matter, rating);
      if (outcome.is === 'ungraded') continue;
      const { agent } = session;
      const project = session.project?.id;
      // One agent with one model under one generation: else the difference may lie there.
      const place = JSON.stringify([agent, project, domain, view.policy, view.generation]);
      attempts.push({ matter, session: session.id, place, domain, agent, project, view, outcome, rating });
    }
  }
  return attempts;
}

function ratingOf({ turns }: RecordedMatter): number | undefined {
  const scores = turns.flatMap(({ evidence }) =>
    evidence.given.flatMap(({ source, score }) =>
      source === 'person' || source === 'verifier' ? [score] : [],
    ),
  );
  const last = scores.at(-1);
  return last === undefined ? undefined : (last + 1) / 2;
}

/** How the record says it went: a person's rating, then the checks, then the words in the chat, then other signs. */
function outcomeOf(matter: RecordedMatter, rating: number | undefined): AttemptOutcome {
  const graded = (reward: number, ...reasons: readonly string[]): AttemptOutcome => ({
    is: 'graded',
    reward,
    reasons,
  });
  if (matter.turns.every(({ appraisal }) => appraisal.verdict === 'infrastructure'))
    return { is: 'infrastructure', why: 'an outage ended it' };
  if (rating !== undefined) return graded(rating, 'a person rated it');
  const proof = readProof(matter);
  if (proof.contradiction !== undefined) return { is: 'ungraded' };
  const quotes = matter.corrections.map((quote) => `the user said: ${quote}`);
  if (quotes.length > 0) return graded(quotes.length > 1 ? 0.1 : 0.2, ...quotes);
  if (proof.commands === 'passed')
    return graded(proof.hasFailed ? 0.85 : 0.95, 'edits were made, and the checks passed');
  if (proof.commands === 'failed') return graded(0.1, 'it ended with a failed check');
  if (proof.person === 'content') return graded(0.9, 'the user was content');
  const rewards = matter.turns.flatMap(({ appraisal }) => appraisal.reward ?? []);
  const last = rewards.at(-1);
  if (last === undefined) return { is: 'ungraded' };
  const reasons = matter.turns.at(-1)?.appraisal.signals.map(({ reason }) => reason) ?? [];
  return graded(last, ...reasons);
}

async function toGroup(
  attempts: readonly RecordedAttempt[],
  embed: EmbedTexts | undefined,
): Promise<RecordedGroup> {
  const [first] = attempts;
  if (first === undefined) throw new Error('a group without attempts');
  const { domain, agent, project, matter, session } = first;
  const root = rootOf(domain, matter.prompt);
  const task: PracticeTask = {
    id: taskId('mined', root, session, matter.turn),
    root,
    origin: 'mined',
    prompt: matter.prompt,
    domain,
    agent,
    ...(project === undefined ? {} : { project }),
    from: { session, turn: matter.turn },
    isApproximate: true,
    isRecordOnly: true,
  };
  const outcomes = await reweighted(attempts, embed);
  const ratings = attempts.filter(({ rating }) => rating !== undefined).length;
  return {
    group: {
      id: `recorded/${task.id}/${attempts.length}`,
      task,
      generation: first.view.generation,
      gradedBy: ratings > 0 ? 'person' : 'recorded',
      attempts: attempts.map((attempt, at) => toAttempt(attempt, task.id, outcomes[at] ?? attempt.outcome)),
    },
    weight: 1 + ratings,
  };
}

/** A rating counts twice as much as the signs of an attempt that nobody rated, where both answered alike. */
async function reweighted(
  attempts: readonly RecordedAttempt[],
  embed: EmbedTexts | undefined,
): Promise<readonly AttemptOutcome[]> {
  if (attempts.every(({ rating }) => rating === undefined)) return attempts.map(({ outcome }) => outcome);
  const { near, isByWords } = await nearnessOf(
    attempts.map(({ matter }) => matter.answer),
    embed,
  );
  const limit = isByWords ? SAME_ANSWER_BY_WORDS : SAME_ANSWER;
  return attempts.map(({ outcome, rating, matter }, at) => {
    if (rating !== undefined || outcome.is !== 'graded' || matter.answer === '') return outcome;
    const alike = attempts.flatMap((other, place) =>
      other.rating !== undefined && other.matter.answer !== '' && near(at, place) >= limit
        ? [other.rating]
        : [],
    );
    if (alike.length === 0) return outcome;
    const mean = alike.reduce((sum, one) => sum + one, 0) / alike.length;
    return {
      ...outcome,
      reward: (outcome.reward + 2 * mean) / 3,
      reasons: [...outcome.reasons, 'a person rated a similar answer to a similar request'],
    };
  });
}

function toAttempt(
  { matter, session, view, outcome: _ }: RecordedAttempt,
  task: string,
  outcome: AttemptOutcome,
): Attempt {
  const tail = matter.turns.findLast(({ conversation }) => conversation !== undefined)?.conversation;
  return {
    id: matter.turn,
    task,
    by: view.policy,
    from: { session, turn: matter.turn },
    generation: view.generation,
    lessons: view.lessons,
    outcome,
    output: matter.answer.slice(0, LONGEST_OUTPUT),
    steps: tail === undefined ? [] : readTrajectory(tail),
    used: NOTHING_SPENT,
  };
}

/** Groups of recorded work that one session learns from, and no more than it has tasks: they cost questions, too. */
const MOST_RECORDED = 10;
/** Rewards that the record gives are rough: a smaller difference says nothing. */
const TOLERANCE = 0.2;
const CHOSEN = 'recorded';

/**
 * The recorded groups of a run: of its area, with better and worse work, and none that an earlier run has learned from. They are
 * chosen once and journaled, as they were then: a run that is continued sees the same, without what was erased since.
 */
export async function fixRecordedGroups(
  { area, tasks }: Pick<PastSession['planned'], 'area' | 'tasks'>,
  journal: PracticeJournal,
  find: (signal: AbortSignal) => Promise<readonly RecordedGroup[]>,
  signal: AbortSignal,
): Promise<readonly AttemptGroup[]> {
  const before = await journal.read(CHOSEN);
  if (isObject(before) && Array.isArray(before.units)) return readGroups(before.units.map(String), journal);
  const most = tasks.length === 0 ? MOST_RECORDED : Math.min(MOST_RECORDED, tasks.length);
  const units: string[] = [];
  for (const { group: found } of await find(signal)) {
    // Work that an outage ended has no place among better and worse attempts.
    const group = { ...found, attempts: found.attempts.filter(({ outcome }) => outcome.is === 'graded') };
    if (units.length >= most) break;
    if (!inArea(group, area) || !hasSpread(group, TOLERANCE)) continue;
    const unit = `${CHOSEN}/${group.id}`;
    const key = contentKey(
      CHOSEN,
      group.attempts.map(({ id, outcome }) => [id, outcome]),
    );
    const isOwn = (await journal.read(unit)) !== undefined;
    if (!isOwn && (await journal.cached?.(key)) !== undefined) continue;
    await journal.write(unit, toJson(group), { sessions: sessionsOfGroup(group), key });
    units.push(unit);
  }
  // What was read before an abort is not all that there is: the choice is made when the run goes on.
  if (!signal.aborted) await journal.write(CHOSEN, { units });
  return readGroups(units, journal);
}

/** Whether what a group is about lies in the area of a session. */
export const inArea = ({ task }: AttemptGroup, area: SessionArea): boolean =>
  (['agent', 'project', 'domain'] as const).every(
    (name) => area[name] === undefined || area[name] === task[name],
  );

async function readGroups(
  units: readonly string[],
  journal: PracticeJournal,
): Promise<readonly AttemptGroup[]> {
  const groups: AttemptGroup[] = [];
  for (const unit of units) {
    const stored = await journal.read(unit);
    if (isGroup(stored)) groups.push(stored);
  }
  return groups;
}

const isGroup = (value: Json | undefined): value is Json & AttemptGroup =>
  isObject(value) && isObject(value.task) && Array.isArray(value.attempts);
