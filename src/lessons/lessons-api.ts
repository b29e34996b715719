import { hasCommand } from '../core/check.ts';
import type { LessonsApi } from '../core/daemon-api.ts';
import { asArray, asNumber, asObject, asString, compact, isObject, type JsonObject } from '../core/json.ts';
import type { ChangeResult, Lesson, LessonPlace, PublishResult } from '../core/lesson.ts';
import type { GenerationDiff, Library } from '../core/library.ts';
import { principalOfSession } from '../core/principal.ts';
import type { Recall } from '../core/recall.ts';
import type { Recollect, Recollection } from '../core/recollection.ts';
import type { Records } from '../core/store.ts';
import { type Adherence, describeBreaks } from './adherence/adherence.ts';
import { encodeOverlay } from './check-overlay.ts';
import { encodeCheck, withPersonsCheck } from './checks/persons-check.ts';
import { decodeChange, encodeLesson, encodeNote } from './codec.ts';
import { lessonHash } from './compare-blocks.ts';
import { eachFactOf } from './each-fact.ts';
import { trialOf } from './effect/describe-trial.ts';
import type { Trials } from './effect/fold-trials.ts';
import { costOfLesson } from './explain/cycle-costs.ts';
import {
  describeOrigin,
  explainState,
  projectLabel,
  readEvidence,
  writtenBy,
} from './explain/explain-lesson.ts';
import { describeToday } from './explain/today.ts';
import { explainTurn } from './explain/turn-reasons.ts';
import { isCompared, measurementOf, withoutUnapproved } from './identity-approval.ts';
import { createDescribeLesson } from './lesson-pages.ts';
import { createLibraryLinks, describeLinks } from './links.ts';
import { isOfTeam } from './member-library.ts';
import { placeLessons, renderPast } from './render-block.ts';
import { admit, audienceOf, createReadLearnedIn, type ReadLearnedIn } from './scope.ts';
import { mayRecallFor, recordEpisodeRecall } from './shown/episode-recall.ts';
import { chooseQuotes, isInLessons } from './shown/show-past.ts';
import { namesOf, promptName } from './title.ts';

interface LessonsApiOptions {
  readonly library: Library;
  readonly records: Records;
  /** The measured effect of a lesson. */
  readonly effect: (id: string) => JsonObject | undefined;
  readonly adherence: () => Adherence;
  readonly trials: () => Promise<Pick<Trials, 'of'>>;
  readonly newId: (prefix: string) => string;
  readonly recall: Recall;
  /** What the asker said in earlier sessions; absent: lessons alone are recalled. */
  readonly recollect?: Recollect;
  readonly review: () => Promise<JsonObject>;
  readonly now: () => number;
  /** Where prompts show lessons. */
  readonly place: () => LessonPlace;
  readonly sharesAgents: () => boolean | undefined;
  /** How to get a sandbox for commands; undefined where this machine has one. */
  readonly sandboxFix?: () => Promise<string | undefined>;
  /** The member for whom the library and the records are; absent: the home's own person. */
  readonly member?: string;
}

/** A check by a command, on a machine that runs none. */
async function whyNoCommand(
  { check }: Lesson,
  { sandboxFix }: Pick<LessonsApiOptions, 'sandboxFix'>,
): Promise<string | undefined> {
  const fix = check !== undefined && hasCommand(check) ? await sandboxFix?.() : undefined;
  return fix && `this machine has no sandbox, so the command is not run; to get one: ${fix}`;
}

const PERSON = { kind: 'person', name: 'person' } as const;
const LONGEST_REASON = 500;

