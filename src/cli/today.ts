import type { OwnerApis } from '../core/daemon-api.ts';
import { asArray, asNumber, asObject, asString, type JsonObject } from '../core/json.ts';
import { dollars, localTime, plural, relativeTime } from '../text/phrases.ts';
import { type CommandContext, type DeclareCommand, EXIT, type ExitCode } from './context.ts';
import type { Part, Printer } from './print.ts';
import { waitingRows } from './say-waiting.ts';
import { titleText } from './show-lessons.ts';
import { withApi } from './with-api.ts';

export const declareToday: DeclareCommand = (command, act) => void command.action(act(today));

/** What was learned since midnight, what it changed, what waits, and what it cost. */
const today = (_options: object, context: CommandContext): Promise<ExitCode> =>
  withApi(context, (apis) => printToday(apis, context.printer));

export async function printToday(
  { api, lessonsApi }: Pick<OwnerApis, 'api' | 'lessonsApi'>,
  printer: Printer,
  /** What waits was printed before. */
  isBelowStatus = false,
): Promise<ExitCode> {
  const day = await lessonsApi.today();
  const learning = await api.learning();
  printer.document({ ...day, learning: learning.on !== false, waiting: learning.waiting ?? [] });
  print(printer, day, isBelowStatus ? [] : asArray(learning.waiting).map(asObject), Date.now());
  return EXIT.ok;
}

function print(printer: Printer, day: JsonObject, waiting: readonly JsonObject[], now: number): void {
  const learned = asArray(day.learned).map(asObject);
  const changed = asArray(day.changed).map(asObject);
  printer.line(
    { text: localTime(now).slice(0, 10), style: 'bold' },
    `: ${learned.length === 0 ? 'no new lesson' : plural(learned.length, 'new lesson')}, generation ${String(day.generation)}`,
  );
  printer.fields([
    ...learned.flatMap((lesson) => newLesson(lesson, now)),
    ...rollbackRow(asObject(day.rollback), now),
    ...changed.map((lesson): readonly [string, Part] => [
      'changed',
      `${titleText(lesson)}: ${asString(lesson.what) ?? ''} (${relativeTime(Date.parse(asString(lesson.at) ?? ''), now)})${measured(lesson)}`,
    ]),
    ...asArray(day.tested)
      .map(asObject)
      .map((lesson): readonly [string, Part] => [
        'tested',
        `${titleText(lesson)}: ${asString(lesson.what) ?? ''}`,
      ]),
    ...asArray(day.identities)
      .map(asObject)
      .map(({ name, agent, tier, measured: figures }): readonly [string, Part] => [
        'waits',
        `${name} (${tier} part of ${agent || 'every agent'}): ${figures}; decide with: instar identity diff ${agent}`,
      ]),
    ...asArray(day.reflections)
      .map(asObject)
      .map(({ at, said }): readonly [string, Part] => [
        'reflection',
        `${asString(said) ?? ''} (${relativeTime(Date.parse(asString(at) ?? ''), now)})`,
      ]),
    ['used', usedWords(day)],
    ...rulesRows(day),
    ['work', workWords(day)],
    ['cost', costWords(asObject(day.cost))],
    ...practiceRow(asObject(day.practice)),
    ...waitingRows(waiting, now),
  ]);
}

/** What was measured of a lesson, behind what is said of it. */
const measured = (lesson: JsonObject): string =>
  asString(lesson.measured) === undefined ? '' : `; measured: ${asString(lesson.measured)}`;

function newLesson(lesson: JsonObject, now: number): readonly (readonly [string, Part])[] {
  const shownIn = asNumber(lesson.shownIn) ?? 0;
  const when = relativeTime(Date.parse(asString(lesson.at) ?? ''), now);
  return [
    [
      'learned',
      `${titleText(lesson)} (${asString(lesson.state) ?? ''}, ${when}): ${asString(lesson.because) ?? ''}`,
    ],
    ['learned', { text: asString(lesson.origin) ?? '', style: 'dim' }],
    ...(asString(lesson.measured) === undefined
      ? []
      : ([['learned', { text: `measured: ${asString(lesson.measured)}`, style: 'dim' }]] as const)),
    ...(shownIn === 0
      ? []
      : ([['learned', { text: `shown in ${plural(shownIn, 'turn')} since`, style: 'dim' }]] as const)),
  ];
}

function rollbackRow(rollback: JsonObject, now: number): readonly (readonly [string, Part])[] {
  if (rollback.to === undefined) return [];
  const when = relativeTime(Date.parse(asString(rollback.at) ?? ''), now);
  return [
    [
      'rolled back',
      `to generation ${String(rollback.to)}, ${when}: ${plural(asNumber(rollback.retired) ?? 0, 'lesson')} retired; undo with: instar generations rollback ${String(rollback.undo)}`,
    ],
  ];
}

function usedWords({ shown }: JsonObject): string {
  const { lessons, turns } = asObject(shown);
  const count = asNumber(lessons) ?? 0;
  return count === 0
    ? 'no lesson was shown'
    : `${plural(count, 'lesson')} shown in ${plural(asNumber(turns) ?? 0, 'turn')}`;
}

/** How the rules fared today, and since they were told. */
function rulesRows({ rules, adherence }: JsonObject): readonly (readonly [string, Part])[] {
  const { kept, broken, toldAgain } = asObject(rules);
  const words = asString(asObject(adherence).words);
  const [held, missed, again] = [kept, broken, toldAgain].map((count) => asNumber(count) ?? 0);
  const isQuiet = held === 0 && missed === 0 && again === 0;
  return [
    ...(isQuiet ? [] : ([['rules', `today kept ${held}, broken ${missed}, told again ${again}`]] as const)),
    ...(words === undefined ? [] : ([['rules', words]] as const)),
  ];
}

function workWords({ sessions, turns, appraised, feedback, scored }: JsonObject): string {
  const { failures, successes } = asObject(appraised);
  return [
    `${plural(asNumber(sessions) ?? 0, 'session')} with ${plural(asNumber(turns) ?? 0, 'turn')}`,
    `${plural(asNumber(failures) ?? 0, 'failure')} and ${plural(asNumber(successes) ?? 0, 'success', 'successes')} recognised`,
    `${plural(asNumber(feedback) ?? 0, 'rating')} by you`,
    `${plural(asNumber(scored) ?? 0, 'session')} scored`,
  ].join(', ');
}

function practiceRow({
  sessions,
  learned,
  helpful,
  tokens,
  usd,
}: JsonObject): readonly (readonly [string, Part])[] {
  const count = asNumber(sessions) ?? 0;
  if (count === 0) return [];
  return [
    [
      'practice',
      `${plural(count, 'session')}: ${plural(asNumber(learned) ?? 0, 'lesson')} on trial, ${asNumber(helpful) ?? 0} measured to help, ${plural(asNumber(tokens) ?? 0, 'token')}, ${dollars(asNumber(usd) ?? 0)}`,
    ],
  ];
}

function costWords({ calls, tokens, unpricedTokens, usd }: JsonObject): string {
  const asked = asNumber(calls) ?? 0;
  if (asked === 0) return 'learning asked no model';
  const unpriced = asNumber(unpricedTokens) ?? 0;
  const known = asNumber(usd) ?? 0;
  const price =
    unpriced === 0
      ? dollars(known)
      : `${known > 0 ? `${dollars(known)} and ` : ''}${plural(unpriced, 'token')} whose price is unknown`;
  return `learning asked a model ${plural(asked, 'time')}: ${plural(asNumber(tokens) ?? 0, 'token')}, ${price}`;
}
