import type { StoredFact } from '../../core/fact.ts';
import { asString, compact, type JsonObject } from '../../core/json.ts';
import type { Lesson } from '../../core/lesson.ts';
import type { LessonEvent, Library } from '../../core/library.ts';
import { PRACTICE_SESSIONS } from '../../core/session-fact.ts';
import type { Records } from '../../core/store.ts';
import { type Adherence, describeToldRules } from '../adherence/adherence.ts';
import { describeTrial, trialOf } from '../effect/describe-trial.ts';
import type { TrialRecord, Trials } from '../effect/fold-trials.ts';
import { isIdentityProposal, measurementOf } from '../identity-approval.ts';
import { tierOf } from '../identity-tier.ts';
import { namesOf } from '../title.ts';
import { closingOf, rollbackInForce } from './closed-by.ts';
import { countWork, readWorkMarks } from './count-work.ts';
import { readSince, seqBefore, sumCost } from './cycle-costs.ts';
import { describeOrigin, explainState, leadingQuote, readEvidence, writtenBy } from './explain-lesson.ts';

interface TodayOptions {
  readonly library: Library;
  readonly records: Records;
  readonly trials: Pick<Trials, 'of'>;
  /** The measured effect of a lesson in real sessions. */
  readonly effect: (id: string) => JsonObject | undefined;
  readonly adherence: Adherence;
  readonly now: number;
}

const MOST_SESSIONS = 10_000;

/** What happened since midnight, by the machine's local calendar. */
export async function describeToday({
  library,
  records,
  trials,
  effect,
  adherence,
  now,
}: TodayOptions): Promise<JsonObject> {
  const date = new Date(now);
  const from = new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
  const before = await seqBefore(from, records);
  const cycles = await readSince('cycle-end', before, from, records);
  const work = countWork(await readWorkMarks(records, from), { from, to: Number.POSITIVE_INFINITY });
  const { turns, turnsWithLessons, uses } = await countUse(from, records);
  const learned: JsonObject[] = [];
  const changed: JsonObject[] = [];
  const tested: JsonObject[] = [];
  for (const lesson of library.lessons()) {
    const trial = trialOf(lesson, trials);
    if (trial?.end !== undefined && trial.end.at >= from)
      tested.push(describeTested(lesson, trial, trial.end.at));
    const events = library.history(lesson.id).filter(({ at }) => at >= from);
    const first = events[0];
    if (first === undefined) continue;
    const measured = measuredWords(trial, effect(lesson.id));
    if (lesson.createdAt >= from)
      learned.push({
        ...(await describeNew(lesson, { library, records, shownIn: uses.get(lesson.id) ?? 0, trial })),
        ...measured,
      });
    else changed.push({ ...describeChange(lesson, events, library), ...measured });
  }
  const rollback = rollbackInForce(library);
  return {
    from: new Date(from).toISOString(),
    to: new Date(now).toISOString(),
    generation: library.generation,
    learned,
    changed,
    tested,
    ...(rollback === undefined || rollback.at < from
      ? {}
      : { rollback: { ...rollback, at: new Date(rollback.at).toISOString() } }),
    sessions: work.sessions,
    turns,
    appraised: { failures: work.failures, successes: work.successes },
    corrections: work.corrections,
    feedback: work.ratings,
    scored: work.scored,
    rules: { kept: work.kept, broken: work.broken, toldAgain: work.toldAgain },
    ...compact({ adherence: describeToldRules(library.lessons(), adherence) }),
    cost: sumCost(cycles),
    identities: library
      .lessons()
      .filter(isIdentityProposal)
      .map((lesson) => describeProposal(lesson, measurementOf(lesson, library, trials))),
    reflections: (await records.events(REFLECTIONS)).flatMap(({ at, fact }) =>
      at >= from && fact.type === 'job-ended' && fact.end === 'done'
        ? [{ at: new Date(at).toISOString(), said: fact.note ?? '' }]
        : [],
    ),
    practice: sumPractice(await records.events(PRACTICE_SESSIONS), from),
    shown: { lessons: uses.size, turns: turnsWithLessons },
  };
}

/** The subject of the facts about the daily reflection. */
const REFLECTIONS = 'job/reflection';