export function createLessonsApi(options: LessonsApiOptions): LessonsApi {
  const { library, records, effect } = options;
  const describe = createDescribeLesson(options);
  const links = createLibraryLinks(library);
  const readLearnedIn = createReadLearnedIn(records);
  return {
    list: async ({ state, kind }) => {
      const trials = await options.trials();
      return library
        .lessons()
        .filter((lesson) => state === undefined || lesson.state === state)
        .filter((lesson) => kind === undefined || lesson.kind === kind)
        .map((lesson) => describe(lesson, trials));
    },
    all: async () => library.lessons().map(encodeLesson),
    show: async (idOrName) => {
      const lesson = library.find(idOrName) ?? onlyNamed(idOrName, library);
      if (lesson === undefined) return undefined;
      const trials = await options.trials();
      const evidence = await readEvidence(lesson, records);
      return compact({
        ...describe(lesson, trials),
        brokenIn: describeBreaks(lesson.id, options.adherence()),
        category: lesson.text.category,
        content: lesson.text.content,
        overlay: lesson.text.overlay === undefined ? undefined : encodeOverlay(lesson.text.overlay),
        note: encodeNote(lesson.text.note),
        linked: describeLinks(lesson.id, links, library),
        evidence,
        origin: describeOrigin(lesson, evidence),
        cost: await costOfLesson(lesson, records),
        uses: isOfTeam(lesson) ? await readUses(lesson.id, records) : undefined,
        writtenBy: writtenBy(lesson),
        createdAt: new Date(lesson.createdAt).toISOString(),
        why: { ...explainState(lesson, library, trialOf(lesson, trials)) },
        project: await projectLabel(lesson, records),
        history: describeHistory(lesson, library),
        ...encodeCheck(lesson),
        cannotCheck: await whyNoCommand(lesson, options),
      });
    },
    why: (turn) => explainTurn(turn, records, library),
    today: async () =>
      describeToday({
        library,
        records,
        trials: await options.trials(),
        effect,
        adherence: options.adherence(),
        now: options.now(),
      }),
    change: (body) => changeLessons(options, body),
    recall: (query) =>
      asString(query.name) ? recallNamed(options, query, readLearnedIn) : recallTask(options, query),
    review: options.review,
    generations: async () =>
      library.generations().map(({ generation, at, reason, by }) => ({
        generation,
        at: new Date(at).toISOString(),
        reason,
        by: by.name,
      })),
    diff: async (from, to) => {
      const diff = library.diff(from, to);
      return diff && { from, to, ...encodeDiff(diff, library) };
    },
    rollback: async (to) => {
      const set = library.rollback(to, PERSON);
      return set === undefined ? undefined : encodePublished(await library.publish(set));
    },
  };
}

function encodeDiff({ added, removed, revised }: GenerationDiff, library: Library): JsonObject {
  const named = ({ id, ...change }: { readonly id: string }): JsonObject => ({
    id,
    ...namesOf(library.lesson(id)),
    ...change,
  });
  return { added: added.map(named), removed: removed.map(named), revised: revised.map(named) };
}

const describeHistory = ({ id, kind }: Lesson, library: Library): readonly JsonObject[] =>
  library.history(id).map(({ at, by, reason, op, state, revision, generation, text }) => ({
    at: new Date(at).toISOString(),
    by: by.name,
    op,
    reason,
    state,
    revision,
    generation,
    ...(kind === 'identity' ? { content: text.content } : {}),
  }));

/** One result for each change, in order; changes that cannot be decoded are refused and the others are published. */
async function changeLessons(options: LessonsApiOptions, body: JsonObject): Promise<JsonObject> {
  const { library, newId } = options;
  const reason = (asString(body.reason) ?? '').slice(0, LONGEST_REASON) || 'requested by a person';
  const stale = Object.entries(asObject(body.shown)).find(([id, hash]) => {
    const lesson = library.lesson(id);
    return lesson !== undefined && lessonHash(lesson.text) !== hash;
  });
  if (stale !== undefined) return { generation: library.generation, results: [refusedAsStale(stale[0])] };
  const trials = await options.trials();
  const isMeasured = (lesson: Lesson): boolean => isCompared(measurementOf(lesson, library, trials));
  const decoded = asArray(body.changes)
    .filter(isObject)
    .map(decodeChange)
    .map((change) => withPersonsCheck(change, options.member === undefined));
  const changes = withoutUnapproved(decoded, body, library, isMeasured);
  const published = await library.publish({
    id: newId('c'),
    by: PERSON,
    reason,
    changes: changes.filter((change) => 'op' in change),
  });
  const done = published.results.values();
  const results = changes.flatMap((change) => ('op' in change ? (done.next().value ?? []) : change));
  return encodePublished({ ...published, results });
}

/** The lesson of this name that the asker may see; the one of its own scope before a shared one. */
async function recallNamed(
  { library, now, member, sharesAgents }: LessonsApiOptions,
  query: JsonObject,
  readLearnedIn: ReadLearnedIn,
): Promise<JsonObject> {
  const name = asString(query.name);
  const asker = {
    agent: asString(query.agent) ?? 'unknown',
    ...compact({ project: asString(query.project), member, sharesAgents: sharesAgents() }),
  };
  const named: { readonly lesson: Lesson; readonly admitted: string }[] = [];
  for (const lesson of library.shown(now())) {
    if (lesson.text.name !== name && lesson.id !== name && promptName(lesson.text) !== name) continue;
    const places = lesson.text.note.visibility === 'private' ? await readLearnedIn(lesson) : undefined;
    named.push({ lesson, admitted: admit(audienceOf(lesson, places), asker, asString(query.domain)) });
  }
  const best =
    named.find(({ admitted }) => admitted === 'yes') ?? named.find(({ admitted }) => admitted === 'shared');
  return toRecalled(best === undefined ? [] : [best.lesson], [], { place: 'system', said: [] });
}

