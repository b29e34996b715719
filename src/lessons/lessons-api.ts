import type { LessonsApi } from '../core/daemon-api.ts';
import { asArray, asNumber, asObject, asString, compact, isObject, type JsonObject } from '../core/json.ts';
import type { Change, ChangeResult, Lesson, LessonPlace, PublishResult } from '../core/lesson.ts';
import type { Library } from '../core/library.ts';
import type { Recall } from '../core/recall.ts';
import type { Records } from '../core/store.ts';
import { encodeOverlay } from './check-overlay.ts';
import { decodeChange, encodeLesson, encodeNote, type RefusedChange } from './codec.ts';
import { createDescribeLesson } from './describe-lesson.ts';
import { trialOf } from './effect/describe-trial.ts';
import type { Trials } from './effect/fold-trials.ts';
import { readUses } from './effect/read-uses.ts';
import { explainState, projectLabel, readEvidence, writtenBy } from './explain/explain-lesson.ts';
import { describeToday } from './explain/today.ts';
import { explainTurn } from './explain/turn-reasons.ts';
import { withoutUnapproved } from './identity-approval.ts';
import { isCompared, measurementOf } from './identity-measurement.ts';
import { lessonHash } from './lesson-hash.ts';
import { createLibraryLinks, describeLinks } from './links.ts';
import { isOfTeam } from './member-library.ts';
import { placeLessons } from './render-block.ts';
import { mayRecallFor, recordEpisodeRecall } from './shown/episode-recall.ts';
import { admit, audienceOf, createReadLearnedIn } from './visibility.ts';

interface LessonsApiOptions {
  readonly library: Library;
  readonly records: Records;
  /** The measured effect of a lesson. */
  readonly effect: (id: string) => JsonObject;
  readonly trials: () => Promise<Pick<Trials, 'of'>>;
  readonly newId: (prefix: string) => string;
  readonly recall: Recall;
  readonly review: () => Promise<JsonObject>;
  readonly now: () => number;
  /** Where prompts show lessons. */
  readonly place: () => LessonPlace;
  /** The member for whom the library and the records are; absent: the home's own person. */
  readonly member?: string;
}

const PERSON = { kind: 'person', name: 'person' } as const;
const LONGEST_REASON = 500;

