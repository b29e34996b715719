import { compact, type JsonObject } from '../core/json.ts';
import { isActive, type Lesson, type LessonKind, type LessonState, type LessonText } from '../core/lesson.ts';
import type { Library } from '../core/library.ts';
import type { Records } from '../core/store.ts';
import { type Adherence, describeAdherence } from './adherence/adherence.ts';
import { whyNotOfKind } from './check-overlay.ts';
import { encodeCheck } from './checks/persons-check.ts';
import { lessonHash } from './compare-blocks.ts';
import { encodeTrial } from './effect/describe-trial.ts';
import type { Trials } from './effect/fold-trials.ts';
import { closingOf } from './explain/closed-by.ts';
import { explainTurn } from './explain/turn-reasons.ts';
import { measurementOf } from './identity-approval.ts';
import { tierOf } from './identity-tier.ts';
import { namesOf, titleOf } from './title.ts';

/** Views of a large library: each answers with a part, and reads no more than it needs. */
export interface LessonPages {
  /** The last changed first. */
  list(query: LessonListQuery): Promise<JsonObject>;
  /** What `LessonsApi.show` does not say: `{ revisions }`. */
  more(id: string): JsonObject;
  /** Newest first, with the changes of each. */
  generations(query: { readonly cursor?: string | undefined; readonly limit: number }): JsonObject;
  /** With the texts; undefined when one of them does not exist. */
  diff(from: number, to: number): JsonObject | undefined;
  /** Why a turn was shown its lessons, and why not others that were considered; undefined for an unknown turn. */
  why(turn: string): Promise<JsonObject | undefined>;
  /** Identifies the text of a lesson; empty for an unknown one. */
  hashOf(id: string): string;
}

interface LessonListQuery {
  readonly state?: LessonState | undefined;
  readonly kind?: LessonKind | undefined;
  readonly agent?: string | undefined;
  readonly q?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

interface LessonPagesOptions {
  readonly library: Library;
  readonly records: Records;
  readonly effect: (id: string) => JsonObject | undefined;
  readonly adherence: () => Adherence;
  readonly trials: () => Promise<Pick<Trials, 'of'>>;
}

interface ChangedLesson {
  readonly op: string;
  readonly id: string;
  readonly name: string;
  readonly title: string;
}

/** What is the same until the library changes. */
interface Ordered {
  readonly lessons: readonly Lesson[];
  readonly states: Readonly<Record<string, number>>;
  readonly kinds: Readonly<Record<string, number>>;
}

export function createLessonPages(options: LessonPagesOptions): LessonPages {
  const { library } = options;
  const describe = createDescribeLesson(options);
  let ordered: Ordered | undefined;
  let changes: ReadonlyMap<number, readonly ChangedLesson[]> | undefined;
  library.onChange(() => {
    ordered = undefined;
    changes = undefined;
  });
  const order = (): Ordered => {
    ordered ??= orderLessons(library.lessons());
    return ordered;
  };

  return {
    list: async (query) => {
      const { lessons, states, kinds } = order();
      const wanted = lessons.filter((lesson) => isWanted(lesson, query));
      const { cursor, limit } = query;
      const from = cursor === undefined ? 0 : wanted.findIndex((lesson) => isAfter(lesson, cursor));
      const page = from < 0 ? [] : wanted.slice(from, from + limit);
      const last = page.at(-1);
      const isLast = last === undefined || last === wanted.at(-1);
      const trials = await options.trials();
      return compact({
        lessons: page.map((lesson) => describe(lesson, trials)),
        next: isLast ? undefined : placeOf(last),
        total: wanted.length,
        counts: { states: { ...states }, kinds: { ...kinds } },
      });
    },
    more: (id) => ({ revisions: describeRevisions(id, library) }),
    generations: ({ cursor, limit }) => {
      changes ??= changesByGeneration(library);
      const below = cursor === undefined ? Number.POSITIVE_INFINITY : Number(cursor);
      const all = library.generations().filter(({ generation }) => generation < below);
      const page = all.slice(-limit).reverse();
      const last = page.at(-1);
      return compact({
        generation: library.generation,
        generations: page.map(({ generation, at, reason, by }) => ({
          generation,
          at: new Date(at).toISOString(),
          reason,
          by: by.name,
          changes: (changes?.get(generation) ?? []).map((change) => ({ ...change })),
        })),
        next: last === undefined || page.length === all.length ? undefined : String(last.generation),
      });
    },
    diff: (from, to) => describeDiff(from, to, library),
    why: (turn) => explainTurn(turn, options.records, library, 'considered'),
    hashOf: (id) => {
      const lesson = library.lesson(id);
      return lesson === undefined ? '' : lessonHash(lesson.text);
    },
  };
}

const isWanted = (lesson: Lesson, { state, kind, agent, q }: LessonListQuery): boolean =>
  (state === undefined || lesson.state === state) &&
  (kind === undefined || lesson.kind === kind) &&
  (agent === undefined || lesson.text.scope.agent === agent) &&
  (q === undefined || hasWords(lesson, q.toLowerCase()));

/** The text of each revision, where it was made. */
function describeRevisions(id: string, library: Library): readonly JsonObject[] {
  const first = new Map<number, JsonObject>();
  for (const { revision, at, by, text } of library.history(id))
    if (!first.has(revision))
      first.set(revision, { revision, at: new Date(at).toISOString(), by: by.name, ...plainText(text) });
  return [...first.values()];
}

function describeDiff(from: number, to: number, library: Library): JsonObject | undefined {
  const diff = library.diff(from, to);
  if (diff === undefined) return undefined;
  const kindOf = (id: string): string => library.lesson(id)?.kind ?? '';
  const textOf = (id: string, revision: number): JsonObject =>
    plainText(library.history(id).find((event) => event.revision === revision)?.text);
  const describe = ({ id, revision }: { readonly id: string; readonly revision: number }): JsonObject => ({
    id,
    revision,
    kind: kindOf(id),
    ...textOf(id, revision),
  });
  return {
    from,
    to,
    added: diff.added.map(describe),
    removed: diff.removed.map(describe),
    revised: diff.revised.map(({ id, from: before, to: after }) => ({
      id,
      ...namesOf(library.lesson(id)),
      kind: kindOf(id),
      from: before,
      to: after,
      before: textOf(id, before),
      after: textOf(id, after),
    })),
  };
}

function orderLessons(all: readonly Lesson[]): Ordered {
  const states: Record<string, number> = {};
  const kinds: Record<string, number> = {};
  for (const { state, kind } of all) {
    states[state] = (states[state] ?? 0) + 1;
    kinds[kind] = (kinds[kind] ?? 0) + 1;
  }
  return { lessons: all.toSorted(compareLessons), states, kinds };
}

const compareLessons = (a: Lesson, b: Lesson): number =>
  b.changedAt - a.changedAt || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0);