async function recallTask(options: LessonsApiOptions, query: JsonObject): Promise<JsonObject> {
  const { library, records, member } = options;
  const at = options.now();
  const episode = asString(query.episode) ?? '';
  const isCounted = episode !== '' && (await mayRecallFor(episode, asString(query.by), records));
  const asked = {
    text: asString(query.task) ?? '',
    session: isCounted ? episode : '',
    agent: asString(query.agent) ?? 'unknown',
    ...compact({
      project: asString(query.project),
      domain: asString(query.domain),
      member,
      sharesAgents: options.sharesAgents(),
    }),
    isUnhurried: query.isUnhurried === true,
  };
  const place = query.isForPrompt === true ? options.place() : 'system';
  const result = await options.recall({ ...asked, place }, at);
  const limit = asNumber(query.limit) ?? Number.POSITIVE_INFINITY;
  const without = asArray(query.without);
  const isWanted = ({ id }: Lesson): boolean => !without.includes(id);
  const shown = result.lessons.filter(isWanted).slice(0, limit);
  const listed = result.index.filter(isWanted).slice(0, Math.max(0, limit - shown.length));
  const { generation } = library;
  if (isCounted) await recordEpisodeRecall({ episode, result, shown, listed, generation, at }, records);
  const placed = placeLessons(place, shown, listed);
  // Who looks something up gets each source; a prompt, no words twice.
  const isShown = query.isForPrompt === true ? isInLessons(placed.text) : () => false;
  const recollections = without.length > 0 ? [] : await recollectFor(options, asked);
  return toRecalled(shown, listed, { place, said: chooseQuotes(recollections, isShown) });
}

/** A search that fails finds nothing: the lessons are there. */
async function recollectFor(
  { recollect, member }: LessonsApiOptions,
  { text, agent, project }: { readonly text: string; readonly agent: string; readonly project?: string },
): Promise<readonly Recollection[]> {
  if (recollect === undefined || text === '') return [];
  // The id of no session, which says whose the question is.
  const session = `${member === undefined ? '' : `${member}:`}recall`;
  return recollect(compact({ text, session, agent, project, member })).catch(() => []);
}

function toRecalled(
  shown: readonly Lesson[],
  listed: readonly Lesson[],
  { place, said }: { readonly place: LessonPlace; readonly said: readonly Recollection[] },
): JsonObject {
  const placed = placeLessons(place, shown, listed);
  const texts = [placed.text, ...(said.length === 0 ? [] : [renderPast(said, place)])];
  return {
    ...placed,
    text: texts.filter((text) => text !== '').join('\n\n'),
    lessons: [
      ...shown.map(({ id, text }) => ({ id, name: text.name })),
      ...listed.map(({ id, text }) => ({ id, name: text.name, isLine: true })),
    ],
    said: said.map(({ at, session, turn, text, times }) => ({
      at: new Date(at).toISOString(),
      session,
      turn,
      text,
      times: times.map((time) => ({ ...time })),
    })),
  };
}

/** A retired or rejected lesson, when no other lesson has its name. */
function onlyNamed(name: string, library: Library): Lesson | undefined {
  const named = library.lessons().filter(({ text }) => text.name === name);
  return named.length === 1 ? named[0] : undefined;
}

const encodePublished = ({ generation, results }: PublishResult): JsonObject => ({
  generation,
  results: results.map((result) => ({ ...result })),
});

const refusedAsStale = (id: string): JsonObject & ChangeResult => ({
  status: 'refused',
  id,
  why: 'it has changed since it was shown to you: show it again',
});

interface UseOfMember {
  sessions: number;
  worked: number;
  failed: number;
  /** The newest sessions that failed although it was shown. */
  failures: string[];
}

const MOST_FAILURES = 5;
/** From this score on a session worked. */
const WORKED = 0.5;

/**
 * What became of the sessions in which a lesson was shown, by member: what worked with it, and what failed in spite of it. `member` absent:
 * the home's own person. Through the records of a member it tells of the own sessions alone.
 */
async function readUses(lesson: string, records: Pick<Records, 'factsOf'>): Promise<JsonObject[]> {
  /** The last score of each session counts. */
  const scores = new Map<string, number>();
  await eachFactOf('session-scored', records, ({ fact }) => {
    if (fact.type === 'session-scored' && fact.score !== undefined && fact.lessons.includes(lesson))
      scores.set(fact.session, fact.score);
  });
  const members = new Map<string, UseOfMember>();
  for (const [session, score] of scores) {
    const member = principalOfSession(session) ?? '';
    const use = members.get(member) ?? { sessions: 0, worked: 0, failed: 0, failures: [] };
    use.sessions++;
    if (score >= WORKED) use.worked++;
    else {
      use.failed++;
      use.failures = [...use.failures, session].slice(-MOST_FAILURES);
    }
    members.set(member, use);
  }
  return [...members].map(([member, use]) => ({ ...(member === '' ? {} : { member }), ...use }));
}
