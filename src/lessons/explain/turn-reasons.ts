import { ANONYMOUS } from '../../core/caller.ts';
import type { StoredFact } from '../../core/fact.ts';
import { asNumber, compact, type JsonObject } from '../../core/json.ts';
import type { Library } from '../../core/library.ts';
import { AUTO_MODEL } from '../../core/overlay.ts';
import type { Records, TurnView } from '../../core/store.ts';
import { isFirstLook } from '../../embed/static-embed.ts';
import { writtenDay } from '../../text/phrases.ts';
import { shortId } from '../../text/short-id.ts';
import { createReadLearnedIn, type LearnedIn } from '../scope.ts';
import { namesOf } from '../title.ts';
import { type ExplainedLesson, explainLessons, type RecallDecision } from './explain-turn.ts';

const FIRST_LOOK = 'found at a first look; the sentence model looks at the task again for the next message';

/** The lessons that a turn was shown, the recall decisions of its session until then, and a reason for every lesson, or for those that were considered. */
export async function explainTurn(
  id: string,
  records: Records,
  library: Library,
  which: 'all' | 'considered' = 'all',
): Promise<JsonObject | undefined> {
  const turn = await records.turn(id);
  if (turn === undefined) return undefined;
  const recalls = await records.recalls(turn.session);
  const all = recalls.flatMap(({ at, fact }) => (fact.type === 'lessons-recalled' ? [{ at, fact }] : []));
  const session = await records.session(turn.session);
  const learnedIn = new Map<string, readonly LearnedIn[] | undefined>();
  const readLearnedIn = createReadLearnedIn(records);
  const considered = new Set([
    ...turn.lessons,
    ...all.flatMap(({ fact }) => [...fact.heldOut, ...fact.considered.map((one) => one.id)]),
  ]);
  const lessons = library.lessons().filter((lesson) => which === 'all' || considered.has(lesson.id));
  for (const lesson of lessons)
    if (lesson.text.note.visibility === 'private') learnedIn.set(lesson.id, await readLearnedIn(lesson));
  const options = { turn, session, decisions: all, library, lessons, learnedIn };
  const choices: JsonObject[] = [];
  for (const { at, fact } of all.filter((choice) => choice.at <= (turn.endedAt ?? Infinity))) {
    const text = fact.block === undefined ? undefined : await records.block(fact.block);
    choices.push(
      compact({
        at: new Date(at).toISOString(),
        turn: fact.turn,
        why: fact.why,
        generation: fact.generation,
        domain: { ...fact.domain },
        engine: fact.engine,
        fallback: isFirstLook(fact.engine) ? FIRST_LOOK : undefined,
        considered: fact.considered.map((one) => ({ ...one })),
        text,
      }),
    );
  }
  const explained = explainLessons(options);
  return compact({
    turn: id,
    session: turn.session,
    agent: turn.agent,
    project: session?.project?.label || undefined,
    at: new Date(turn.startedAt).toISOString(),
    role: turn.role,
    generation: turn.generation,
    shown: turn.lessons.map((lesson) => ({ id: lesson, ...namesOf(library.lesson(lesson)) })),
    lessons: explained.map((one) => ({ ...one })),
    ranking: rankShown(explained, await readQuoted(turn, all, records)),
    choices,
    route: routeOf(turn, recalls),
    note: noteFor(turn, choices.length, library),
  });
}

/** The messages of earlier sessions that stand in the prompt, because a question of the turn's conversation is about them. */
async function readQuoted(
  turn: TurnView,
  decisions: readonly RecallDecision[],
  records: Pick<Records, 'turn'>,
): Promise<readonly JsonObject[]> {
  const until = turn.endedAt ?? Infinity;
  const quoted = decisions.flatMap(({ at, fact }) =>
    at <= until
      ? (fact.quoted ?? []).map((id, nth) => ({ id, asked: fact.turn, relevance: fact.relevance?.[nth] }))
      : [],
  );
  const said: JsonObject[] = [];
  for (const { id, asked, relevance } of quoted) {
    const source = await records.turn(id);
    if (source === undefined) continue;
    const at = new Date(source.startedAt).toISOString();
    const asks = asked === turn.id ? 'this message asks about it' : `turn ${shortId(asked)} asked about it`;
    const because = relevance === undefined ? asks : `${asks} (${relevance.toFixed(2)}, 0.50 is enough)`;
    const title = `Said on ${writtenDay(new Date(source.startedAt))} in session ${shortId(source.session)}`;
    const { session } = source;
    said.push(compact({ title, at, session, turn: id, verdict: 'quoted', because, relevance }));
  }
  return said;
}

/** All that stands in the prompt, whole lessons, lines and quotations, in one order: what fits best comes first. */
const rankShown = (lessons: readonly ExplainedLesson[], quotations: readonly JsonObject[]): JsonObject[] =>
  [
    ...lessons.filter(({ verdict }) => verdict === 'shown').map((one): JsonObject => ({ ...one })),
    ...quotations,
    ...lessons.filter(({ verdict }) => verdict === 'listed').map((one): JsonObject => ({ ...one })),
  ].toSorted((one, other) => (asNumber(other.relevance) ?? 1) - (asNumber(one.relevance) ?? 1));

/** What the router chose for the conversation of a turn, and why. Undefined for a turn that was not routed, and for a sub-agent's. */
function routeOf(turn: TurnView, recalls: readonly StoredFact[]): JsonObject | undefined {
  const chosen = recalls.flatMap(({ at, fact }) =>
    fact.type === 'overlays-applied' &&
    fact.tier !== undefined &&
    fact.thread === undefined &&
    at <= (turn.endedAt ?? Infinity)
      ? [compact({ tier: fact.tier, target: fact.target, reason: fact.reason })]
      : [],
  );
  const last = turn.role === 'main' ? chosen.at(-1) : undefined;
  return last !== undefined && (turn.model === AUTO_MODEL || turn.policy === last.target) ? last : undefined;
}

/** Why the whole turn was shown nothing. */
function noteFor(turn: TurnView, choices: number, library: Library): string | undefined {
  if (turn.role === 'aux') return 'an auxiliary call (a title, a count, a summary) gets no lessons';
  if (turn.caller === ANONYMOUS.id)
    return 'the caller sent no key: it gets no lessons, and nothing is learned from it';
  if (library.lessons().length === 0) return 'the library has no lessons yet';
  if (turn.generation === 0) return 'the library had no lessons in use when this turn came';
  return choices === 0
    ? 'no recall: the library had no lesson in scope, or the decision was not recorded'
    : undefined;
}
