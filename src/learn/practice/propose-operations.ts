import { asArray, compact, isObject, type Json, type JsonObject } from '../../core/json.ts';
import type { Answer, Ask, ReplyRead } from '../../core/learn.ts';
import { isInUse, type Lesson, type LessonText, PROMPT_KINDS } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { PracticeTask } from '../../core/practice.ts';
import { fenceData } from '../../evidence/judge/fence-data.ts';
import { LESSON_LIKENESS } from '../../lessons/similar/compare.ts';
import { topicStems } from '../../text/topic-words.ts';
import { truncateEnd } from '../../text/truncate.ts';
import { oneLine } from '../../text/visible-text.ts';
import { mayScopesOverlap } from '../draft-lesson.ts';
import { contentFingerprint } from '../gate/find-duplicate.ts';
import { whyNotRetired } from '../gate/judge-retirement.ts';
import { fieldOf, markdownOf } from '../reply-fields.ts';
import { scopeOfTask } from './attempt-cases.ts';
import { answersOf, findLeak } from './find-leak.ts';
import type { SimilarTexts } from './practice-input.ts';
import type { GroupExperience } from './semantic-advantage.ts';
import { sharedWords } from './sources/near-tasks.ts';

const MOST_SHOWN = 8;
const MAX_TOKENS = 900;
const LONGEST_LESSON = 500;

interface OperationsInput {
  readonly experience: GroupExperience;
  /** The experience as a lesson. */
  readonly text: LessonText;
  readonly task: PracticeTask;
  readonly library: Library;
  readonly similar: SimilarTexts | undefined;
  readonly ask: Ask;
  readonly signal: AbortSignal;
}

/**
 * What an experience means for the library: something new, a better text of a lesson, one text for several, or nothing. The model is
 * shown the nearest lessons of the domain under small aliases; without any the experience is new, and no model is asked.
 */
export async function proposeOperations(
  input: OperationsInput,
): Promise<Answer<ReadOperations> | { readonly ok: true; readonly value: ReadOperations }> {
  const { experience, task, ask, signal } = input;
  const twin = await twinElsewhere(input);
  if (twin !== undefined) return { ok: true, value: { operations: [oneOfBoth(twin)], quarantined: [] } };
  const near = await nearestOf(input);
  if (near.length === 0) return { ok: true, value: { operations: [{ op: 'ADD' }], quarantined: [] } };
  const shown: AliasedLessons = {
    ids: new Map(near.map(({ id }, at) => [`E${at + 1}`, id])),
    fixed: new Set(near.filter((lesson) => !isOpenLesson(lesson)).map(({ id }) => id)),
  };
  const { text, rule } = fenceData([
    { label: 'the new experience', text: tell(experience) },
    { label: 'lessons that exist', text: near.map((lesson, at) => listed(lesson, `E${at + 1}`)).join('\n') },
  ]);
  const answers = answersOf(task);
  return ask<ReadOperations>(
    {
      name: 'operations',
      system: `${ROLE}\n\n${rule}`,
      user: `${text}\n\n${WISH}`,
      maxTokens: MAX_TOKENS,
      read: (value) => {
        const read = readOperations(value, shown);
        if (!read.ok) return read;
        const leak = read.value.operations.some(
          (one) => 'content' in one && findLeak(one.content ?? '', answers) !== undefined,
        );
        return leak
          ? {
              ok: false,
              why: '"content" gives away the answer to a task: say how to work, and not what came out',
            }
          : read;
      },
    },
    signal,
  );
}

const ROLE = `You keep the notes of an assistant. A new experience was found by comparing its attempts at a task. Decide what it means for the notes that exist: the collection stays small, without repetition, and no note contradicts another.`;

const WISH = `Answer with a JSON list and nothing else. Each member is one operation:
- {"operation": "ADD"}: no note says it.
- {"operation": "UPDATE", "id": "E1", "content": "…"}: a note says nearly the same, or needs this addition; "content" is its whole new text.
- {"operation": "MERGE", "ids": ["E1", "E2"], "content": "…"}: several notes and the experience say the same; "content" is the one text for all of them.
- {"operation": "DELETE", "id": "E1", "reason": "…"}: the comparison shows that the note is wrong.
- {"operation": "NONE"}: a note says all of it.
Notes marked (fixed) cannot be changed. "content" is one to three sentences, at most 400 characters, without answers to single tasks.`;

const tell = ({ situation, insight }: GroupExperience): string => `When ${situation}: ${insight}`;

const listed = (lesson: Lesson, alias: string): string => {
  const { description, content } = lesson.text;
  const words = truncateEnd(oneLine(`${description} ${content}`), LONGEST_LESSON);
  return `${alias}${isOpenLesson(lesson) ? '' : ' (fixed)'}: ${words}`;
};