/** What was measured of a lesson, with its interval; nothing before the first measurement. */
function measuredWords(trial: TrialRecord | undefined, effect: JsonObject = {}): JsonObject {
  const pairs = trial === undefined ? 0 : trial.differences.tasks.size + trial.differences.replay.size;
  const words = pairs > 0 ? describeTrial(trial) : undefined;
  const used =
    effect.verdict === 'helpful' || effect.verdict === 'harmful' ? asString(effect.words) : undefined;
  const all = [
    ...(words === undefined ? [] : [words]),
    ...(used === undefined ? [] : [`in real sessions: ${used}`]),
  ];
  return all.length === 0 ? {} : { measured: all.join('; ') };
}

/** A change of an identity that waits for its owner. */
const describeProposal = (lesson: Lesson, measured: TrialRecord | undefined): JsonObject => ({
  id: lesson.id,
  ...namesOf(lesson),
  agent: lesson.text.scope.agent ?? '',
  tier: tierOf(lesson) ?? '',
  measured: describeTrial(measured) ?? 'not measured',
});

/** Requests with their replies since a time, whatever they were for, and in how many of them each lesson was shown. */
async function countUse(from: number, records: Pick<Records, 'sessions' | 'turns'>) {
  const uses = new Map<string, number>();
  let turns = 0;
  let turnsWithLessons = 0;
  for (const { id } of await records.sessions({ limit: MOST_SESSIONS, from, withoutPractice: true }))
    for (const { startedAt, lessons } of await records.turns(id)) {
      if (startedAt < from) continue;
      turns++;
      if (lessons.length > 0) turnsWithLessons++;
      for (const lesson of lessons) uses.set(lesson, (uses.get(lesson) ?? 0) + 1);
    }
  return { turns, turnsWithLessons, uses };
}

interface NewLessonContext extends Pick<TodayOptions, 'library' | 'records'> {
  /** In how many turns it was shown. */
  readonly shownIn: number;
  readonly trial: TrialRecord | undefined;
}

async function describeNew(
  lesson: Lesson,
  { library, records, shownIn, trial }: NewLessonContext,
): Promise<JsonObject> {
  const evidence = await readEvidence(lesson, records);
  const quote = leadingQuote(evidence);
  const { because, fix } = explainState(lesson, library, trial);
  return {
    id: lesson.id,
    ...namesOf(lesson),
    description: lesson.text.description,
    state: lesson.state,
    because,
    ...(fix === undefined ? {} : { fix }),
    origin: describeOrigin(lesson, evidence),
    writtenBy: writtenBy(lesson),
    at: new Date(lesson.createdAt).toISOString(),
    shownIn,
    ...(quote === undefined ? {} : { quote: { ...quote } }),
  };
}

const describeTested = (lesson: Lesson, trial: TrialRecord, at: number): JsonObject => ({
  id: lesson.id,
  ...namesOf(lesson),
  state: lesson.state,
  outcome: trial.end?.outcome ?? '',
  what: describeTrial(trial) ?? '',
  at: new Date(at).toISOString(),
});

function describeChange(lesson: Lesson, events: readonly LessonEvent[], library: Library): JsonObject {
  const last = events.at(-1);
  return {
    id: lesson.id,
    ...namesOf(lesson),
    state: lesson.state,
    what: consolidated(lesson, last, library) ?? `${last?.op ?? 'changed'}: ${last?.reason ?? ''}`,
    by: last?.by.name ?? '',
    at: new Date(last?.at ?? lesson.changedAt).toISOString(),
  };
}

/** Merged into another lesson, archived, or otherwise closed. */
function consolidated(lesson: Lesson, last: LessonEvent | undefined, library: Library): string | undefined {
  const { mergedInto, state } = lesson;
  if (mergedInto !== undefined)
    return `merged into ${namesOf(library.lesson(mergedInto)).title || mergedInto}: ${last?.reason ?? ''}`;
  if (state === 'retired' && last?.by.name === 'consolidation') return `archived: ${last.reason}`;
  return closingOf(lesson, library)?.words;
}

/** What sessions of practice that ended since a time brought, and what they cost. */
function sumPractice(events: readonly StoredFact[], from: number): JsonObject {
  let [sessions, learned, helpful, tokens, usd] = [0, 0, 0, 0, 0];
  for (const { fact, at } of events) {
    if (fact.type !== 'practice-session' || fact.op !== 'closed' || at < from) continue;
    sessions++;
    learned += fact.counts.published;
    helpful += fact.helpful;
    tokens += fact.spent.tokens;
    usd += fact.spent.usd;
  }
  return { sessions, learned, helpful, tokens, usd };
}