export function createLessonsApi(options: LessonsApiOptions): LessonsApi {
  const { library, records, effect, newId, member } = options;
  const describe = createDescribeLesson(options);
  /** Live lessons that sessions or trials showed to help. */
  const provenLessons = async (): Promise<(lesson: Lesson) => boolean> => {
    const trials = await options.trials();
    return (lesson) =>
      lesson.state === 'live' &&
      (effect(lesson.id).verdict === 'helpful' || trialOf(lesson, trials)?.end?.outcome === 'helpful');
  };
  /** One result for each change, in order; changes that cannot be decoded are refused and the others are published. */
  const publish = async (
    changes: readonly (Change | RefusedChange)[],
    reason: string,
  ): Promise<JsonObject> => {
    const decoded = changes.filter((change) => 'op' in change);
    const published = await library.publish({ id: newId('c'), by: PERSON, reason, changes: decoded });
    const done = published.results.values();
    const results = changes.flatMap((change) => ('op' in change ? (done.next().value ?? []) : change));
    return encodePublished({ ...published, results });
  };

  const links = createLibraryLinks(library);
  const readLearnedIn = createReadLearnedIn(records);
  /** The lesson of this name that the asker may see; the one of its own scope before a shared one. */
  const findShown = async (
    name: string,
    asker: { readonly agent: string; readonly project?: string; readonly member?: string },
    domain: string | undefined,
    at: number,
  ): Promise<readonly Lesson[]> => {
    const found: { readonly lesson: Lesson; readonly admitted: string }[] = [];
    for (const lesson of library.shown(at)) {
      if (lesson.text.name !== name && lesson.id !== name) continue;
      const places = lesson.text.note.visibility === 'private' ? await readLearnedIn(lesson) : undefined;
      found.push({ lesson, admitted: admit(audienceOf(lesson, places), asker, domain) });
    }
    const best =
      found.find(({ admitted }) => admitted === 'yes') ?? found.find(({ admitted }) => admitted === 'shared');
    return best === undefined ? [] : [best.lesson];
  };

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
      const { content, note, category, overlay } = lesson.text;
      return compact({
        ...describe(lesson, trials),
        category,
        content,
        overlay: overlay === undefined ? undefined : encodeOverlay(overlay),
        note: encodeNote(note),
        linked: describeLinks(lesson.id, links, library),
        evidence: await readEvidence(lesson, records),
        uses: isOfTeam(lesson) ? await readUses(lesson.id, records) : undefined,
        writtenBy: writtenBy(lesson),
        createdAt: new Date(lesson.createdAt).toISOString(),
        why: { ...explainState(lesson, library, trialOf(lesson, trials)) },
        project: await projectLabel(lesson, records),
        history: library
          .history(lesson.id)
          .map(({ at, by, reason, op, state, revision, generation, text }) => ({
            at: new Date(at).toISOString(),
            by: by.name,
            op,
            reason,
            state,
            revision,
            generation,
            ...(lesson.kind === 'identity' ? { content: text.content } : {}),
          })),
      });
    },
    why: (turn) => explainTurn(turn, records, library),
    today: async () =>
      describeToday({ library, records, trials: await options.trials(), effect, now: options.now() }),
    change: async (body) => {
      const reason = (asString(body.reason) ?? '').slice(0, LONGEST_REASON) || 'requested by a person';
      const shown = asObject(body.shown);
      const stale = Object.entries(shown).filter(([id, hash]) => {
        const lesson = library.lesson(id);
        return lesson !== undefined && lessonHash(lesson.text) !== hash;
      });
      const first = stale[0]?.[0];
      if (first !== undefined) return { generation: library.generation, results: [refusedAsStale(first)] };
      const trials = await options.trials();
      const isMeasured = (lesson: Lesson): boolean => isCompared(measurementOf(lesson, library, trials));
      const decoded = asArray(body.changes).filter(isObject).map(decodeChange);
      const changes = withoutUnapproved(decoded, body, library, isMeasured);
      return publish(changes, reason);
    },
    recall: async (query) => {
      const task = asString(query.task) ?? '';
      const agent = asString(query.agent) ?? 'unknown';
      const project = asString(query.project);
      const domain = asString(query.domain);
      const at = options.now();
      const name = asString(query.name);
      if (name !== undefined && name !== '') {
        const named = await findShown(name, { agent, ...compact({ project, member }) }, domain, at);
        return toRecalled(named, [], 'system');
      }
      const episode = asString(query.episode) ?? '';
      const isCounted = episode !== '' && (await mayRecallFor(episode, asString(query.by), records));
      const asked = {
        text: task,
        session: isCounted ? episode : '',
        agent,
        ...compact({ project, domain, member }),
        isUnhurried: query.isUnhurried === true,
      };
      const result = await options.recall(asked, at);
      const limit = asNumber(query.limit) ?? Number.POSITIVE_INFINITY;
      const isKept = query.isProven === true ? await provenLessons() : () => true;
      const shown = result.lessons.filter(isKept).slice(0, limit);
      const listed = result.index.filter(isKept).slice(0, Math.max(0, limit - shown.length));
      const { generation } = library;
      if (isCounted) await recordEpisodeRecall({ episode, result, shown, listed, generation, at }, records);
      return toRecalled(shown, listed, query.isForPrompt === true ? options.place() : 'system');
    },
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
      if (diff === undefined) return undefined;
      const named = ({ id, ...rest }: { readonly id: string }): JsonObject => ({
        id,
        name: library.lesson(id)?.text.name ?? '',
        ...rest,
      });
      return {
        from,
        to,
        added: diff.added.map(named),
        removed: diff.removed.map(named),
        revised: diff.revised.map(named),
      };
    },
    rollback: async (to) => {
      const set = library.rollback(to, PERSON);
      return set === undefined ? undefined : encodePublished(await library.publish(set));
    },
  };
}

const toRecalled = (shown: readonly Lesson[], listed: readonly Lesson[], place: LessonPlace): JsonObject => ({
  ...placeLessons(place, shown, listed),
  lessons: [
    ...shown.map(({ id, text }) => ({ id, name: text.name })),
    ...listed.map(({ id, text }) => ({ id, name: text.name, isLine: true })),
  ],
});

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