/** Whether practice may change a lesson: an experience that no person wrote, froze or told. */
export const isOpenLesson = (lesson: Lesson): boolean =>
  lesson.kind === 'experience' && whyNotRetired(lesson) === undefined;

async function nearestOf({ text, task, library, similar }: OperationsInput): Promise<readonly Lesson[]> {
  const among = lessonsOfDomain(library, task);
  if (among.length <= MOST_SHOWN) return among;
  const ranks = new Map(
    await similar?.toLessons(text, among).then(
      (near) => near.map(({ id, cosine }) => [id, cosine] as const),
      () => undefined,
    ),
  );
  const words = topicStems(`${text.description} ${text.content}`);
  const rank = ({ id, text: { description, content } }: Lesson): number =>
    ranks.get(id) ?? sharedWords(words, topicStems(`${description} ${content}`));
  return among
    .map((lesson) => ({ lesson, rank: rank(lesson) }))
    .sort((a, b) => b.rank - a.rank || (a.lesson.id < b.lesson.id ? -1 : 1))
    .slice(0, MOST_SHOWN)
    .map(({ lesson }) => lesson);
}

/** The same words become a lesson of both domains, and no second lesson. */
const oneOfBoth = ({ id, text }: Lesson): LessonOperation => ({
  op: 'UPDATE',
  ids: [id],
  content: text.content,
});

/** The lesson that practice drew from another domain of the same agent, in the same words or nearly so. */
async function twinElsewhere({ text, task, library, similar }: OperationsInput): Promise<Lesson | undefined> {
  const scope = scopeOfTask(task);
  const elsewhere = library
    .lessons()
    .filter(
      (lesson) =>
        isOpenLesson(lesson) &&
        lesson.text.note.source === 'practice' &&
        isInUse(lesson) &&
        !mayScopesOverlap(lesson.text.scope, scope) &&
        mayScopesOverlap(compact({ ...lesson.text.scope, domain: undefined }), scope),
    );
  const print = contentFingerprint(text);
  const same = elsewhere.find((lesson) => contentFingerprint(lesson.text) === print);
  if (same !== undefined || elsewhere.length === 0) return same;
  const near = await similar?.toLessons(text, elsewhere).catch(() => []);
  const found = near?.find(({ cosine }) => cosine >= LESSON_LIKENESS.same);
  return elsewhere.find(({ id }) => id === found?.id);
}

/** Lessons in use, or waiting for a person, that apply where the task comes from. */
const lessonsOfDomain = (library: Library, task: PracticeTask): readonly Lesson[] =>
  library
    .lessons()
    .filter(
      ({ kind, state, text }) =>
        PROMPT_KINDS.has(kind) &&
        state !== 'retired' &&
        state !== 'rejected' &&
        text.note.visibility !== 'private' &&
        mayScopesOverlap(text.scope, scopeOfTask(task)),
    );

/** What a group wants to do to the library. `ids` are stable ids of lessons. */
export type LessonOperation =
  | { readonly op: 'ADD'; readonly content?: string }
  | { readonly op: 'UPDATE'; readonly ids: readonly [string]; readonly content?: string }
  | { readonly op: 'MERGE'; readonly ids: readonly string[]; readonly content?: string }
  | { readonly op: 'DELETE'; readonly ids: readonly [string]; readonly reason?: string }
  | { readonly op: 'NONE' };

interface ReadOperations {
  readonly operations: readonly LessonOperation[];
  /** Operations that are not carried out, and why: they name no lesson that was shown, or one that may not be changed. */
  readonly quarantined: readonly string[];
}

/** The lessons that a model was shown, by the alias that it saw. */
interface AliasedLessons {
  readonly ids: ReadonlyMap<string, string>;
  /** Those that no learner may change. */
  readonly fixed: ReadonlySet<string>;
}

const MOST_OPERATIONS = 4;
const MOST_LISTED = 64;
const SHORTEST_CONTENT = 20;
const LONGEST_CONTENT = 1500;

const OPERATIONS: readonly (readonly [LessonOperation['op'], RegExp])[] = [
  ['MERGE', /^(?:merge|combine|unite|join|consolidate)/],
  ['UPDATE', /^(?:update|modify|revise|edit|change|refine|replace|improve)/],
  ['DELETE', /^(?:delete|remove|retire|drop|discard)/],
  ['ADD', /^(?:add|insert|create|new|append)/],
  ['NONE', /^(?:none|noop|nothing|skip|keep|ignore|unchanged|pass)/],
];

/**
 * The operations in a reply. Form is repaired: another case, an object instead of a list, `[E1]` for `E1`, a `DELETE` without content.
 * Meaning is not: an id that names no lesson is quarantined, never dropped and never turned into something else. Never throws.
 */
