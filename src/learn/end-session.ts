import { isSlowTest } from '../core/check.ts';
import type { Fact, StoredFact } from '../core/fact.ts';
import { compact } from '../core/json.ts';
import type { Lesson } from '../core/lesson.ts';
import { principalOfSession, TEAM } from '../core/principal.ts';
import type { ScoredFact } from '../core/scored-fact.ts';
import type { NewFact, Records } from '../core/store.ts';
import { answeredRequests } from '../evidence/checked-work.ts';
import { episodeItem, foldEpisode, hasLearnableContrast } from '../evidence/episode.ts';
import type { AppraisedTurn, EvidenceReader } from '../evidence/evidence-reader.ts';
import { runCheck } from '../lessons/checks/run-check.ts';
import { isMeasured } from '../lessons/effect/hold-out.ts';
import { readSharing } from '../lessons/fold-members.ts';
import type { FlowWatch } from './adapt/flow-events.ts';
import { isCutBy, limitOf } from './adapt/limit-watch.ts';
import { readLessonUse } from './lesson-use/lesson-uses.ts';
import { findProcedure } from './live/find-procedure.ts';
import { isWorthLearning, whyHard } from './live/live-material.ts';
import { createLiveMaterial } from './live/session-material.ts';
import { queueNotes } from './memory/session-notes.ts';
import type { ReadingQueue } from './queued-items.ts';

type RecallRecords = Pick<Records, 'turn' | 'recalls' | 'events' | 'session'>;

interface EndSessionOptions {
  readonly records: RecallRecords;
  readonly evidence: Pick<EvidenceReader, 'turns'>;
  readonly lessonOf?: (id: string) => Lesson | undefined;
  readonly flows?: FlowWatch;
  readonly reading?: ReadingQueue;
}

/**
 * The facts about a session that has ended: its score, for the lessons that were shown and those held out and for the model that the
 * router chose, with the lessons that the user spoke about; that it is queued for learning, when it has both failures and successes or
 * steps worth keeping, for its notes, when the person stated something, and for a model that reads what they typed; that it is hard, and so worth practising; the sequences of calls that it repeats.
 */
export async function endSession(
  session: string,
  { records, evidence, lessonOf = () => undefined, flows, reading }: EndSessionOptions,
  now: number,
): Promise<readonly NewFact[]> {
  const read = await evidence.turns(session);
  const appraisals = read.map(({ appraisal }) => appraisal);
  const turns = appraisals.map(({ turn }) => turn);
  const last = turns.at(-1);
  if (last === undefined) return [];
  const view = await records.turn(last);
  const facts: NewFact[] = [await scoreSession(session, read, { records, lessonOf, now })];
  // An episode has no turns to learn from step by step: it was queued when it ended.
  if (view === undefined) return facts;
  facts.push(...((await flows?.flowEvents({ session, turns: read, last: view }, now)) ?? []));
  facts.push(...((await reading?.ended(session, read, now)) ?? []));
  facts.push(...queueNotes(session, read, now));
  if (
    isWorthLearning(appraisals) ||
    findProcedure(createLiveMaterial(session, {}, read, now)) !== undefined
  ) {
    const item = `live:${session}:${last}`;
    facts.push({
      at: now,
      fact: { type: 'learning-queued', item, learner: 'live', session, turns },
      key: item,
    });
  }
  const reason = whyHard(appraisals);
  if (reason !== undefined)
    facts.push({
      at: now,
      fact: { type: 'session-marked', session, mark: 'hard', reason },
      key: `hard:${session}:${last}`,
    });
  return facts;
}

/** An episode that has ended is queued at once when a failure stands beside something that worked. */
export async function queueEpisode(
  session: string,
  records: Pick<Records, 'events' | 'session'>,
  now: number,
): Promise<readonly NewFact[]> {
  if ((await records.session(session)) !== undefined) return [];
  const episode = foldEpisode(session, await records.events(session));
  if (episode?.outcome === undefined || !hasLearnableContrast(episode)) return [];
  const item = episodeItem(session);
  return [
    {
      at: now,
      fact: { type: 'learning-queued', item, learner: 'live', session, turns: [session] },
      key: item,
    },
  ];
}

interface ScoreParts {
  readonly records: RecallRecords;
  readonly lessonOf: (id: string) => Lesson | undefined;
  readonly now: number;
}

