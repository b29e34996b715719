import type { LessonsApi } from '../core/daemon-api.ts';
import {
  asArray,
  asNumber,
  asObject,
  asString,
  compact,
  isObject,
  type JsonObject,
  parseJson,
} from '../core/json.ts';
import type { Change, ChangeResult, Lesson, LessonText, PublishResult, Quote } from '../core/lesson.ts';
import type { Library } from '../core/library.ts';
import type { Recall } from '../core/recall.ts';
import type { Records } from '../core/store.ts';
import { decodeChange, encodeLesson, encodeNote, type RefusedChange } from './codec.ts';
import { renderBlock } from './render-block.ts';
import { mayRecallFor, recordEpisodeRecall } from './shown/episode-recall.ts';
import { hashShownText } from './shown/prompt-thread.ts';

interface LessonsApiOptions {
  readonly library: Library;
  readonly records: Records;
  /** The measured effect of a lesson. */
  readonly effect: (id: string) => JsonObject;
  readonly newId: (prefix: string) => string;
  readonly recall: Recall;
  readonly review: () => Promise<JsonObject>;
  readonly now: () => number;
}

const PERSON = { kind: 'person', name: 'person' } as const;
const LONGEST_REASON = 500;

export function createLessonsApi(options: LessonsApiOptions): LessonsApi {
  const { library, records, effect, newId } = options;
  const describe = (lesson: Lesson): JsonObject => ({
    ...summary(lesson),
    effect: effect(lesson.id),
  });
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

  return {
    list: async ({ state, kind }) =>
      library
        .lessons()
        .filter((lesson) => state === undefined || lesson.state === state)
        .filter((lesson) => kind === undefined || lesson.kind === kind)
        .map(describe),
    all: async () => library.lessons().map(encodeLesson),
    show: async (idOrName) => {
      const lesson = library.find(idOrName) ?? onlyNamed(idOrName, library);
      if (lesson === undefined) return undefined;
      const { content, note, evidence, category } = lesson.text;
      const quotes = await Promise.all(evidence.quotes.map((quote) => readQuote(quote, records)));
      const turns = await withoutErased(evidence.turns, records);
      return compact({
        ...describe(lesson),
        category,
        content,
        note: encodeNote(note),
        evidence: { ...evidence, turns, quotes },
        history: library.history(lesson.id).map(({ at, by, reason, op, state, revision, generation }) => ({
          at: new Date(at).toISOString(),
          by: by.name,
          op,
          reason,
          state,
          revision,
          generation,
        })),
      });
    },
    why: (turn) => explainTurn(turn, records, library),
    change: async (body) => {
      const reason = (asString(body.reason) ?? '').slice(0, LONGEST_REASON) || 'requested by a person';
      const shown = asObject(body.shown);
      const stale = Object.entries(shown).filter(([id, hash]) => {
        const lesson = library.lesson(id);
        return lesson !== undefined && lessonHash(lesson.text) !== hash;
      });
      const first = stale[0]?.[0];
      if (first !== undefined) return { generation: library.generation, results: [refusedAsStale(first)] };
      const changes = asArray(body.changes).filter(isObject).map(decodeChange);
      return publish(changes, reason);
    },
    recall: async (query) => {
      const task = asString(query.task) ?? '';
      const agent = asString(query.agent) ?? 'unknown';
      const project = asString(query.project);
      const domain = asString(query.domain);
      const episode = asString(query.episode) ?? '';
      const isCounted = episode !== '' && (await mayRecallFor(episode, asString(query.by), records));
      const asked = {
        text: task,
        session: isCounted ? episode : '',
        agent,
        ...compact({ project, domain }),
        isUnhurried: query.isUnhurried === true,
      };
      const at = options.now();
      const result = await options.recall(asked, at);
      const few = result.lessons.slice(0, asNumber(query.limit) ?? result.lessons.length);
      const { generation } = library;
      if (isCounted) await recordEpisodeRecall({ episode, result, shown: few, generation, at }, records);
      return { text: renderBlock(few), lessons: few.map(({ id, text }) => ({ id, name: text.name })) };
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

/** A retired or rejected lesson, when no other lesson has its name. */
function onlyNamed(name: string, library: Library): Lesson | undefined {
  const named = library.lessons().filter(({ text }) => text.name === name);
  return named.length === 1 ? named[0] : undefined;
}

const summary = (lesson: Lesson): JsonObject =>
  compact({
    id: lesson.id,
    kind: lesson.kind,
    name: lesson.text.name,
    description: lesson.text.description,
    state: lesson.state,
    revision: lesson.revision,
    scope: { ...lesson.text.scope },
    source: lesson.text.note.source,
    taint: lesson.text.taint.length > 0 ? [...lesson.text.taint] : undefined,
    pinned: lesson.pinned || undefined,
    frozen: lesson.frozen || undefined,
    expiresAt: lesson.expiresAt === undefined ? undefined : new Date(lesson.expiresAt).toISOString(),
    reason: lesson.reason,
    mergedInto: lesson.mergedInto,
    changedAt: new Date(lesson.changedAt).toISOString(),
    hash: lessonHash(lesson.text),
  });

const encodePublished = ({ generation, results }: PublishResult): JsonObject => ({
  generation,
  results: results.map((result) => ({ ...result })),
});

const refusedAsStale = (id: string): JsonObject & ChangeResult => ({
  status: 'refused',
  id,
  why: 'it has changed since it was shown to you: show it again',
});

/** Identifies the exact text of a lesson: an approval is for this text. */
const lessonHash = ({ name, description, content }: LessonText): string =>
  hashShownText([JSON.stringify([name, description, content])]);

/** Of an erased turn only the id is left, which tells nobody anything. */
async function withoutErased(
  turns: readonly string[],
  records: Pick<Records, 'turn' | 'session'>,
): Promise<readonly string[]> {
  const kept: string[] = [];
  for (const turn of turns) {
    const session = (await records.turn(turn))?.session;
    if (session === undefined || (await records.session(session))?.erased !== true) kept.push(turn);
  }
  return kept;
}

/** A quote with its text from the record; without text when it was erased. */
async function readQuote(
  { turn, block, start, length }: Quote,
  records: Pick<Records, 'block'>,
): Promise<{ readonly turn: string; readonly text?: string }> {
  const stored = await records.block(block);
  const text = stored && asString(parseJson(`"${stored.slice(start, start + length)}"`));
  return text === undefined ? { turn } : { turn, text };
}

/** The lessons that a turn was shown, and the recall decisions of its session until then. */
async function explainTurn(id: string, records: Records, library: Library): Promise<JsonObject | undefined> {
  const turn = await records.turn(id);
  if (turn === undefined) return undefined;
  const choices = (await records.recalls(turn.session)).filter(({ at }) => at <= (turn.endedAt ?? Infinity));
  const described: JsonObject[] = [];
  for (const { at, fact } of choices) {
    if (fact.type !== 'lessons-recalled') continue;
    const text = fact.block === undefined ? undefined : await records.block(fact.block);
    described.push(
      compact({
        at: new Date(at).toISOString(),
        turn: fact.turn,
        why: fact.why,
        generation: fact.generation,
        domain: { ...fact.domain },
        engine: fact.engine,
        considered: fact.considered.map((one) => ({ ...one })),
        text,
      }),
    );
  }
  return {
    turn: id,
    session: turn.session,
    role: turn.role,
    generation: turn.generation,
    shown: turn.lessons.map((lesson) => ({ id: lesson, name: library.lesson(lesson)?.text.name ?? '' })),
    choices: described,
    ...(described.length === 0 ? { note: noteFor(turn.role) } : {}),
  };
}

const noteFor = (role: string): string =>
  role === 'aux'
    ? 'an auxiliary call (a title, a count, a summary) gets no lessons'
    : 'no recall: the library had no lesson in scope, or the decision was not recorded';