const placeOf = ({ changedAt, id }: Lesson): string => `${changedAt}.${id}`;

/** A lesson that changes between two pages moves to the front: none is shown twice and none is left out. */
function isAfter(lesson: Lesson, cursor: string): boolean {
  const dot = cursor.indexOf('.');
  const [at, id] = [Number(cursor.slice(0, dot)), cursor.slice(dot + 1)];
  return lesson.changedAt < at || (lesson.changedAt === at && lesson.id < id);
}

/** The words of a lesson to search in; a lesson that changes is another object. */
const searched = new WeakMap<Lesson, string>();

function hasWords(lesson: Lesson, words: string): boolean {
  let text = searched.get(lesson);
  if (text === undefined) {
    const { name, description, content, note } = lesson.text;
    text = [name, description, content, ...note.tags, ...note.keywords].join('\n').toLowerCase();
    searched.set(lesson, text);
  }
  return lesson.id.toLowerCase().startsWith(words) || text.includes(words);
}

const plainText = (text: LessonText | undefined): JsonObject => ({
  ...namesOf(text && { text }),
  description: text?.description ?? '',
  content: text?.content ?? '',
});

/** The changes that made each generation. */
function changesByGeneration(library: Library): ReadonlyMap<number, readonly ChangedLesson[]> {
  const made = new Map(library.generations().map(({ generation, at }) => [generation, at]));
  const changes = new Map<number, ChangedLesson[]>();
  for (const { id, text } of library.lessons())
    for (const { op, at, generation, text: then } of library.history(id)) {
      // Later changes that made no new generation bear the same number.
      if (made.get(generation) !== at) continue;
      const list = changes.get(generation) ?? [];
      changes.set(generation, list);
      list.push({ op, id, ...namesOf({ text: then.name === '' ? text : then }) });
    }
  return changes;
}

interface DescribeLessonOptions {
  readonly library: Library;
  /** The measured effect of a lesson. */
  readonly effect: (id: string) => JsonObject | undefined;
  /** How sessions kept to the lessons. */
  readonly adherence: () => Adherence;
}

/** A lesson for a list: what it is, its state, its effect, and the trial that measures it. */
export const createDescribeLesson =
  ({ library, effect, adherence }: DescribeLessonOptions) =>
  (lesson: Lesson, trials: Pick<Trials, 'of'>): JsonObject => {
    const closing = closingOf(lesson, library);
    const trial = measurementOf(lesson, library, trials);
    return {
      ...summary(lesson),
      ...(closing === undefined
        ? {}
        : { closed: { by: closing.by, words: closing.words, undo: closing.undo } }),
      ...(lesson.check === undefined ? {} : encodeCheck(lesson)),
      adherence: describeAdherence(lesson, adherence()),
      ...compact({ effect: effect(lesson.id) }),
      ...(trial === undefined ? {} : { trial: encodeTrial(trial) }),
    };
  };

const summary = (lesson: Lesson): JsonObject =>
  compact({
    id: lesson.id,
    kind: lesson.kind,
    name: lesson.text.name,
    title: titleOf(lesson),
    description: lesson.text.description,
    state: lesson.state,
    revision: lesson.revision,
    scope: { ...lesson.text.scope },
    source: lesson.text.note.source,
    taint: lesson.text.taint.length > 0 ? [...lesson.text.taint] : undefined,
    isAlways: lesson.text.note.isAlways,
    tier: tierOf(lesson),
    pinned: lesson.pinned || undefined,
    frozen: lesson.frozen || undefined,
    expiresAt: lesson.expiresAt === undefined ? undefined : new Date(lesson.expiresAt).toISOString(),
    reason: lesson.reason ?? unusedReason(lesson),
    isUnused: unusedReason(lesson) === undefined ? undefined : true,
    mergedInto: lesson.mergedInto,
    supersededBy: lesson.supersededBy,
    changedAt: new Date(lesson.changedAt).toISOString(),
    hash: lessonHash(lesson.text),
  });

/** Of a lesson in an old record that nothing can read; undefined for one that is not meant to be in use. */
const unusedReason = ({ kind, state, text }: Lesson): string | undefined => {
  const why = isActive({ state }) ? whyNotOfKind(kind, text) : undefined;
  return why === undefined ? undefined : `not in use: ${why}`;
};