export function readOperations(value: Json, shown: AliasedLessons): ReplyRead<ReadOperations> {
  const list = listOf(value);
  const operations: LessonOperation[] = [];
  const quarantined: string[] = [];
  for (const one of list.slice(0, MOST_LISTED)) {
    if (!isObject(one)) continue;
    const op = operationOf(one);
    if (op === undefined) continue;
    const read = readOperation(op, one, shown);
    if (read.ok) operations.push(read.operation);
    else quarantined.push(read.why);
  }
  if (operations.length + quarantined.length === 0) {
    if (Array.isArray(value) && value.length === 0)
      return { ok: true, value: { operations: [{ op: 'NONE' }], quarantined: [] } };
    return {
      ok: false,
      why: 'it must be a list of objects with "operation": ADD, UPDATE, MERGE, DELETE or NONE',
    };
  }
  return { ok: true, value: { operations: operations.slice(0, MOST_OPERATIONS), quarantined } };
}

const LISTS = ['operations', 'plan', 'changes', 'actions', 'updates', 'result'];

function listOf(value: Json, depth = 0): readonly Json[] {
  if (Array.isArray(value)) return value.flatMap((one: Json) => (Array.isArray(one) ? one : [one]));
  if (typeof value === 'string') return [{ operation: value }];
  if (!isObject(value) || depth > 2) return [];
  if (operationOf(value) !== undefined) return [value];
  const inner = fieldOf(value, LISTS);
  if (inner !== undefined) return listOf(inner, depth + 1);
  // {"E1": {"operation": "UPDATE"}}: the ids as keys.
  return Object.entries(value).flatMap(([id, one]) => (isObject(one) ? [{ id, ...one }] : []));
}

function operationOf(one: JsonObject): LessonOperation['op'] | undefined {
  const name = fieldOf(one, ['operation', 'op', 'action', 'type', 'option']);
  if (typeof name !== 'string') return undefined;
  const word = name
    .trim()
    .toLowerCase()
    .replace(/^[^a-z]+/, '');
  return OPERATIONS.find(([, pattern]) => pattern.test(word))?.[0];
}

function readOperation(
  op: LessonOperation['op'],
  one: JsonObject,
  { ids, fixed }: AliasedLessons,
): { readonly ok: true; readonly operation: LessonOperation } | { readonly ok: false; readonly why: string } {
  const accept = (operation: LessonOperation) => ({ ok: true as const, operation });
  const refuse = (why: string) => ({ ok: false as const, why: `${op} names ${why}` });
  if (op === 'NONE') return accept({ op });
  const content = contentOf(one);
  if (op === 'ADD') return accept({ op, ...content });
  const names = namesIn(one);
  const lessonIds = [...new Set(names.map((name) => idOf(name, ids)))];
  const at = lessonIds.indexOf(undefined);
  if (at >= 0) return refuse(`${clipped(names[at] ?? '')}, which is no lesson that was shown`);
  const lessons = lessonIds.flatMap((id) => id ?? []);
  const shut = lessons.find((id) => fixed.has(id));
  if (shut !== undefined) return refuse(`${shut}, which only a person may change`);
  const [first] = lessons;
  if (first === undefined) return refuse('no lesson');
  if (op === 'DELETE') return accept({ op, ids: [first], ...reasonOf(one) });
  if (op === 'MERGE' && lessons.length > 1) return accept({ op, ids: lessons, ...content });
  // A merge of one lesson is a new text for it.
  return accept({ op: 'UPDATE', ids: [first], ...content });
}

function namesIn(one: JsonObject): readonly string[] {
  const fields = [
    'ids',
    'id',
    'lessons',
    'lesson',
    'experience_id',
    'target',
    'targets',
    'merged_ids',
    'alias',
  ];
  const given = fieldOf(one, fields);
  const list =
    typeof given === 'string'
      ? given.split(/[\s,;+&]+/)
      : asArray(Array.isArray(given) ? given : [given ?? null]);
  return list
    .flatMap((name) => (typeof name === 'string' || typeof name === 'number' ? [String(name)] : []))
    .filter((name) => bareAlias(name) !== '' && !/^(?:and|null|none)$/i.test(name.trim()))
    .slice(0, MOST_LISTED);
}

const bareAlias = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

function idOf(name: string, ids: ReadonlyMap<string, string>): string | undefined {
  const bare = bareAlias(name);
  for (const [alias, id] of ids) if (bareAlias(alias) === bare || bareAlias(id) === bare) return id;
  return undefined;
}

function contentOf(one: JsonObject): { readonly content?: string } {
  const text = markdownOf(fieldOf(one, ['content', 'insight', 'text', 'experience', 'new_content']));
  return text.length < SHORTEST_CONTENT || text.length > LONGEST_CONTENT ? {} : { content: text };
}

function reasonOf(one: JsonObject): { readonly reason?: string } {
  const reason = markdownOf(fieldOf(one, ['reason', 'why', 'rationale']));
  return reason === '' ? {} : { reason: reason.slice(0, 200) };
}

const clipped = (name: string): string => JSON.stringify(name.slice(0, 40));
