import type { LessonsApi } from '../core/daemon-api.ts';
import { asArray, asObject, asString, type JsonObject } from '../core/json.ts';

/** What was learned last: a lesson that is in use or waits, as `show` describes it, and the event that made it so. */
interface LastLearned {
  readonly lesson: JsonObject;
  readonly event: JsonObject;
}

type Lessons = Pick<LessonsApi, 'list' | 'show' | 'change'>;

const OPEN_STATES: ReadonlySet<unknown> = new Set(['proposed', 'trial', 'live']);
/** How many of the newest are looked at. */
const MOST_SEARCHED = 50;

/** Undefined when nothing that was learned is in use. What a person wrote, imported or edited was not learned. */
async function findLastLearned(
  lessonsApi: Lessons,
  isMeant: (lesson: JsonObject) => Promise<boolean>,
): Promise<LastLearned | undefined> {
  const open = (await lessonsApi.list({})).filter(({ state }) => OPEN_STATES.has(state));
  const newestFirst = open.toSorted((a, b) => String(b.changedAt).localeCompare(String(a.changedAt)));
  let best: LastLearned | undefined;
  for (const { id } of newestFirst.slice(0, MOST_SEARCHED)) {
    const lesson = await lessonsApi.show(String(id));
    if (lesson === undefined || !(await isMeant(lesson))) continue;
    const event = asArray(lesson.history)
      .map(asObject)
      .findLast(({ op, by }) => by !== 'person' && (op === 'add' || op === 'revise' || op === 'merge'));
    if (event !== undefined && (best === undefined || String(event.at) > String(best.event.at)))
      best = { lesson, event };
  }
  return best;
}

export type TakenBack =
  | {
      readonly ok: true;
      readonly id: string;
      readonly name: string;
      readonly title: string;
      /** `dropped`: it is not used any more. `restored`: it says again what it said before. */
      readonly did: 'dropped' | 'restored';
      readonly generation: number;
    }
  | { readonly ok: false; readonly why: string };

/** Takes back the last thing learned: a new lesson is not used any more, a revised one says again what it said before. */
export async function takeBack(
  lessonsApi: Lessons,
  isMeant: (lesson: JsonObject) => Promise<boolean> = async () => true,
): Promise<TakenBack> {
  const last = await findLastLearned(lessonsApi, isMeant);
  if (last === undefined) return { ok: false, why: 'nothing that was learned is in use' };
  const { lesson, event } = last;
  const id = String(lesson.id);
  const revision = Number(event.revision);
  const isRevised = event.op !== 'add' && revision > 1;
  const change = isRevised
    ? { op: 'restore', id, revision: revision - 1, state: String(lesson.state) }
    : { op: 'retire', id, reason: 'taken back with undo' };
  const done = await lessonsApi.change({
    changes: [change],
    shown: { [id]: String(lesson.hash) },
    reason: 'taken back with undo',
  });
  const result = asObject(asArray(done.results)[0]);
  if (result.status === 'refused') return { ok: false, why: String(result.why) };
  return {
    ok: true,
    id,
    name: asString(lesson.name) ?? id,
    title: asString(lesson.title) ?? asString(lesson.name) ?? id,
    did: isRevised ? 'restored' : 'dropped',
    generation: Number(done.generation),
  };
}
