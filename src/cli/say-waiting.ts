import { sayWaiting } from '../api/what-waits.ts';
import { asArray, asNumber, asObject, asString, type JsonObject } from '../core/json.ts';
import { plural, relativeTime } from '../text/phrases.ts';
import type { CommandContext } from './context.ts';
import { lineWidth, type Part, type Printer } from './print.ts';
import { printWrapped, titleText } from './show-lessons.ts';

/** What waits and why, each with the command that helps: rows for `printer.fields`. */
export const waitingRows = (
  waiting: readonly JsonObject[],
  now: number,
): readonly (readonly [string, Part])[] =>
  waiting.flatMap((one): readonly (readonly [string, Part])[] => {
    const fix = asString(one.fix);
    return [
      ['waiting', { text: sayWaiting(one, now), style: 'yellow' }],
      ...(fix === undefined ? [] : ([['waiting', { text: `→ ${fix}`, style: 'cyan' }]] as const)),
    ];
  });

/** What waits for these lessons. */
export async function lessonWaits(
  api: { readonly learning: () => Promise<JsonObject> },
  ids: ReadonlySet<unknown>,
): Promise<readonly JsonObject[]> {
  const { waiting } = await api.learning();
  return asArray(waiting)
    .map(asObject)
    .filter(({ lessons }) => asArray(lessons).some((id) => ids.has(id)));
}

export const printWaiting = (printer: Printer, waiting: readonly JsonObject[], now: number): void =>
  printer.fields(waitingRows(waiting, now));

interface EmptyLibrary {
  readonly lessons: readonly JsonObject[];
  readonly generations: readonly JsonObject[];
  readonly learning: JsonObject;
}

const ROLLBACK = /^roll back to generation (\d+)$/;
const MOST_NAMED = 5;

/** No lesson is in use: what there was and how to bring it back, or how far learning is, and the next step. */
export function printEmptyLibrary(context: CommandContext, library: EmptyLibrary): void {
  const { printer } = context;
  const now = Date.now();
  const say = (words: string): void => printWrapped(printer, words, lineWidth(context.stdout, context.env));
  const { lessons, generations, learning } = library;
  if (lessons.length > 0) {
    say(describeClosed(lessons, generations, now));
    printer.next(undoOf(generations) ?? 'see: instar lessons list --all');
    return;
  }
  say(`nothing learned yet: ${progressOf(learning)}`);
  printWaiting(printer, asArray(learning.waiting).map(asObject), now);
  printer.next('tell your agent what was wrong, or: instar feedback last "what was wrong"');
}

/** `2 of 3 failures seen in one place`. */
function progressOf({ waiting, threshold, on }: JsonObject): string {
  if (on === false) return 'learning is off';
  const needed = asNumber(threshold) ?? 3;
  const counts = asArray(waiting)
    .map(asObject)
    .filter(({ code }) => code !== 'session-open' && code !== 'no-key' && code !== 'judge')
    .map(({ count }) => asNumber(count) ?? 0);
  const most = Math.max(0, ...counts);
  if (most === 0) return `no failure seen so far; ${needed} in one place start a lesson`;
  return most < needed
    ? `${most} of ${plural(needed, 'failure')} seen in one place`
    : `${plural(most, 'failure')} seen, enough for a lesson`;
}

/** `no lesson is in use: the rollback to generation 0 retired 2 lessons 3 min ago (a, b)`. */
function describeClosed(
  lessons: readonly JsonObject[],
  generations: readonly JsonObject[],
  now: number,
): string {
  const last = generations.at(-1);
  const to = ROLLBACK.exec(asString(last?.reason) ?? '')?.[1];
  const by = (lesson: JsonObject): string => asString(asObject(lesson.closed).by) ?? '';
  const rolledBack = lessons.filter((lesson) => by(lesson) === 'rollback');
  const others = lessons.length - rolledBack.length;
  const rest =
    others === 0 ? '' : `; ${plural(others, 'other one is', 'other ones are')} retired or rejected`;
  if (to !== undefined && rolledBack.length > 0)
    return `no lesson is in use: the rollback to generation ${to} retired ${plural(rolledBack.length, 'lesson')} ${relativeTime(Date.parse(asString(last?.at) ?? ''), now)} (${namesOf(rolledBack)})${rest}`;
  const words = lessons.map(
    (lesson) => `${titleText(lesson)} (${asString(asObject(lesson.closed).words) ?? String(lesson.state)})`,
  );
  const more = words.length > MOST_NAMED ? ` and ${words.length - MOST_NAMED} more` : '';
  return `no lesson is in use: ${words.slice(0, MOST_NAMED).join(', ')}${more}`;
}

const namesOf = (lessons: readonly JsonObject[]): string =>
  `${lessons.slice(0, MOST_NAMED).map(titleText).join(', ')}${lessons.length > MOST_NAMED ? ', …' : ''}`;

/** The command that brings back what a rollback retired. */
function undoOf(generations: readonly JsonObject[]): string | undefined {
  const isRollback = ROLLBACK.test(asString(generations.at(-1)?.reason) ?? '');
  const before = generations.at(-2)?.generation;
  return isRollback && before !== undefined
    ? `bring them back with: instar generations rollback ${String(before)}`
    : undefined;
}