/** How a session came out, for what it was shown and went without. Without a sign of it the fact says so: silence is counted too. */
async function scoreSession(
  session: string,
  read: readonly AppraisedTurn[],
  { records, lessonOf, now }: ScoreParts,
): Promise<NewFact> {
  const cut = read.filter((turn) => wasCut(turn, lessonOf));
  // A time-out that a learned limit made counts against the limit. It says nothing about the agent, other lessons or the model.
  const rewards = read.flatMap((turn) => turn.appraisal.reward ?? (cut.includes(turn) ? 0 : []));
  const recalls = await records.recalls(session);
  const turns = read.map(({ appraisal }) => appraisal.turn);
  const { lessons, heldOut, unmeasured: given } = await shownIn(recalls, turns, records);
  const isKept = await keptFromTeam(session, records, lessonOf);
  const isLimit = (id: string): boolean => lessonOf(id)?.kind === 'limit';
  const isUntold = (id: string): boolean => isKept(id) || (cut.length > 0 && !isLimit(id));
  const unmeasured = [...new Set([...given, ...[...lessons, ...heldOut].filter(isUntold)])];
  const use = readLessonUse(read, lessonOf);
  const ignored = [...use.ignored.keys()].filter((id) => !isKept(id));
  const contradicted = [...use.contradicted.keys()].filter((id) => !isKept(id));
  const isChecked = read.some(({ appraisal: { source } }) => source === 'verifier' || source === 'judge');
  const place = await records.session(session);
  const fact = compact({
    type: 'session-scored' as const,
    session,
    agent: place?.agent,
    project: place?.project?.id,
    lessons,
    heldOut,
    unmeasured: unmeasured.length === 0 ? undefined : unmeasured,
    checked: checkMeasured([...lessons, ...heldOut], read, lessonOf),
  });
  if (rewards.length === 0) return { at: now, fact, key: `silent:${session}` };
  const scored = compact({
    ...fact,
    score: rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length,
    by: isChecked ? ('check' as const) : ('people' as const),
    ignored: ignored.length === 0 ? undefined : ignored,
    contradicted: contradicted.length === 0 ? undefined : contradicted,
    route: cut.length > 0 ? undefined : routeOf(recalls),
  });
  return { at: now, fact: scored, key: `scored:${session}` };
}

/** The same question whether the session had the lesson or not: an answer that broke it decides, then one that kept it. */
function checkMeasured(
  ids: readonly string[],
  read: readonly AppraisedTurn[],
  lessonOf: (id: string) => Lesson | undefined,
): ScoredFact['checked'] {
  const lessons = [...new Set(ids)].flatMap((id) => lessonOf(id) ?? []);
  // A command or a judge is asked about sessions that were shown the rule, and not about the others: it cannot compare them.
  const checked = lessons.filter(
    (lesson) =>
      lesson.check?.standing === 'accepted' && !lesson.check.holdsWhen.some(isSlowTest) && isMeasured(lesson),
  );
  if (checked.length === 0) return undefined;
  const works = answeredRequests(read).flatMap(({ work, isDone }) => (isDone ? [work] : []));
  return checked.flatMap(({ id, revision, check }) => {
    const results = check === undefined ? [] : works.map((work) => runCheck(check, work).outcome);
    const outcome = (['broken', 'kept'] as const).find((one) => results.includes(one)) ?? 'does-not-apply';
    return [{ lesson: id, revision, outcome }];
  });
}

/** Whether a learned limit ended a turn. */
function wasCut(
  { evidence, shown = [] }: AppraisedTurn,
  lessonOf: (id: string) => Lesson | undefined,
): boolean {
  return shown.some((id) => {
    const lesson = lessonOf(id);
    const limit = lesson && limitOf(lesson);
    return limit !== undefined && isCutBy(limit, evidence.failure);
  });
}

/** Whether a lesson is the team's, in the session of a member who opted out: then the session says nothing about it. */
async function keptFromTeam(
  session: string,
  records: RecallRecords,
  lessonOf: (id: string) => Lesson | undefined,
): Promise<(id: string) => boolean> {
  const member = principalOfSession(session);
  if (member === undefined || !(await readSharing(records)).optedOut.has(member)) return () => false;
  return (id) => lessonOf(id)?.text.scope.member === TEAM;
}

/** What the router chose first: a session that changed to the stronger tier is an outcome of having begun with the cheap one. */
function routeOf(recalls: readonly StoredFact[]): (Fact & { type: 'session-scored' })['route'] {
  for (const { fact } of recalls)
    if (fact.type === 'overlays-applied' && fact.tier !== undefined && fact.task !== undefined)
      return { tier: fact.tier, task: fact.task };
  return undefined;
}

async function shownIn(
  recalls: readonly StoredFact[],
  turns: readonly string[],
  records: RecallRecords,
): Promise<Record<'lessons' | 'heldOut' | 'unmeasured', readonly string[]>> {
  const lessons = new Set<string>();
  const views = await Promise.all(turns.map((turn) => records.turn(turn)));
  for (const view of views) for (const id of view?.lessons ?? []) lessons.add(id);
  const isEpisode = views.every((view) => view === undefined);
  const heldOut = new Set<string>();
  const unmeasured = new Set<string>();
  for (const { fact } of recalls) {
    if (fact.type !== 'lessons-recalled' && fact.type !== 'overlays-applied') continue;
    for (const id of fact.heldOut) heldOut.add(id);
    if (fact.type === 'overlays-applied') continue;
    for (const id of fact.unmeasured ?? []) unmeasured.add(id);
    // An episode has no turns that would name what it was shown.
    if (isEpisode) for (const id of fact.lessons) lessons.add(id);
  }
  return {
    lessons: [...lessons],
    heldOut: [...heldOut],
    unmeasured: [...unmeasured].filter((id) => lessons.has(id)),
  };
}
